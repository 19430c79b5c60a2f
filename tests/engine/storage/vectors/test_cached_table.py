"""Tables whose rows are also in memory: they find what the files hold, at any moment."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from engine.clock import SYSTEM_CLOCK
from engine.scheduling.supervisor import Supervisor
from engine.storage.vector_columns import ExactColumns, RoundedColumns
from engine.storage.vectors.base import VectorFilter, VectorRow, VectorStore
from engine.storage.vectors.in_memory.row_types import row_bytes
from engine.storage.vectors.lance import LanceVectors
from tests.contracts.test_vectors_contract import DIM, ONE, fill_store, random_units, search_ids, unit_vector
from tests.support.patience import PATIENCE


async def fill_rooms(store: VectorStore, rows: int) -> np.ndarray:
    """Rows in 7 spaces and 11 rooms with up to 3 parts an id; every 50th vector is zero, every 40th equals another."""
    vectors = random_units(rows, 32)
    vectors[::50], vectors[1::40] = 0.0, vectors[1]
    keys = [VectorRow(at - at % 3, at - at % 3 and at % 7, at % 11, at % 3) for at in range(rows)]
    await store.upsert("chunks", keys, vectors)
    await store.delete("chunks", range(300, 900, 9))
    return vectors


async def test_rows_in_memory_are_found_as_on_disk(tmp_path: Path) -> None:
    in_memory = await LanceVectors.open(tmp_path / "memory", 32, Supervisor(SYSTEM_CLOCK))
    on_disk = await LanceVectors.open(tmp_path / "disk", 32, Supervisor(SYSTEM_CLOCK), cache_bytes=0)
    await in_memory.fetch("chunks", [0])  # loads the rows, so that the writes change them
    vectors = await fill_rooms(in_memory, 3_000)
    await fill_rooms(on_disk, 3_000)
    for at, area in enumerate(
        [
            VectorFilter(frozenset(range(7))),
            VectorFilter(frozenset({2, 5})),
            VectorFilter(frozenset({99}), frozenset({4})),
            VectorFilter(frozenset({1}), frozenset({3, 4})),
            VectorFilter(frozenset({1, 3}), frozenset({4}), ids=frozenset(range(0, 600, 6))),
            VectorFilter(frozenset({99})),
        ]
    ):
        for k in (1, 25, 5_000):
            found, expected = [
                await store.search("chunks", vectors[7 * at + 1] * 3, k, area) for store in (in_memory, on_disk)
            ]
            assert [hit.similarity for hit in found] == pytest.approx([hit.similarity for hit in expected], abs=1e-6)
            if k == 5_000:
                assert {(hit.id, hit.part) for hit in found} == {(hit.id, hit.part) for hit in expected}
    wanted = range(290, 420)
    loaded, read = await in_memory.fetch("chunks", wanted), await on_disk.fetch("chunks", wanted)
    assert list(loaded) == sorted(read)
    assert all((loaded[id_] == read[id_]).all() for id_ in read)
    await in_memory.close()
    await on_disk.close()


async def test_a_table_that_does_not_fit_leaves_its_memory_to_the_others(tmp_path: Path) -> None:
    cache_bytes = 100 * row_bytes(RoundedColumns(DIM))
    store = await LanceVectors.open(tmp_path, DIM, Supervisor(SYSTEM_CLOCK), cache_bytes)
    await store.upsert("relations", [VectorRow(at, 1, 0, 0) for at in range(300)], random_units(300, DIM))
    await store.fetch("relations", [0])
    assert not store._tables["relations"].is_cached
    await store.upsert("chunks", [VectorRow(at, 1, 0, 0) for at in range(100)], random_units(100, DIM))
    await store.fetch("chunks", [0])
    assert store._tables["chunks"].is_cached
    await store.close()


async def test_table_that_outgrows_its_memory_is_searched_on_disk(tmp_path: Path) -> None:
    cache_bytes = int(1.8 * row_bytes(RoundedColumns(DIM)))  # 4.5 rows of the only table with any
    store = await LanceVectors.open(tmp_path, DIM, Supervisor(SYSTEM_CLOCK), cache_bytes)
    await fill_store(store)
    assert len(await search_ids(store, VectorFilter(frozenset({1, 2, 3})))) == 4
    await store.upsert("chunks", [VectorRow(9, 1, 5, 0)], unit_vector(1)[None])
    assert len(await search_ids(store, VectorFilter(frozenset({1, 2, 3})))) == 5
    assert not store._tables["chunks"].is_cached
    await store.delete("chunks", [1])
    assert len(await search_ids(store, VectorFilter(frozenset({1, 2, 3})))) == 4
    assert store._tables["chunks"].is_cached
    await store.close()


async def test_large_table_is_rounded_in_memory_and_still_finds_the_nearest(tmp_path: Path) -> None:
    vectors = random_units(9_000, 32)
    vectors[1:60] = vectors[0] + np.linspace(0.1, 2.0, 59)[:, None] * vectors[1:60]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    space = 2 * 9_000 * row_bytes(RoundedColumns(32))
    assert space < 4 * 9_000 * row_bytes(ExactColumns(32))
    store = await LanceVectors.open(tmp_path, 32, Supervisor(SYSTEM_CLOCK), cache_bytes=space)
    await store.upsert("relations", [VectorRow(at, at % 2, 0, 0) for at in range(9_000)], vectors)
    async with asyncio.timeout(PATIENCE):
        while not store._tables["relations"].is_cached:
            await store.search("relations", vectors[0], 1, VectorFilter(ONE))
    for scope in ({0, 1}, {1}):
        inside = [at for at in range(9_000) if at % 2 in scope]
        exact = sorted(inside, key=lambda at: -float(vectors[at] @ vectors[0]))[:20]
        found = await store.search("relations", vectors[0], 20, VectorFilter(frozenset(scope)))
        assert len({hit.id for hit in found} & set(exact)) >= 19
    await store.delete("relations", [exact[0]])
    found = await store.search("relations", vectors[0], 20, VectorFilter(frozenset({1})))
    assert exact[0] not in {hit.id for hit in found}
    assert store._tables["relations"].is_cached
    await store.close()


@pytest.mark.long
async def test_search_sees_a_write_as_soon_as_it_has_returned(tmp_path: Path) -> None:
    """Writes and first searches at once: no row may be missing from what a load and the writes beside it leave."""
    store = await LanceVectors.open(tmp_path, DIM, Supervisor(SYSTEM_CLOCK))

    async def write(first: int) -> None:
        for number in range(first, first + 20):
            await store.upsert("chunks", [VectorRow(number, 1, 0, 0)], unit_vector(1, number)[None])
            if number % 4 == 0:
                await store._tables["chunks"].drop_cache()
            hits = await store.search("chunks", unit_vector(1, number), 200, VectorFilter(ONE))
            assert number in {hit.id for hit in hits}
            await store.delete("chunks", [number - 2])
            assert number - 2 not in await store.fetch("chunks", [number - 2])

    await asyncio.gather(write(0), write(100), write(200))
    assert len(await search_ids(store, VectorFilter(ONE), 200)) == 6
    await store.close()
