"""Checksums of a ledger's canonical export: two ledgers with equal checksums hold the same facts and texts."""

from __future__ import annotations

import sqlite3
from contextlib import aclosing
from hashlib import sha256
from typing import TYPE_CHECKING

import aiosqlite

from engine.storage.ledger.queries import stats
from engine.storage.sqlite.errors import translate_error

if TYPE_CHECKING:
    from pathlib import Path


async def compute_checksum(db: aiosqlite.Connection) -> str:
    """The checksum of everything that the connection reads."""
    digest = sha256()
    async with aclosing(stats.export_canonical(db)) as lines:
        async for line in lines:
            digest.update(line.encode("utf-8", "surrogatepass"))
            digest.update(b"\n")
    return digest.hexdigest()


async def compute_file_checksum(path: Path) -> str:
    """The checksum of a ledger that nobody has open. Raises StoreError."""
    try:
        async with aiosqlite.connect(path) as db:
            return await compute_checksum(db)
    except sqlite3.Error as error:
        raise translate_error(error) from error
