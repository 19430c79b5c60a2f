"""A ledger file that no program has open: its checksum, and what a restored backup needs."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import aiosqlite

from engine.errors import CorruptLedger
from engine.storage.ledger.database import SCHEMA
from engine.storage.ledger.queries.export import compute_checksum
from engine.storage.sqlite.errors import translate_error
from engine.storage.sqlite.integrity import check_file

if TYPE_CHECKING:
    from pathlib import Path


async def compute_file_checksum(path: Path) -> str:
    """The checksum of everything in the ledger. Raises StoreError."""
    try:
        async with aiosqlite.connect(path) as db:
            return await compute_checksum(db)
    except sqlite3.Error as error:
        raise translate_error(error, SCHEMA.label) from error


def prepare_restored_ledger(path: Path) -> None:
    """Check a restored ledger, and request a reindex of graph and vectors at the next start.

    Raises CorruptLedger with everything that is damaged, EarlySchema and NewerSchema.
    """
    try:
        check_file(path, SCHEMA)
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("INSERT OR REPLACE INTO meta VALUES ('reindexing', 1)")
    except sqlite3.DatabaseError as error:
        raise CorruptLedger(str(error)) from error


def merge_log(path: Path) -> None:
    """Write the log of a ledger into its file, as far as both can be read."""
    with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
