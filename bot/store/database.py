"""SQLite database of the bot, and its copies for backups."""

from __future__ import annotations

import sqlite3
from contextlib import asynccontextmanager, closing
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from engine.errors import StoreError
from engine.storage.sqlite.database import SqliteDatabase
from engine.storage.sqlite.database_file import check_file, check_places
from engine.storage.sqlite.schema import Schema

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence
    from pathlib import Path

    from engine.storage.sql.connection import Connection

SCHEMA = Schema("bot.store", "bot's database", marker="event", early_marker="inbox")

Row = tuple[Any, ...]


class Database(SqliteDatabase):
    """A write is durable when it returns; a read sees all committed writes. Several statements are a `write`."""

    reader_count = 1
    writer_cache = reader_cache = 2_000

    @classmethod
    @asynccontextmanager
    async def open(cls, path: Path) -> AsyncIterator[Database]:
        """Open or create the file. Raises StoreError."""
        check_places(path, SCHEMA.label)
        database = cls(path, SCHEMA)
        await database._start()
        try:
            yield database
        finally:
            await database.close()

    async def fetch_all(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """All rows of a query."""
        return await self.read(fetch, sql, parameters)

    async def fetch_one(self, sql: str, parameters: Sequence[Any] = ()) -> Row | None:
        """The first row of a query."""
        return next(iter(await self.fetch_all(sql, parameters)), None)

    async def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Run one statement in its own transaction; returns its rows."""
        return await self.write(fetch, sql, parameters)

    async def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row of parameters, all in one transaction."""
        await self.write(_execute_many, sql, list(rows))

    async def execute_all(self, *statements: tuple[str, Sequence[Any]]) -> None:
        """Run statements with their parameters in one transaction."""
        await self.write(_execute_all, statements)

    async def delete_workspace(self, platform: str, workspace: str) -> None:
        """Delete all rows of a workspace except opt-outs."""
        of_workspace = [
            (f"DELETE FROM {table} WHERE platform = ? AND workspace = ?", (platform, workspace))
            for table in ("channel", "answer", "answer_correction", "daily_usage", "shown_hint")
        ]
        of_rooms = [
            (f"DELETE FROM {table} WHERE substr(room, 1, length(?1)) = ?1", (f"{platform}:{workspace}:",))
            for table in ("channel_settings", "backfill_cursor", "message", "tombstone", "conversation", "file")
        ]
        await self.execute_all(*of_workspace, *of_rooms)


async def fetch(db: Connection, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
    """Run one statement; returns its rows."""
    return list(await db.execute_fetchall(sql, parameters))


async def _execute_many(db: Connection, sql: str, rows: Sequence[Sequence[Any]]) -> None:
    await db.executemany(sql, rows)


async def _execute_all(db: Connection, statements: Iterable[tuple[str, Sequence[Any]]]) -> None:
    for sql, parameters in statements:
        await db.execute(sql, parameters)


def copy_database(source: Path, target: Path) -> str:
    """Copy the database as of one moment; returns the checksum of its rows at that moment. Raises OSError."""
    try:
        with closing(sqlite3.connect(source, isolation_level=None)) as db, closing(sqlite3.connect(target)) as copy:
            db.execute("BEGIN")
            checksum = _checksum(db)
            db.backup(copy)
    except sqlite3.Error as error:
        raise OSError(str(error)) from error
    return checksum


def check_copy(path: Path) -> None:
    """Check a restored copy. Raises StoreError with everything that is damaged, EarlySchema and NewerSchema."""
    try:
        check_file(path, SCHEMA)
    except sqlite3.DatabaseError as error:
        raise StoreError(str(error)) from error


def file_checksum(path: Path) -> str:
    """The checksum of the rows of a database that no program has open. Raises StoreError."""
    try:
        with closing(sqlite3.connect(path)) as database:
            return _checksum(database)
    except sqlite3.Error as error:
        raise StoreError(str(error)) from error


def _checksum(database: sqlite3.Connection) -> str:
    digest = sha256()
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]
    for table in tables:
        digest.update(table.encode())
        columns = ", ".join(str(place) for place, _ in enumerate(_columns(database, table), 1))
        for row in database.execute(f'SELECT * FROM "{table}" ORDER BY {columns}'):
            digest.update(repr(row).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _columns(database: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in database.execute(f'PRAGMA table_info("{table}")')]
