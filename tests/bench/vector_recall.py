"""How much of the exact answer the vector search finds, by scope, and how long it takes.

`python -m tests.bench.vector_recall --rows 50000`: clustered vectors of 384 dimensions in 200 spaces (one open space
with half of the rows, the others by Zipf's law, each with topics of its own) are put, compacted and searched; the
exact answer is computed by numpy. Then some are put and dropped, and it is searched again while that goes on.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from pathlib import Path

import numpy as np

from engine.storage.vectors.base import VectorFilter, VectorRow
from engine.storage.vectors.lance import LanceVectors

DIM = 384
SPACES = 200
K = 20
QUESTIONS = 30
BATCH = 5_000
SCOPES = {
    "the open space": [0],
    "1 large of 200": [1],
    "1 middling of 200": [10],
    "1 small of 200": [150],
    "20 of 200, with the open one": [0, *range(10, 29)],
    "20 of 200, small ones": list(range(100, 120)),
    "20 of 200, large ones": list(range(1, 21)),
    "all 200": list(range(SPACES)),
}


class SyntheticVectors:
    """Clustered vectors: 64 themes, many topics each; a space prefers some topics."""

    def __init__(self, rows: int) -> None:
        self._random = np.random.default_rng(11)
        self._topics = max(64, rows // 150)
        themes = self._random.standard_normal((64, DIM), dtype=np.float32)
        topics = themes[self._random.integers(0, 64, self._topics)]
        topics += 0.9 * self._random.standard_normal((self._topics, DIM), dtype=np.float32)
        self._centres = topics / np.linalg.norm(topics, axis=1, keepdims=True)
        zipf = 1 / np.arange(1, SPACES)
        self.spaces = self._random.choice(SPACES, size=rows, p=np.r_[0.5, 0.5 * zipf / zipf.sum()])
        self.vectors = self.draw_vectors(self.spaces)

    def draw_vectors(self, spaces: np.ndarray) -> np.ndarray:
        """One vector for each of the spaces, of length one."""
        popular = np.minimum(8 * self._random.pareto(0.6, len(spaces)), 1e9).astype(np.int64)
        centres = self._centres[(popular + spaces.astype(np.int64) * 7919) % self._topics]
        noise = self._random.standard_normal((len(spaces), DIM), dtype=np.float32)
        vectors: np.ndarray = centres + np.float32(0.05) * noise
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


def exact_nearest(town: SyntheticVectors, query: np.ndarray, scope: list[int]) -> set[int]:
    inside = np.flatnonzero(np.isin(town.spaces, scope))
    scores = town.vectors[inside] @ query
    return set(inside[np.argsort(-scores)[:K]].tolist())


def build_area(town: SyntheticVectors, scope: list[int]) -> VectorFilter:
    counts = np.bincount(town.spaces, minlength=SPACES)
    return VectorFilter(frozenset(scope), rows_by_space={space: int(counts[space]) for space in scope})


async def compare(store: LanceVectors, town: SyntheticVectors) -> None:
    print(f"{'scope':30} {'rows':>8} {'recall@20':>9} {'p50 ms':>7} {'worst ms':>8}")
    for name, scope in SCOPES.items():
        within, recalls, times = build_area(town, scope), [], []
        for query in town.draw_vectors(np.resize(np.array(scope), QUESTIONS)):
            began = time.perf_counter()
            hits = await store.search("relations", query, K, within)
            times.append((time.perf_counter() - began) * 1000)
            exact = exact_nearest(town, query, scope)
            recalls.append(len({hit.id for hit in hits} & exact) / len(exact))
        rows = sum(within.rows_by_space.values())
        print(f"{name:30} {rows:8} {np.mean(recalls):9.3f} {np.median(times):7.1f} {max(times):8.1f}")


async def insert_rows(store: LanceVectors, town: SyntheticVectors, start: int, stop: int) -> None:
    rows = [VectorRow(number, int(town.spaces[number]), 0, 0) for number in range(start, stop)]
    await store.upsert("relations", rows, town.vectors[start:stop])


async def measure(count: int) -> None:
    town = SyntheticVectors(count)
    print(f"{count} rows of {DIM} dimensions; this process holds them too, so see the growth: {resident_mib()} MB")
    with tempfile.TemporaryDirectory() as folder:
        store = await LanceVectors.open(Path(folder) / "vectors", DIM)
        began = time.perf_counter()
        for start in range(0, count, BATCH):
            await insert_rows(store, town, start, min(count, start + BATCH))
        print(f"put: {count / (time.perf_counter() - began):.0f} rows a second; {resident_mib()} MB")
        began = time.perf_counter()
        await store.compact()
        print(
            f"compact: {time.perf_counter() - began:.1f} s; {resident_mib()} MB,"
            f" {disk_size(Path(folder)):.0f} MB on disk"
        )
        await compare(store, town)
        await measure_changes(store, town)
        await store.close()


async def measure_changes(store: LanceVectors, town: SyntheticVectors) -> None:
    """Batches of 500 rows, half of them known, while 60 searches go on, then a compaction after drops."""
    times: list[float] = []

    async def write() -> None:
        for _ in range(40):
            numbers = np.unique(np.random.default_rng(len(times)).integers(0, len(town.spaces), 500))
            rows = [VectorRow(int(number), int(town.spaces[number]), 0, 0) for number in numbers]
            began = time.perf_counter()
            await store.upsert("relations", rows, town.vectors[numbers])
            times.append((time.perf_counter() - began) * 1000)

    async def search() -> list[float]:
        waits = []
        for query in town.draw_vectors(np.zeros(60, np.int64)):
            began = time.perf_counter()
            await store.search("relations", query, K, build_area(town, [0]))
            waits.append((time.perf_counter() - began) * 1000)
        return waits

    _, waits = await asyncio.gather(write(), search())
    print(f"500 known rows put: p50 {np.median(times):.0f} ms; searches meanwhile: p50 {np.median(waits):.0f} ms")
    await store.delete("relations", range(100))
    began = time.perf_counter()
    _, waits = await asyncio.gather(store.compact(), search())
    took = time.perf_counter() - began
    print(
        f"compact after drops: {took:.1f} s; searches meanwhile: p50 {np.median(waits):.0f}, worst {max(waits):.0f} ms"
    )
    print(f"memory {resident_mib()} MB")


def resident_mib() -> int:
    """Megabytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


def disk_size(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=50_000)
    asyncio.run(measure(parser.parse_args().rows))


if __name__ == "__main__":
    main()
