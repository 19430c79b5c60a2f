"""Recall of vector searches in a filled store: `python -m benchmarks.scale.recall HOME --cache 160 0`.

What a store of vectors finds with so many MiB of memory for each table is compared with exact cosines.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from pathlib import Path

import numpy as np

from benchmarks.hashing import HashingEmbedder
from benchmarks.scale.measure import SCOPES
from engine.clock import SYSTEM_CLOCK
from engine.data_dir import DataDir
from engine.scheduling.supervisor import Supervisor
from engine.storage.vectors.base import VectorFilter, VectorTable
from engine.storage.vectors.lance import LanceVectors
from engine.storage.vectors.search_plan import build_filter

FOUND = 20
TABLES: tuple[VectorTable, ...] = ("chunks", "entities", "relations")
TIE = 1e-6  # rows that are equally similar, as far as such numbers tell, count alike
SPREAD = 0.3  # length of the noise that is added to stored vectors, which makes questions of them


async def measure(home: Path, cache_mib: int, amount: int, loading: float) -> None:
    """Print recall, and milliseconds of a search by wall and by processor."""
    dim, chance = HashingEmbedder().dim, np.random.default_rng(1)
    store = await LanceVectors.open(DataDir(home).vectors_path, dim, Supervisor(SYSTEM_CLOCK), cache_mib << 20)
    for table in TABLES:
        opened = store._tables[table]
        counts = dict(await opened._count_by_space())
        ids = chance.integers(1, sum(counts.values()), amount).tolist()
        stored = list((await store.fetch_stored(table, ids)).values())
        queries = [vectors[0] + chance.standard_normal(dim) * SPREAD / dim**0.5 for vectors in stored]
        await _wait_for_copy(store, table, np.asarray(queries[0]), loading)
        for spaces in SCOPES:
            area = VectorFilter(frozenset(range(1, spaces + 1)), rows_by_space=_rows_within(counts, spaces))
            shares, walls, busy = list[float](), list[float](), list[float]()
            for query in queries:
                began, processor = time.perf_counter(), time.process_time()
                found = await store.search(table, np.asarray(query, np.float32), FOUND, area)
                walls.append((time.perf_counter() - began) * 1000)
                busy.append((time.process_time() - processor) * 1000)
                nearest = opened.table.query().where(build_filter(area)).nearest_to(query).distance_type("cosine")
                exact = await nearest.limit(FOUND).bypass_vector_index().select(["id", "_distance"]).to_arrow()
                least = 1.0 - max(exact["_distance"].to_pylist(), default=0.0) - TIE
                held = await store.fetch_stored(table, [hit.id for hit in found])
                near = sum(float(vectors[0] @ query / np.linalg.norm(query)) >= least for vectors in held.values())
                shares.append(near / max(1, exact.num_rows))
            print(
                f"| {table} | {cache_mib} MiB, {'copy' if opened.is_cached else 'index'} | {spaces} spaces"
                f" | recall@{FOUND} {statistics.mean(shares):.3f} | {statistics.median(walls):.0f} ms"
                f" | {statistics.median(busy):.0f} ms of processor |",
                flush=True,
            )
    await store.close()


def _rows_within(counts: dict[int, int], spaces: int) -> dict[int, int]:
    """The rows of the scope, and one of another space if there is one, as the ledger tells them."""
    return {space: rows if space <= spaces else 1 for space, rows in counts.items() if space <= spaces + 1}


async def _wait_for_copy(store: LanceVectors, table: VectorTable, query: np.ndarray, seconds: float) -> None:
    ends = time.perf_counter() + seconds
    while not store._tables[table].is_cached and time.perf_counter() < ends:
        await store.search(table, query, 1, VectorFilter(frozenset({1})))
        await asyncio.sleep(1.0)
    if (making_codes := store._tables[table]._cache._improving) is not None:
        await asyncio.wait({making_codes}, timeout=max(0.0, ends - time.perf_counter()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("--cache", type=int, nargs="+", default=[160, 0], help="MiB of memory for each table")
    parser.add_argument("--questions", type=int, default=10)
    parser.add_argument("--loading", type=float, default=60.0, help="seconds that a copy may take to load")
    chosen = parser.parse_args()
    for cache in chosen.cache:
        asyncio.run(measure(chosen.home, cache, chosen.questions, chosen.loading if cache else 0.0))


if __name__ == "__main__":
    main()
