"""New SQLite databases as copies of one that this worker created: to make all tables of a schema takes 10 ms."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from engine.storage.sql.connection import Dialect
from engine.storage.sqlite.schema import Schema


@contextmanager
def copy_new_databases() -> Iterator[None]:
    """Fill each new file with the pages of the first one of its schema; the script of a schema runs once.

    The script is part of the key, so that a test may replace it.
    """
    filled: dict[tuple[object, ...], bytes] = {}
    migrate = Schema.migrate

    def copy(self: Schema, db: sqlite3.Connection, path: Path, **placeholders: str) -> None:
        if not is_new(db):
            migrate(self, db, path, **placeholders)
            return
        key = (self.source.render(Dialect.SQLITE), self.source.latest, *sorted(placeholders.items()))
        if key in filled:
            with closing(sqlite3.connect(":memory:")) as source:
                source.deserialize(filled[key])
                source.backup(db)
        else:
            migrate(self, db, path, **placeholders)
            filled[key] = serialize(db)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Schema, "migrate", copy)
        yield


def is_new(db: sqlite3.Connection) -> bool:
    """Whether nothing was ever written to a database."""
    [[version]] = db.execute("PRAGMA schema_version")
    return int(version) == 0


def serialize(db: sqlite3.Connection) -> bytes:
    """The pages of a database, marked as written without a write-ahead log: in memory there can be none."""
    pages = bytearray(db.serialize())
    pages[18:20] = b"\1\1"  # the versions of the file format
    return bytes(pages)
