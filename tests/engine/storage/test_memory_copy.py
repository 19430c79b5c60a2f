"""A copy in memory follows the stored rows even while it is loaded, and is dropped when that is uncertain."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from engine.scheduling.supervisor import wait_for_completion
from engine.storage.column_arrays import ArraysFull
from engine.storage.memory_copy import MemoryCopy
from engine.storage.vector_columns import ExactColumns
from engine.storage.vectors.base import VectorRow
from engine.storage.vectors.in_memory.row_arrays import RowArrays

DIM = 4
ONE_VECTOR = np.eye(DIM, dtype=np.float32)[[0]]


class PausedTable:
    """A table of ids whose reads see what it held at their start, and end when `go_on` is set."""

    def __init__(self, *ids: int) -> None:
        self.ids = set(ids)
        self.go_on, self.started = asyncio.Event(), asyncio.Event()
        self.reads = 0
        self.error: Exception | None = None

    async def load(self) -> RowArrays:
        """At most 5 rows."""
        self.reads += 1
        seen, rows = sorted(self.ids), RowArrays(ExactColumns(DIM), 5)
        if len(seen) > 5:
            raise ArraysFull
        self.started.set()
        await self.go_on.wait()
        if self.error:
            raise self.error
        for id_ in seen:
            rows.upsert([VectorRow(id_, 1, 0, 0)], ONE_VECTOR)
        return rows


def open_copy(table: PausedTable) -> MemoryCopy[RowArrays]:
    return MemoryCopy(table.load)


def upsert(copy: MemoryCopy[RowArrays], table: PausedTable, id_: int) -> None:
    with copy.follow(lambda rows: rows.upsert([VectorRow(id_, 1, 0, 0)], ONE_VECTOR)):
        table.ids.add(id_)


def delete(copy: MemoryCopy[RowArrays], table: PausedTable, id_: int) -> None:
    with copy.follow(lambda rows: rows.delete([id_]), deletes=True):
        table.ids.discard(id_)


async def copied_ids(copy: MemoryCopy[RowArrays]) -> list[int] | None:
    rows = await copy.get()
    return None if rows is None else list(rows.fetch(range(100)))


async def test_changes_during_a_load_and_after_it_are_applied() -> None:
    table = PausedTable(1, 2)
    copy = open_copy(table)
    loading = asyncio.create_task(copied_ids(copy))
    await table.started.wait()
    upsert(copy, table, 3)
    delete(copy, table, 1)
    table.go_on.set()
    assert await loading == [2, 3]
    upsert(copy, table, 4)
    assert await copied_ids(copy) == [2, 3, 4]
    assert table.reads == 1


async def test_reads_at_once_load_once() -> None:
    table = PausedTable(1)
    copy = open_copy(table)
    reads = [asyncio.create_task(copied_ids(copy)) for _ in range(3)]
    await table.started.wait()
    table.go_on.set()
    assert await asyncio.gather(*reads) == [[1]] * 3
    assert table.reads == 1


async def test_failed_write_drops_the_rows_even_while_they_are_loaded() -> None:
    table = PausedTable(1)
    copy = open_copy(table)
    loading = asyncio.create_task(copied_ids(copy))
    await table.started.wait()
    with pytest.raises(OSError, match="disk"), copy.follow(lambda rows: rows.delete([1])):
        raise OSError("disk")
    table.go_on.set()
    assert await loading is None
    assert await copied_ids(copy) == [1]
    with pytest.raises(asyncio.CancelledError), copy.follow(lambda rows: rows.delete([1])):
        raise asyncio.CancelledError
    assert not copy.is_loaded
    assert await copied_ids(copy) == [1]
    assert table.reads == 3


async def test_failed_or_cancelled_load_is_repeated() -> None:
    table = PausedTable(1)
    copy = open_copy(table)
    loading = asyncio.create_task(copied_ids(copy))
    await table.started.wait()
    loading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await loading
    table.go_on.set()
    table.error = OSError("torn")
    with pytest.raises(OSError, match="torn"):
        await copy.get()
    table.error = None
    assert await copied_ids(copy) == [1]


async def test_large_table_is_not_read_again_until_rows_are_deleted() -> None:
    table = PausedTable(*range(6))
    table.go_on.set()
    copy = open_copy(table)
    assert await copied_ids(copy) is None
    upsert(copy, table, 5)
    assert await copied_ids(copy) is None
    assert table.reads == 1
    delete(copy, table, 5)
    assert await copied_ids(copy) == [0, 1, 2, 3, 4]
    upsert(copy, table, 5)
    assert not copy.is_loaded
    assert await copied_ids(copy) is None
    assert await copied_ids(copy) is None
    assert table.reads == 3


async def test_deletion_during_a_failing_load_lets_it_be_tried_again() -> None:
    table = PausedTable(*range(6))
    copy = open_copy(table)
    table.error = ArraysFull()
    table.ids.remove(5)
    loading = asyncio.create_task(copied_ids(copy))
    await table.started.wait()
    delete(copy, table, 4)
    table.go_on.set()
    assert await loading is None
    table.error = None
    assert await copied_ids(copy) == [0, 1, 2, 3]


async def test_rows_that_a_change_left_half_done_are_loaded_again() -> None:
    table = PausedTable(1, 2)
    table.go_on.set()
    copy = open_copy(table)
    assert await copied_ids(copy) == [1, 2]

    def fail(rows: RowArrays) -> None:
        rows.delete([1])
        raise MemoryError

    with pytest.raises(MemoryError), copy.follow(fail):
        pass
    assert await copied_ids(copy) == [1, 2]


async def test_slow_load_is_not_awaited_but_goes_on() -> None:
    table = PausedTable(1)
    copy = open_copy(table)
    assert await copied_ids(copy) is None
    upsert(copy, table, 2)
    assert await copied_ids(copy) is None
    table.go_on.set()
    await asyncio.sleep(0.01)
    assert await copied_ids(copy) == [1, 2]
    assert table.reads == 1


async def test_failure_that_nobody_awaited_is_raised_by_the_next_read() -> None:
    table = PausedTable(1)
    copy = open_copy(table)
    assert await copied_ids(copy) is None
    table.error = OSError("torn")
    table.go_on.set()
    await asyncio.sleep(0.01)
    with pytest.raises(OSError, match="torn"):
        await copy.get()
    table.error = None
    assert await copied_ids(copy) == [1]


async def test_closing_ends_a_load() -> None:
    table = PausedTable(1)
    copy = open_copy(table)
    loading = asyncio.create_task(copied_ids(copy))
    await table.started.wait()
    await copy.close()
    assert await loading is None
    assert len(asyncio.all_tasks()) == 1


async def test_table_that_outgrows_its_memory_during_a_load_is_not_kept() -> None:
    table = PausedTable(*range(5))
    copy = open_copy(table)
    loading = asyncio.create_task(copied_ids(copy))
    await table.started.wait()
    upsert(copy, table, 5)
    table.go_on.set()
    assert await loading is None
    assert not copy.is_loaded


async def test_loaded_rows_are_improved_while_they_are_used_until_they_are_dropped() -> None:
    table, steps, go_on, began = PausedTable(1), list[int](), asyncio.Event(), asyncio.Event()
    table.go_on.set()

    async def improve(rows: RowArrays) -> bool:
        steps.append(len(rows))
        if len(steps) == 2:
            began.set()
            await go_on.wait()
        return len(steps) < 100

    copy = MemoryCopy(table.load, improve)
    assert await copied_ids(copy) == [1]
    improving = copy._improving
    assert improving is not None
    await began.wait()
    upsert(copy, table, 2)
    assert await copied_ids(copy) == [1, 2]
    copy.drop()
    go_on.set()
    await improving
    assert len(steps) < 5


async def test_a_closed_copy_waits_for_the_step_that_improves_its_rows() -> None:
    table, running = PausedTable(1), asyncio.Event()
    table.go_on.set()

    async def step() -> None:
        running.set()
        await asyncio.sleep(0)
        running.clear()

    async def improve(_: RowArrays) -> bool:
        await wait_for_completion(step())
        return True

    copy = MemoryCopy(table.load, improve)
    assert await copied_ids(copy) == [1]
    await running.wait()
    await copy.close()
    assert not running.is_set()


async def test_a_load_waits_for_the_step_that_improves_the_former_rows() -> None:
    table, improved, go_on = PausedTable(1), list[RowArrays](), asyncio.Event()
    table.go_on.set()

    async def improve(rows: RowArrays) -> bool:
        improved.append(rows)
        await go_on.wait()
        return False

    copy = MemoryCopy(table.load, improve)
    assert await copied_ids(copy) == [1]
    await asyncio.sleep(0)
    for _ in range(3):  # as after changes that did not fit
        copy.drop()
        loading = asyncio.create_task(copy.get())
        for _ in range(9):
            await asyncio.sleep(0)
    assert (len(improved), table.reads) == (1, 1)
    upsert(copy, table, 2)
    go_on.set()
    await loading
    assert await copied_ids(copy) == [1, 2]
    await copy.close()
    assert len(asyncio.all_tasks()) == 1


async def test_a_reader_that_resumes_late_forgets_no_load_that_began_meanwhile() -> None:
    table = PausedTable(1)
    copy = open_copy(table)
    early = asyncio.create_task(copied_ids(copy))
    await table.started.wait()
    table.go_on.set()
    while not copy.is_loaded:  # noqa: ASYNC110 - the reader resumes one turn later
        await asyncio.sleep(0)
    table.go_on.clear()
    copy.drop()  # before the reader resumes
    late = asyncio.create_task(copied_ids(copy))
    for _ in range(9):
        await asyncio.sleep(0)
    table.go_on.set()
    assert await copied_ids(copy) == [1]
    assert table.reads == 2
    await asyncio.gather(early, late)
    await copy.close()
    assert len(asyncio.all_tasks()) == 1
