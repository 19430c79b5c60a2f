"""SQLite database of the bot: one connection for writes, one for reads."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiosqlite

from engine.storage.sqlite.errors import SQLITE_ERRORS, translate_error
from engine.storage.sqlite.integrity import check_places
from engine.storage.sqlite.schema import Schema
from engine.storage.sqlite.transactions import run_in_thread

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence
    from pathlib import Path

PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",
    "PRAGMA busy_timeout = 10000",
    "PRAGMA temp_store = MEMORY",
)

SCHEMA = Schema("bot.store", "bot's database", marker="event")

Row = tuple[Any, ...]


class Database:
    """SQLite in WAL mode: a write is durable when it returns; a read sees all committed writes."""

    def __init__(self, writer: aiosqlite.Connection, reader: aiosqlite.Connection) -> None:
        self._writer = writer
        self._reader = reader
        self._write_lock = asyncio.Lock()

    @classmethod
    @asynccontextmanager
    async def open(cls, path: Path) -> AsyncIterator[Database]:
        """Open or create the file. Raises StoreError."""
        check_places(path, SCHEMA.label)
        async with AsyncExitStack() as stack:
            try:
                connections = [await stack.enter_async_context(_connect(path)) for _ in range(2)]
                await run_in_thread(connections[0], lambda db: SCHEMA.migrate(db, path))
            except SQLITE_ERRORS as error:
                raise translate_error(error, SCHEMA.label) from error
            yield cls(*connections)

    async def fetch_all(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """All rows of a query."""
        try:
            return [tuple(row) for row in await self._reader.execute_fetchall(sql, parameters)]
        except SQLITE_ERRORS as error:
            raise translate_error(error, SCHEMA.label) from error

    async def fetch_one(self, sql: str, parameters: Sequence[Any] = ()) -> Row | None:
        """The first row of a query."""
        return next(iter(await self.fetch_all(sql, parameters)), None)

    async def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Run one statement in its own transaction; returns its rows."""
        async with self._write_lock:
            try:
                return await Transaction(self._writer).execute(sql, parameters)
            except SQLITE_ERRORS as error:
                raise translate_error(error, SCHEMA.label) from error

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """Run several statements in one transaction; other writes wait for its end."""
        async with self._write_lock:
            try:
                await self._writer.execute("BEGIN IMMEDIATE")
                yield Transaction(self._writer)
                await self._writer.commit()
            except BaseException as error:
                await asyncio.shield(self._writer.rollback())
                if isinstance(error, SQLITE_ERRORS):
                    raise translate_error(error, SCHEMA.label) from error
                raise

    async def delete_workspace(self, platform: str, workspace: str) -> None:
        """Delete all rows of a workspace except opt-outs."""
        async with self.transaction() as db:
            for table in ("channel", "answer", "answer_correction", "daily_usage", "shown_hint"):
                await db.execute(f"DELETE FROM {table} WHERE platform = ? AND workspace = ?", (platform, workspace))
            for table in ("channel_settings", "backfill_cursor", "message", "tombstone", "conversation", "file"):
                sql = f"DELETE FROM {table} WHERE substr(room, 1, length(?1)) = ?1"
                await db.execute(sql, (f"{platform}:{workspace}:",))

    async def compact(self) -> None:
        """Checkpoint and truncate the write-ahead log, so that it no longer holds deleted data."""
        async with self._write_lock:
            await self._writer.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)")


class Transaction:
    """A connection within a transaction."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._connection = connection

    async def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Run one statement; returns its rows."""
        return [tuple(row) for row in await self._connection.execute_fetchall(sql, parameters)]

    async def execute_many(self, sql: str, parameters: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row of parameters."""
        await self._connection.executemany(sql, parameters)


@asynccontextmanager
async def _connect(path: Path) -> AsyncIterator[aiosqlite.Connection]:
    async with aiosqlite.connect(path, isolation_level=None) as connection:
        for pragma in PRAGMAS:
            await connection.execute(pragma)
        yield connection
