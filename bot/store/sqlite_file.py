"""The bot's tables in a SQLite file, and its copies for backups."""

from __future__ import annotations

import sqlite3
from contextlib import asynccontextmanager, closing
from hashlib import sha256
from typing import TYPE_CHECKING

from bot.store.database import Database
from bot.store.schema import SOURCE
from engine.errors import StoreError
from engine.storage.sqlite.database import WRITABLE, FileAccess, SqliteDatabase, open_for_reading
from engine.storage.sqlite.database_file import check_file, check_places
from engine.storage.sqlite.row_copy import copy_rows
from engine.storage.sqlite.schema import Schema

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from engine import Clock

LIST_TABLES = (
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
)
SCHEMA = Schema(SOURCE, "bot's database", marker="event", early_marker="inbox")


class SqliteStore(SqliteDatabase, Database):
    """The tables in a file."""

    reader_count = 1
    writer_cache = reader_cache = 2_000

    @classmethod
    @asynccontextmanager
    async def open(cls, path: Path, clock: Clock, access: FileAccess = WRITABLE) -> AsyncIterator[SqliteStore]:
        """Open or create the file. Raises StoreError."""
        check_places(path, SCHEMA.label)
        database = cls(path, SCHEMA, clock, access)
        await database._start()
        try:
            yield database
        finally:
            await database.close()

    async def compact(self) -> None:
        """Remove deleted bytes from the write-ahead log, too."""
        await self.empty_log()


def copy_database(source: Path, target: Path, access: FileAccess) -> str:
    """Copy the database, if it exists, as of one moment; returns the checksum of its rows then. Raises OSError."""
    if not source.exists():
        return ""
    try:
        with closing(open_for_reading(source, access)) as db, closing(sqlite3.connect(target)) as copy:
            db.execute("BEGIN")
            checksum = _checksum(db)
            db.backup(copy)
    except sqlite3.Error as error:
        raise OSError(str(error)) from error
    return checksum


def prepare_restored(path: Path) -> None:
    """Check a restored copy, and copy its rows into new tables.

    Raises StoreError with everything that is damaged, EarlySchema and NewerSchema.
    """
    try:
        check_file(path, SCHEMA)
        clean = path.with_name(f"{path.name}.clean")
        copy_rows(path, clean, SCHEMA)
        clean.replace(path)
    except sqlite3.Error as error:
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
    [[version]] = database.execute("PRAGMA user_version")
    own = SCHEMA.expect_structure(version).tables
    for (table,) in database.execute(LIST_TABLES).fetchall():
        if table not in own:
            continue
        digest.update(table.encode())
        columns = [f'"{name}"' for name in _columns(database, table) if name != "claimed_by"]
        places = ", ".join(str(place) for place, _ in enumerate(columns, 1))
        for row in database.execute(f'SELECT {", ".join(columns)} FROM "{table}" ORDER BY {places}'):
            digest.update(repr(row).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _columns(database: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in database.execute(f'PRAGMA table_info("{table}")')]
