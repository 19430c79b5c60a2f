"""The copies of the tables of vectors, whose rows are brought up to date before every read."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from psycopg import sql

from engine.storage.column_arrays import ArraysFull
from engine.storage.memory_copy import MemoryCopy
from engine.storage.psycopg_calls import fetch_rows
from engine.storage.vectors.in_memory.row_loading import SpaceGroups, extend_codes, reserve_rows
from engine.storage.vectors.in_memory.table_shares import TableShares
from engine.storage.vectors.pgvector_copy.change_log import Moment, find_present, find_unseen
from engine.storage.vectors.pgvector_tables import MAX_PAGE_DIM, TABLES, list_leaves, table_name

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Sequence
    from contextlib import AbstractAsyncContextManager

    from psycopg import AsyncConnection

    from engine.storage.vectors.base import VectorTable
    from engine.storage.vectors.in_memory.row_arrays import RowArrays
    from engine.storage.vectors.pgvector_copy.change_log import Change


READ_BATCH = 1_000  # changed ids read at once
MAX_READ = 20_000  # changed ids of a table; with more it is loaded again
BLOCK_ROWS = 2_048  # about; copied into memory without a pause: some milliseconds
PAGE_BYTES, KEY_BYTES = 8_192, 64  # of a page of the server; of a row besides its vector
VECTOR_HEADER = 4  # bytes before the numbers of a vector that is sent
COUNT_ROWS = sql.SQL("SELECT count(*) FROM {table}")
COUNT_BY_SPACE = sql.SQL("SELECT space, count(*) FROM {table} GROUP BY space")
COUNT_PAGES = sql.SQL("SELECT pg_relation_size(to_regclass(%(leaf)s)) / current_setting('block_size')::bigint")
# The server joins the rows of a block, so that no row is handled by itself. Each column has the same order.
COLUMNS = sql.SQL(
    "string_agg(int8send(id), ''), string_agg(int4send(space), ''), string_agg(int4send(room), ''),"
    " string_agg(int2send(part), ''), string_agg(vector_send(vector), '')"
)
READ_PAGES = sql.SQL("SELECT {columns} FROM {leaf} WHERE ctid >= {first}::tid AND ctid < {end}::tid")
READ_IDS = sql.SQL("SELECT {columns} FROM {table} WHERE id = ANY(%(ids)s)")
KEY_COLUMNS = {"id": ">i8", "space": ">i4", "room": ">i4", "part": ">i2"}  # as they are sent

Block = tuple[dict[str, np.ndarray], np.ndarray]  # the columns of the keys, and the vectors


class VectorCopies:
    """The tables that fit into their shares of memory, `max_bytes` in the mean, rounded if need be.

    Every read first asks the database what changed since the last one, in one statement, and reads changed rows again:
    it finds exactly what was committed when it began, whatever happened to notifications. `connect`: a connection of
    the pool that knows vectors.
    """

    def __init__(
        self, connect: Callable[[], AbstractAsyncContextManager[AsyncConnection[Any]]], dim: int, max_bytes: int
    ) -> None:
        self._connect = connect
        self._dim = dim
        self._max_bytes = max_bytes
        self._shares = TableShares(max_bytes, dim)
        self._copies: dict[VectorTable, MemoryCopy[RowArrays]] = {
            table: MemoryCopy(partial(self._load, table), extend_codes) for table in TABLES
        }
        self._seen: Moment | None = None  # the state of the copies; None: none is followed
        self._lock = asyncio.Lock()
        self._asked = self._answered = 0

    async def get(self, table: VectorTable) -> RowArrays | None:
        """The rows of a table as of now, or later. Use them before awaiting anything else.

        None if they are too many, or not loaded yet: then the database is to be asked.
        """
        if not self._max_bytes or await self._copies[table].get() is None:
            return None
        await self.catch_up()
        return self._copies[table].rows

    async def catch_up(self) -> None:
        """Apply all changes that were committed before this call; calls that wait together are answered together."""
        self._asked += 1
        asked = self._asked
        async with self._lock:
            if self._answered < asked:
                answered = self._asked
                await self._apply_unseen()
                self._answered = answered

    async def close(self) -> None:
        """Free the rows, and wait until nothing reads the database any more."""
        for copy in self._copies.values():
            await copy.close()

    async def _load(self, table: VectorTable) -> RowArrays:
        """All rows, read after the state from which changes are followed."""
        async with self._connect() as connection:
            async with self._lock:
                self._seen = self._seen or await find_present(connection)
            counts = {each: await count_rows(connection, each) for each in TABLES}
            for each, count in counts.items():
                self._shares.record_rows(each, count)
            try:
                rows = reserve_rows(self._dim, counts[table], self._shares.give(table))
                await fill_rows(connection, table, self._dim, rows)
            except ArraysFull:
                self._shares.take_back(table)
                raise
        return rows

    async def _apply_unseen(self) -> None:
        """Bring the copies from the state seen last to the present one."""
        if self._seen is None:
            return
        if not any(copy.is_followed or copy.is_too_large for copy in self._copies.values()):
            self._seen = None
            return
        async with self._connect() as connection:
            unseen = await find_unseen(connection, self._seen)
            if unseen.is_outdated:
                self._drop_all()
                return
            for table, copy in self._copies.items():
                name = table_name(table)
                if changes := [change for change in unseen.changes if change.table == name]:
                    await self._apply(connection, table, copy, changes)
            self._seen = unseen.until

    def _drop_all(self) -> None:
        for copy in self._copies.values():
            copy.drop()
        self._seen = None

    async def _apply(
        self,
        connection: AsyncConnection[Any],
        table: VectorTable,
        copy: MemoryCopy[RowArrays],
        changes: Sequence[Change],
    ) -> None:
        ids = sorted({id_ for change in changes for id_ in change.ids or ()})
        if len(ids) > MAX_READ or any(change.ids is None for change in changes):
            copy.drop()
            return
        deletes = any(change.has_deletions for change in changes)
        for start in range(0, len(ids), READ_BATCH):
            batch = ids[start : start + READ_BATCH]
            block = await read_ids(connection, table, batch, self._dim) if copy.is_followed else None
            async with AsyncExitStack() as held:
                if (rows := copy.rows) is not None:
                    await held.enter_async_context(rows.hold_searches())
                with copy.follow(partial(_replace, ids=batch, block=block), deletes=deletes):
                    pass  # it is stored already


def _replace(rows: RowArrays, ids: Sequence[int], block: Block | None) -> None:
    """Put the present rows of some ids in the place of the former ones."""
    rows.delete(ids)
    if block is not None:
        rows.append(*block)


async def fill_rows(connection: AsyncConnection[Any], table: VectorTable, dim: int, rows: RowArrays) -> None:
    """Add all rows of a table. Those that change meanwhile may be old, missing or there twice. Raises ArraysFull."""
    groups = SpaceGroups(rows, await _count_by_space(connection, table)) if rows.is_rounded else None
    for leaf in await list_leaves(connection, table):
        async for keys, vectors in _read_leaf(connection, leaf.name, dim):
            (groups or rows).append(keys, vectors)
    if groups is not None:
        groups.finish()


async def count_rows(connection: AsyncConnection[Any], table: VectorTable) -> int:
    """The rows of a table."""
    [[count]] = await fetch_rows(connection, COUNT_ROWS.format(table=sql.Identifier(table_name(table))))
    return int(count)


async def _count_by_space(connection: AsyncConnection[Any], table: VectorTable) -> dict[int, int]:
    rows = await fetch_rows(connection, COUNT_BY_SPACE.format(table=sql.Identifier(table_name(table))))
    return {int(space): int(count) for space, count in rows}


async def read_ids(
    connection: AsyncConnection[Any], table: VectorTable, ids: Collection[int], dim: int
) -> Block | None:
    """The rows of some ids, as they are now; None if there are none."""
    statement = READ_IDS.format(columns=COLUMNS, table=sql.Identifier(table_name(table)))
    [row] = await fetch_rows(connection, statement, {"ids": sorted(ids)})
    return _decode(row, dim)


async def _read_leaf(connection: AsyncConnection[Any], leaf: str, dim: int) -> AsyncIterator[Block]:
    [[pages]] = await fetch_rows(connection, COUNT_PAGES, {"leaf": leaf})
    row_bytes = KEY_BYTES + (4 * dim if dim <= MAX_PAGE_DIM else 0)
    step = max(1, BLOCK_ROWS * row_bytes // PAGE_BYTES)
    for first in range(0, pages, step):
        statement = READ_PAGES.format(
            columns=COLUMNS,
            leaf=sql.Identifier(leaf),
            first=sql.Literal(f"({first},0)"),
            end=sql.Literal(f"({first + step},0)"),
        )
        [row] = await fetch_rows(connection, statement)
        if (block := _decode(row, dim)) is not None:
            yield block


def _decode(columns: Sequence[bytes | None], dim: int) -> Block | None:
    """A block from its columns as they are sent; None if it has no rows."""
    *keys, vectors = columns
    if vectors is None:
        return None
    numbers = {
        name: np.frombuffer(column or b"", type_)
        for (name, type_), column in zip(KEY_COLUMNS.items(), keys, strict=True)
    }
    sent = np.frombuffer(vectors, ">f4").reshape(-1, VECTOR_HEADER // 4 + dim)
    return numbers, sent[:, VECTOR_HEADER // 4 :].astype(np.float32)
