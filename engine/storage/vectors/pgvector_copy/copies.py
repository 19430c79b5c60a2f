"""The copies of the tables of vectors, which are brought up to date before every read."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from engine.storage.memory_copy import MemoryCopy
from engine.storage.vectors.pgvector_copy.change_log import Moment, find_present, find_unseen
from engine.storage.vectors.pgvector_copy.rows import load_table, read_ids
from engine.storage.vectors.pgvector_tables import TABLES, table_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractAsyncContextManager

    from psycopg import AsyncConnection

    from engine.storage.vectors.base import VectorTable
    from engine.storage.vectors.pgvector_copy.change_log import Change
    from engine.storage.vectors.pgvector_copy.rows import Block
    from engine.storage.vectors.row_arrays import RowArrays

READ_BATCH = 2_000  # changed ids read at once
MAX_READ = 20_000  # changed ids of a table; with more it is loaded again


class VectorCopies:
    """The tables that fit into `max_bytes` each, rounded if need be.

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
        self._copies: dict[VectorTable, MemoryCopy[RowArrays]] = {
            table: MemoryCopy(partial(self._load, table)) for table in TABLES
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
            return await load_table(connection, table, self._dim, self._max_bytes)

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
            with copy.follow(partial(_replace, ids=batch, block=block), deletes=deletes):
                pass  # it is stored already


def _replace(rows: RowArrays, ids: Sequence[int], block: Block | None) -> None:
    """Put the present rows of some ids in the place of the former ones."""
    rows.delete(ids)
    if block is not None:
        rows.append(*block)
