"""Tables that are larger than their memory: a file without a name holds them, and a small limit changes no result."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import numpy as np
import pytest

from engine.clock import SYSTEM_CLOCK
from engine.scheduling.supervisor import Supervisor
from engine.storage.column_arrays import ArraysFull
from engine.storage.disk import Disk
from engine.storage.vector_columns import RoundedColumns
from engine.storage.vectors import row_arrays
from engine.storage.vectors.base import VectorFilter, VectorRow
from engine.storage.vectors.lance import TABLES, LanceVectors
from engine.storage.vectors.lance_table import LanceTable
from engine.storage.vectors.row_arrays import EXACT_SHARE, RowArrays, reserve_rows, row_bytes
from tests.contracts.test_vectors_contract import random_units
from tests.support.patience import PATIENCE

DIM, SPACES = 384, 7
ROW = row_bytes(RoundedColumns(DIM))
TINY, AMPLE = 120 * ROW, int(1_500 * ROW / EXACT_SHARE) // 4


async def open_loaded(path: Path, cache_bytes: int, vectors: np.ndarray) -> LanceVectors:
    """A store with these vectors in spaces by turns, and their copy."""
    store = await LanceVectors.open(path, DIM, Supervisor(SYSTEM_CLOCK), cache_bytes)
    await store.upsert("chunks", [place_row(at) for at in range(len(vectors))], vectors)
    await wait_for_copy(store)
    return store


async def wait_for_copy(store: LanceVectors) -> None:
    async with asyncio.timeout(PATIENCE):
        while not find_table(store).is_cached:
            await store.fetch("chunks", [0])


def place_row(id_: int) -> VectorRow:
    return VectorRow(id_, id_ * id_ % SPACES, id_ % 5, 0)


def list_files(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def find_table(store: LanceVectors) -> LanceTable:
    return store._tables["chunks"]


def find_rows(store: LanceVectors) -> RowArrays:
    rows = find_table(store)._cache.rows
    assert rows is not None
    return rows


@pytest.mark.parametrize("seed", range(4))
async def test_any_history_gives_the_results_of_an_unbounded_copy(tmp_path: Path, seed: int) -> None:
    chance, vectors = random.Random(seed), random_units(900, DIM, seed)
    tiny = await open_loaded(tmp_path / "tiny", TINY, vectors[:800])
    ample = await open_loaded(tmp_path / "ample", AMPLE, vectors[:800])
    assert find_rows(tiny)._file is not None
    assert find_rows(ample)._file is None
    assert find_rows(ample).is_rounded
    for _ in range(30):
        step, ids = chance.choice(["add", "edit", "delete", "load"]), chance.sample(range(900), chance.randint(1, 40))
        for store in (tiny, ample):
            if step == "delete":
                await store.delete("chunks", ids)
            elif step == "load":
                await find_table(store).drop_cache()
            else:
                await store.upsert("chunks", [place_row(id_) for id_ in ids], vectors[ids][::-1])
            await wait_for_copy(store)
        scope = frozenset(chance.sample(range(SPACES), chance.randint(1, SPACES)))
        only = frozenset(ids) if chance.random() < 0.2 else None
        area = VectorFilter(scope, frozenset(chance.sample(range(5), chance.randint(0, 2))), ids=only)
        query, k = vectors[chance.randrange(900)], chance.choice([1, 20, 2_000])
        found, expected = [await store.search("chunks", query, k, area) for store in (tiny, ample)]
        assert found == expected
        assert find_rows(tiny)._file is not None
    await tiny.close()
    await ample.close()


async def test_deleted_and_replaced_vectors_are_in_no_page(tmp_path: Path) -> None:
    vectors = random_units(800, DIM, 9)
    store = await open_loaded(tmp_path, TINY, vectors)
    file = find_rows(store)._file
    assert file is not None
    held = {id_: RoundedColumns(DIM).encode(vectors[[id_]])["rounded"].tobytes() for id_ in range(800)}
    assert all(content in file.pages[:] for content in held.values())
    await store.delete("chunks", range(0, 800, 3))
    await store.upsert("chunks", [place_row(id_) for id_ in range(1, 800, 30)], random_units(27, DIM, 10))
    gone = {*range(0, 800, 3), *range(1, 800, 30)}
    pages = file.pages[:]
    assert {id_ for id_, content in held.items() if content not in pages} == gone
    await store.close()


async def test_the_file_has_no_name(tmp_path: Path) -> None:
    store = await open_loaded(tmp_path / "with", TINY, random_units(800, DIM, 9))
    assert find_rows(store)._file is not None
    assert {file.name for file in list_files(tmp_path / "with")} == {f"{table}.lance" for table in TABLES}
    await store.close()


async def test_rows_that_outgrow_their_file_are_loaded_into_a_larger_one(tmp_path: Path) -> None:
    vectors = random_units(1_400, DIM, 3)
    store = await open_loaded(tmp_path, TINY, vectors[:800])
    await store.upsert("chunks", [place_row(id_) for id_ in range(800, 1_400)], vectors[800:])
    await wait_for_copy(store)
    assert len(find_rows(store)) == 1_400
    everywhere = VectorFilter(frozenset(range(SPACES)))
    assert {hit.id for hit in await store.search("chunks", vectors[0], 2_000, everywhere)} == set(range(1_400))
    await store.close()


async def test_changes_wait_for_a_search_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_arrays, "LOOP_ROWS", 100)
    vectors, everywhere = random_units(4_000, DIM, 5), VectorFilter(frozenset(range(SPACES)))
    rows = RowArrays(RoundedColumns(DIM), 8_000)
    rows.upsert([place_row(at) for at in range(4_000)], vectors)
    expected = rows.search(vectors[0], 50, everywhere)
    for start in range(1_000, 3_000, 100):
        searching = asyncio.create_task(rows.find(vectors[0], 50, everywhere))
        await asyncio.sleep(0)
        ids = [id_ for id_ in range(start, start + 100) if id_ not in {hit.id for hit in expected}]
        rows.delete(ids)
        rows.upsert([place_row(id_) for id_ in ids], vectors[ids])
        assert await searching == expected


@pytest.mark.parametrize("free", [0, 1_000 * DIM, 1 << 40])
def test_without_space_on_the_disk_there_is_no_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    monkeypatch.setattr(Disk, "find", lambda folder: Disk(folder, free, is_read_only=False))
    if free == 1 << 40:
        assert reserve_rows(DIM, 1_000, TINY, tmp_path)._file is not None
    else:
        with pytest.raises(ArraysFull):
            reserve_rows(DIM, 1_000, TINY, tmp_path)


def test_a_large_limit_reserves_no_more_addresses_than_rows_need() -> None:
    assert not reserve_rows(DIM, 10, 1 << 60).is_rounded
