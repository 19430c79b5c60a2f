"""Rows of a table in memory follow the table while they are loaded, and are dropped when that is uncertain."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from engine.storage.vectors.base import VectorRow
from engine.storage.vectors.row_arrays import RowArrays
from engine.storage.vectors.row_cache import RowCache

DIM = 4
ONE_VECTOR = np.eye(DIM, dtype=np.float32)[[0]]


class PausedTable:
    """A table of ids whose reads see what it held at their start, and end when `go_on` is set."""

    def __init__(self, *ids: int) -> None:
        self.ids = set(ids)
        self.go_on, self.started = asyncio.Event(), asyncio.Event()
        self.reads = 0
        self.error: Exception | None = None

    async def count_rows(self) -> int:
        return len(self.ids)

    async def read_rows(self, into: RowArrays) -> None:
        self.reads += 1
        seen = sorted(self.ids)
        self.started.set()
        await self.go_on.wait()
        if self.error:
            raise self.error
        for id_ in seen:
            into.upsert([VectorRow(id_, 1, 0, 0)], ONE_VECTOR)


def open_cache(table: PausedTable, max_rows: int = 5) -> RowCache:
    return RowCache(table, DIM, max_rows * RowArrays.row_bytes(DIM))


def upsert(cache: RowCache, table: PausedTable, id_: int) -> None:
    with cache.follow(lambda rows: rows.upsert([VectorRow(id_, 1, 0, 0)], ONE_VECTOR)):
        table.ids.add(id_)


def delete(cache: RowCache, table: PausedTable, id_: int) -> None:
    with cache.follow(lambda rows: rows.delete([id_])):
        table.ids.discard(id_)


async def cached_ids(cache: RowCache) -> list[int] | None:
    rows = await cache.get()
    return None if rows is None else list(rows.fetch(range(100)))


async def test_changes_during_a_load_and_after_it_are_applied() -> None:
    table = PausedTable(1, 2)
    cache = open_cache(table)
    loading = asyncio.create_task(cached_ids(cache))
    await table.started.wait()
    upsert(cache, table, 3)
    delete(cache, table, 1)
    table.go_on.set()
    assert await loading == [2, 3]
    upsert(cache, table, 4)
    assert await cached_ids(cache) == [2, 3, 4]
    assert table.reads == 1


async def test_reads_at_once_load_once() -> None:
    table = PausedTable(1)
    cache = open_cache(table)
    reads = [asyncio.create_task(cached_ids(cache)) for _ in range(3)]
    await table.started.wait()
    table.go_on.set()
    assert await asyncio.gather(*reads) == [[1]] * 3
    assert table.reads == 1


async def test_failed_write_drops_the_rows_even_while_they_are_loaded() -> None:
    table = PausedTable(1)
    cache = open_cache(table)
    loading = asyncio.create_task(cached_ids(cache))
    await table.started.wait()
    with pytest.raises(OSError, match="disk"), cache.follow(lambda rows: rows.delete([1])):
        raise OSError("disk")
    table.go_on.set()
    assert await loading is None
    assert await cached_ids(cache) == [1]
    with pytest.raises(asyncio.CancelledError), cache.follow(lambda rows: rows.delete([1])):
        raise asyncio.CancelledError
    assert not cache.is_loaded
    assert await cached_ids(cache) == [1]
    assert table.reads == 3


async def test_failed_or_cancelled_load_is_repeated() -> None:
    table = PausedTable(1)
    cache = open_cache(table)
    loading = asyncio.create_task(cached_ids(cache))
    await table.started.wait()
    loading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await loading
    table.go_on.set()
    table.error = OSError("torn")
    with pytest.raises(OSError, match="torn"):
        await cache.get()
    table.error = None
    assert await cached_ids(cache) == [1]


async def test_large_table_is_not_read_until_it_shrinks() -> None:
    table = PausedTable(*range(6))
    table.go_on.set()
    cache = open_cache(table)
    assert await cached_ids(cache) is None
    assert table.reads == 0
    delete(cache, table, 5)
    assert await cached_ids(cache) == [0, 1, 2, 3, 4]
    upsert(cache, table, 5)
    assert not cache.is_loaded
    assert await cached_ids(cache) is None
    assert table.reads == 1


async def test_table_that_outgrows_its_memory_during_a_load_is_not_kept() -> None:
    table = PausedTable(*range(5))
    cache = open_cache(table)
    loading = asyncio.create_task(cached_ids(cache))
    await table.started.wait()
    upsert(cache, table, 5)
    table.go_on.set()
    assert await loading is None
    assert not cache.is_loaded


async def test_without_memory_nothing_is_counted_or_read() -> None:
    table = PausedTable(1)
    assert await open_cache(table, max_rows=0).get() is None
    assert table.reads == 0
