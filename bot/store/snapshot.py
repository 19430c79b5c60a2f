"""Copies of the bot's tables for a backup, and their checksums."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def copy_database(source: Path, target: Path) -> str:
    """Copy the database as of one moment; gives the checksum of its rows at that moment. Raises sqlite3.Error."""
    with closing(sqlite3.connect(source, isolation_level=None)) as database, closing(sqlite3.connect(target)) as made:
        database.execute("BEGIN")
        found = _checksum(database)
        database.backup(made)
    return found


def file_checksum(path: Path) -> str:
    """The checksum of the rows of a database that nobody has open. Raises sqlite3.Error."""
    with closing(sqlite3.connect(path)) as database:
        return _checksum(database)


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
