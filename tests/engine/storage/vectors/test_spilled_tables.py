"""Tables that are larger than their memory: a file without a name holds them, and a small limit changes no result."""

from __future__ import annotations

import asyncio
import errno
import os
import random
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from structlog.testing import capture_logs

from engine.clock import SYSTEM_CLOCK
from engine.scheduling.supervisor import Supervisor
from engine.storage.column_arrays import ArraysFull
from engine.storage.disk import Disk
from engine.storage.vector_columns import REMAINDER, ROUNDED, RoundedColumns
from engine.storage.vectors.base import VectorFilter, VectorRow
from engine.storage.vectors.in_memory import row_arrays
from engine.storage.vectors.in_memory.nearest import NearRows
from engine.storage.vectors.in_memory.row_arrays import RowArrays
from engine.storage.vectors.in_memory.row_loading import EXACT_SHARE, reserve_rows
from engine.storage.vectors.in_memory.row_types import row_bytes
from engine.storage.vectors.in_memory.table_shares import TABLES
from engine.storage.vectors.lance import LanceVectors
from engine.storage.vectors.lance_table import MAX_LOSSES, LanceTable
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


def is_spilled(store: LanceVectors) -> bool:
    """Whether a file has some of the compared vectors."""
    return ROUNDED in find_rows(store).others


def read_files(store: LanceVectors) -> bytes:
    """All bytes of a table's copies of vectors, in memory and in files."""
    others = find_rows(store).others.values()
    return b"".join(rows._memory.tobytes() + os.pread(rows.number, 1 << 30, 0) for rows in others)


def find_rows(store: LanceVectors) -> RowArrays:
    rows = find_table(store)._cache.rows
    assert rows is not None
    return rows


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(4))
async def test_any_history_gives_the_results_of_an_unbounded_copy(tmp_path: Path, seed: int) -> None:
    chance, vectors = random.Random(seed), random_units(900, DIM, seed)
    tiny = await open_loaded(tmp_path / "tiny", TINY, vectors[:800])
    ample = await open_loaded(tmp_path / "ample", AMPLE, vectors[:800])
    assert is_spilled(tiny)
    assert not is_spilled(ample)
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
        assert is_spilled(tiny)
    await tiny.close()
    await ample.close()


async def test_deleted_and_replaced_vectors_are_in_no_file(tmp_path: Path) -> None:
    vectors = random_units(800, DIM, 9)
    store = await open_loaded(tmp_path, TINY, vectors)
    rows = find_rows(store)._rows
    columns = [rows.copy(name, np.arange(800)) for name in (ROUNDED, REMAINDER)]
    held = {id_: [column[at].tobytes() for column in columns] for at, id_ in enumerate(rows["id"].tolist())}
    present = read_files(store)
    assert all(content in present for contents in held.values() for content in contents)
    await store.delete("chunks", range(0, 800, 3))
    await store.upsert("chunks", [place_row(id_) for id_ in range(1, 800, 30)], random_units(27, DIM, 10))
    gone, present = {*range(0, 800, 3), *range(1, 800, 30)}, read_files(store)
    for at in range(2):
        assert {id_ for id_, contents in held.items() if contents[at] not in present} == gone
    await store.close()


async def test_the_file_has_no_name(tmp_path: Path) -> None:
    store = await open_loaded(tmp_path / "with", TINY, random_units(800, DIM, 9))
    assert is_spilled(store)
    assert {file.name for file in list_files(tmp_path / "with")} == {f"{table}.lance" for table in TABLES}
    await store.close()


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from tests.engine.storage.vectors import test_spilled_tables as tables

def write(number, content, at, count=[0], write=os.pwrite):
    count[0] += 1
    if count[0] == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return write(number, content, at)

os.pwrite = write
asyncio.run(tables.open_loaded(Path(sys.argv[1]), tables.TINY, tables.random_units(800, tables.DIM, 9)))
"""


async def test_a_process_that_is_killed_while_it_writes_a_copy_leaves_nothing_of_it(tmp_path: Path) -> None:
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED, str(tmp_path))
    assert await child.wait() == -signal.SIGKILL
    assert {file.name for file in list_files(tmp_path)} == {f"{table}.lance" for table in TABLES}
    vectors = random_units(800, DIM, 9)
    store = await open_loaded(tmp_path, TINY, vectors)
    hits = await store.search("chunks", vectors[5], 1, VectorFilter(frozenset(range(SPACES))))
    assert [hit.id for hit in hits] == [5]
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
    begun, find_places = threading.Event(), rows._find_nearest

    def find_nearest(*search: Any) -> list[NearRows]:
        begun.set()
        return find_places(*search)

    monkeypatch.setattr(rows, "_find_nearest", find_nearest)
    for start in range(1_000, 3_000, 100):
        begun.clear()
        searching = asyncio.create_task(rows.find(vectors[0], 50, everywhere))
        await asyncio.to_thread(begun.wait, PATIENCE)
        ids = [id_ for id_ in range(start, start + 100) if id_ not in {hit.id for hit in expected}]
        rows.delete(ids)
        rows.upsert([place_row(id_) for id_ in ids], vectors[ids])
        assert await searching == expected


@pytest.mark.parametrize("free", [0, 1_000 * DIM, 1 << 40])
def test_without_space_on_the_disk_there_is_no_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    monkeypatch.setattr(Disk, "find", lambda folder: Disk(folder, free, is_read_only=False))
    if free == 1 << 40:
        assert ROUNDED in reserve_rows(DIM, 1_000, TINY, tmp_path).others
    else:
        with capture_logs() as logs, pytest.raises(ArraysFull):
            reserve_rows(DIM, 1_000, TINY, tmp_path)
        assert "is full" in logs[0]["error"]


async def test_a_file_that_is_cut_is_loaded_again(tmp_path: Path) -> None:
    vectors, everywhere = random_units(800, DIM, 9), VectorFilter(frozenset(range(SPACES)))
    store = await open_loaded(tmp_path, TINY, vectors)
    expected = await store.search("chunks", vectors[5], 20, everywhere)
    for name in (ROUNDED, REMAINDER):
        with capture_logs() as logs:
            os.truncate(f"/proc/self/fd/{find_rows(store).others[name].number}", 1_000)
            found = await store.search("chunks", vectors[5], 20, everywhere)
        assert [hit.id for hit in found] == [hit.id for hit in expected]
        assert [(line["event"], line["table"]) for line in logs] == [("vectors.copy_lost", "chunks")]
        await wait_for_copy(store)
        assert await store.search("chunks", vectors[5], 20, everywhere) == expected
    await store.close()


async def test_searches_that_joined_on_a_lost_file_are_answered_and_it_is_reported_once(tmp_path: Path) -> None:
    vectors, everywhere = random_units(800, DIM, 9), VectorFilter(frozenset(range(SPACES)))
    store = await open_loaded(tmp_path, TINY, vectors)
    os.truncate(f"/proc/self/fd/{find_rows(store).others[ROUNDED].number}", 1_000)
    with capture_logs() as logs:
        found = await asyncio.gather(*(store.search("chunks", vectors[id_], 1, everywhere) for id_ in (5, 6)))
    assert [hits[0].id for hits in found] == [5, 6]
    assert [line["event"] for line in logs] == ["vectors.copy_lost"]
    await store.close()


async def test_a_change_that_meets_a_lost_file_is_stored(tmp_path: Path) -> None:
    vectors = random_units(800, DIM, 9)
    store = await open_loaded(tmp_path, TINY, vectors)
    for rows in find_rows(store).others.values():
        os.truncate(f"/proc/self/fd/{rows.number}", 0)
    await store.delete("chunks", [5, 6])
    found = await store.search("chunks", vectors[5], 800, VectorFilter(frozenset(range(SPACES))))
    assert {hit.id for hit in found} == set(range(800)) - {5, 6}
    await store.close()


async def test_a_disk_that_is_full_while_rows_are_loaded_leaves_the_search_to_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    vectors, everywhere = random_units(800, DIM, 9), VectorFilter(frozenset(range(SPACES)))
    store = await LanceVectors.open(tmp_path, DIM, Supervisor(SYSTEM_CLOCK), TINY)
    await store.upsert("chunks", [place_row(at) for at in range(800)], vectors)
    monkeypatch.setattr(os, "pwrite", fail)
    with capture_logs() as logs:
        for _ in range(20):
            assert (await store.search("chunks", vectors[5], 1, everywhere))[0].id == 5
            await asyncio.sleep(0.01)
    assert not find_table(store).is_cached
    assert ["No space left" in line["error"] for line in logs if line["event"] == "vectors.copy_lost"] == [True]
    await store.close()


async def test_files_that_are_lost_again_and_again_are_not_made_any_more(tmp_path: Path) -> None:
    vectors = random_units(800, DIM, 9)
    store = await open_loaded(tmp_path, TINY, vectors)
    for _ in range(MAX_LOSSES):
        await wait_for_copy(store)
        os.truncate(f"/proc/self/fd/{find_rows(store).others[ROUNDED].number}", 0)
        await store.search("chunks", vectors[5], 20, VectorFilter(frozenset(range(SPACES))))
    await store.fetch("chunks", [1])
    await asyncio.sleep(0.1)
    assert (await store.fetch("chunks", [1]))[1] == pytest.approx(vectors[[1]])
    assert not find_table(store).is_cached
    await store.close()


async def test_searches_that_meet_one_lost_file_are_one_loss(tmp_path: Path) -> None:
    vectors, everywhere = random_units(800, DIM, 9), VectorFilter(frozenset(range(SPACES)))
    store = await open_loaded(tmp_path, TINY, vectors)
    os.truncate(f"/proc/self/fd/{find_rows(store).others[ROUNDED].number}", 0)
    with capture_logs() as logs:
        found = await asyncio.gather(*(store.search("chunks", vectors[5], 1, everywhere) for _ in range(MAX_LOSSES)))
    assert [[hit.id for hit in hits] for hits in found] == [[5]] * MAX_LOSSES
    assert [line["event"] for line in logs] == ["vectors.copy_lost"]
    await wait_for_copy(store)
    await store.close()


async def test_files_that_cannot_be_written_are_named_and_not_made_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    vectors, write = random_units(800, DIM, 9), os.pwrite
    store = await open_loaded(tmp_path, TINY, vectors)
    with capture_logs() as logs:
        for id_ in range(MAX_LOSSES):
            await wait_for_copy(store)
            monkeypatch.setattr(os, "pwrite", fail)
            await store.upsert("chunks", [place_row(id_)], vectors[[id_]])
            monkeypatch.setattr(os, "pwrite", write)
    assert ["No space left" in line["error"] for line in logs if line["event"] == "vectors.copy_lost"] == [True] * 3
    await store.fetch("chunks", [1])
    await asyncio.sleep(0.1)
    assert (await store.fetch("chunks", [1]))[1] == pytest.approx(vectors[[1]])
    assert not find_table(store).is_cached
    await store.close()


async def test_the_event_loop_goes_on_while_a_change_waits_for_a_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, go_on, read = threading.Event(), threading.Event(), os.preadv

    def read_slowly(*place: Any) -> int:
        began.set()
        go_on.wait(2.0)
        go_on.set()  # if the loop was blocked
        return read(*place)

    vectors, everywhere = random_units(800, DIM, 9), VectorFilter(frozenset(range(SPACES)))
    store = await open_loaded(tmp_path, TINY, vectors)
    monkeypatch.setattr(os, "preadv", read_slowly)
    searching = asyncio.create_task(store.search("chunks", vectors[5], 1, everywhere))
    await asyncio.to_thread(began.wait)
    deleting = asyncio.create_task(store.delete("chunks", [5]))
    await asyncio.sleep(0.5)
    assert not searching.done()
    later = asyncio.create_task(store.search("chunks", vectors[5], 1, everywhere))
    await asyncio.sleep(0.1)
    assert not any(task.done() for task in (searching, deleting, later))
    go_on.set()
    assert [hit.id for hit in await searching] == [5]
    await deleting
    assert [hit.id for hit in await later] != [5]
    await store.close()


def test_a_large_limit_reserves_no_more_addresses_than_rows_need() -> None:
    assert not reserve_rows(DIM, 10, 1 << 60).is_rounded
