"""The file of the bot's tables: one connection that writes, one that reads, numbered migrations."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import aiosqlite

from engine.errors import NewerSchema
from engine.storage.sqlite.errors import SQLITE_ERRORS, translate_error
from engine.storage.sqlite.integrity import check_places
from engine.storage.sqlite.migration_scripts import load_migration_scripts

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

DATABASE_LABEL = "bot's database"

Row = tuple[Any, ...]


class Database:
    """SQLite in WAL mode; a write is durable when it returns, a read sees what was committed."""

    def __init__(self, writer: aiosqlite.Connection, reader: aiosqlite.Connection) -> None:
        self._writer = writer
        self._reader = reader
        self._write_lock = asyncio.Lock()

    @classmethod
    @asynccontextmanager
    async def open(cls, path: Path) -> AsyncIterator[Database]:
        """Open or create the file, and bring its schema up to date. Raises StoreError."""
        check_places(path, DATABASE_LABEL)
        async with AsyncExitStack() as stack:
            try:
                connections = [await stack.enter_async_context(_connect(path)) for _ in range(2)]
                await _migrate(connections[0], path)
            except SQLITE_ERRORS as error:
                raise translate_error(error, DATABASE_LABEL) from error
            yield cls(*connections)

    async def fetch_all(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """The rows of a query."""
        try:
            return [tuple(row) for row in await self._reader.execute_fetchall(sql, parameters)]
        except SQLITE_ERRORS as error:
            raise translate_error(error, DATABASE_LABEL) from error

    async def fetch_one(self, sql: str, parameters: Sequence[Any] = ()) -> Row | None:
        """The first row of a query."""
        return next(iter(await self.fetch_all(sql, parameters)), None)

    async def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Run one statement, which is a transaction of its own; gives what it returns."""
        async with self._write_lock:
            try:
                return await Transaction(self._writer).execute(sql, parameters)
            except SQLITE_ERRORS as error:
                raise translate_error(error, DATABASE_LABEL) from error

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """All or nothing; nobody else writes meanwhile."""
        async with self._write_lock:
            try:
                await self._writer.execute("BEGIN IMMEDIATE")
                yield Transaction(self._writer)
                await self._writer.commit()
            except BaseException as error:
                await asyncio.shield(self._writer.rollback())
                if isinstance(error, SQLITE_ERRORS):
                    raise translate_error(error, DATABASE_LABEL) from error
                raise

    async def delete_workspace(self, platform: str, workspace: str) -> None:
        """Remove every row of a workspace, but for who opted out."""
        async with self.transaction() as db:
            for table in ("room", "answer", "correction", "usage", "hint"):
                await db.execute(f"DELETE FROM {table} WHERE platform = ? AND workspace = ?", (platform, workspace))
            for table in ("channel", "cursor", "message", "deleted", "conversation", "file"):
                sql = f"DELETE FROM {table} WHERE substr(room, 1, length(?1)) = ?1"
                await db.execute(sql, (f"{platform}:{workspace}:",))

    async def compact(self) -> None:
        """Write the log back and empty it, so that removed bytes leave it too."""
        async with self._write_lock:
            await self._writer.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)")


class Transaction:
    """The connection while it writes."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._connection = connection

    async def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Run one statement; gives its rows."""
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


async def _migrate(connection: aiosqlite.Connection, path: Path) -> None:
    """Make the tables of a new file; lead those of an old one to the present schema, step by step."""
    [(version,)] = await connection.execute_fetchall("PRAGMA user_version")
    schema, later = load_scripts()
    if version > latest_version():
        raise NewerSchema(f"The file {path} has schema {version}; this program knows up to {latest_version()}.")
    steps = enumerate(later[version - 1 :], version + 1) if version else [(latest_version(), schema)]
    for number, script in steps:
        await connection.executescript(f"BEGIN;\n{script}\nPRAGMA user_version = {number};\nCOMMIT;")


def load_scripts() -> tuple[str, list[str]]:
    """The present schema, and what leads to it from the first one, in order."""
    return (files("bot.store") / "schema.sql").read_text(), load_migration_scripts("bot.store")


def latest_version() -> int:
    """The number of the present schema."""
    return len(load_scripts()[1]) + 1
