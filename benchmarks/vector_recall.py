"""How much of the exact answer the vector search finds, by scope, and how long it takes.

`python -m benchmarks.vector_recall --rows 50000 --backends lance postgres`: clustered vectors of 384 dimensions in 200
spaces (one open space with half of the rows, the others by Zipf's law, each with topics of its own) are put, compacted
and searched; the exact answer is computed by numpy. Then some are put and dropped, and it is searched again while that
goes on. The server of `postgres` is started for the run, with its data in memory where there is enough.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import numpy as np

from benchmarks.plumbing import disk_mib, milliseconds, open_postgres, resident_mib, temporary_folder
from engine.clock import SYSTEM_CLOCK
from engine.projection.postgres_storage import PARTITIONS
from engine.scheduling.supervisor import Supervisor
from engine.storage.vectors.base import VectorFilter, VectorRow, VectorStore
from engine.storage.vectors.lance import LanceVectors
from engine.storage.vectors.pgvector import PostgresVectors

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


async def search_times(store: VectorStore, town: SyntheticVectors, scope: list[int], count: int) -> list[float]:
    """Milliseconds of each search."""
    area, queries = build_area(town, scope), town.draw_vectors(np.resize(np.array(scope), count))
    return [await milliseconds(store.search("relations", query, K, area)) for query in queries]


async def compare(store: VectorStore, town: SyntheticVectors) -> None:
    print(f"{'scope':30} {'rows':>8} {'recall@20':>9} {'p50 ms':>7} {'worst ms':>8}")
    for name, scope in SCOPES.items():
        area, recalls, times = build_area(town, scope), list[float](), list[float]()
        for query in town.draw_vectors(np.resize(np.array(scope), QUESTIONS)):
            began = time.perf_counter()
            hits = await store.search("relations", query, K, area)
            times.append((time.perf_counter() - began) * 1000)
            exact = exact_nearest(town, query, scope)
            recalls.append(len({hit.id for hit in hits} & exact) / len(exact))
        rows = sum(area.rows_by_space.values())
        print(f"{name:30} {rows:8} {np.mean(recalls):9.3f} {np.median(times):7.1f} {max(times):8.1f}")


async def insert_rows(
    store: VectorStore, town: SyntheticVectors, numbers: np.ndarray, sources: np.ndarray | None = None
) -> None:
    """Upsert rows with their own vectors, or with those of other rows."""
    rows = [VectorRow(int(number), int(town.spaces[number]), 0, 0) for number in numbers]
    await store.upsert("relations", rows, town.vectors[numbers if sources is None else sources])


@asynccontextmanager
async def open_lance() -> AsyncIterator[VectorStore]:
    with temporary_folder() as folder:
        store = await LanceVectors.open(Path(folder) / "vectors", DIM, Supervisor(SYSTEM_CLOCK), cache_bytes=0)
        yield store
        print(f"{disk_mib(Path(folder)):.0f} MiB on disk")
        await store.close()


@asynccontextmanager
async def open_pgvector(partitions: int = 1) -> AsyncIterator[VectorStore]:
    async with open_postgres() as pool:
        store = await PostgresVectors.open(pool, DIM, Supervisor(SYSTEM_CLOCK), SYSTEM_CLOCK, partitions=partitions)
        yield store
        async with pool.connection() as connection:
            [[size]] = await (await connection.execute("SELECT pg_database_size(current_database())")).fetchall()
        print(f"{size / 2**20:.0f} MiB on disk")
        await store.close()


BACKENDS: dict[str, Callable[[], AbstractAsyncContextManager[VectorStore]]] = {
    "lance": open_lance,
    "postgres": open_pgvector,
    "postgres-by-space": lambda: open_pgvector(PARTITIONS),
}


async def measure(town: SyntheticVectors, backend: str) -> None:
    count = len(town.spaces)
    print(f"\n{backend}: {count} rows of {DIM} dimensions; this process holds them too, so see the growth: {memory()}")
    async with BACKENDS[backend]() as store:
        began = time.perf_counter()
        for start in range(0, count, BATCH):
            await insert_rows(store, town, np.arange(start, min(count, start + BATCH)))
        print(f"upserted: {count / (time.perf_counter() - began):.0f} rows a second; {memory()}")
        compacted = await milliseconds(store.compact())
        print(f"compacted: {compacted / 1000:.1f} s; {memory()}")
        await compare(store, town)
        await measure_changes(store, town)


async def measure_changes(store: VectorStore, town: SyntheticVectors) -> None:
    """Upserts of 500 known rows with other vectors while 60 searches run, then a compaction after deletions."""
    batches = [np.unique(np.random.default_rng(n).integers(0, len(town.spaces), 500)) for n in range(40)]

    async def write() -> list[float]:
        return [await milliseconds(insert_rows(store, town, numbers, np.roll(numbers, 1))) for numbers in batches]

    times, waits = await asyncio.gather(write(), search_times(store, town, [0], 60))
    print(
        f"500 known rows upserted: p50 {np.median(times):.0f} ms; searches during that: p50 {np.median(waits):.0f} ms"
    )
    await store.delete("relations", range(100))
    took, waits = await asyncio.gather(milliseconds(store.compact()), search_times(store, town, [0], 60))
    print(f"compacted after deletions: {took / 1000:.1f} s; searches during that: ", end="")
    print(f"p50 {np.median(waits):.0f}, worst {max(waits):.0f} ms; {memory()}")


def memory() -> str:
    return f"{resident_mib('self'):.0f} MiB in memory"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--backends", nargs="+", choices=list(BACKENDS), default=["lance"])
    options = parser.parse_args()
    town = SyntheticVectors(options.rows)
    for backend in options.backends:
        asyncio.run(measure(town, backend))


if __name__ == "__main__":
    main()
