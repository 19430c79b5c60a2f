"""The ledger as a portable SQLite file, both ways. Full text is indexed again in the target."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import TYPE_CHECKING

from engine.errors import StoreError
from engine.storage.ledger.database import SCHEMA as FILE_SCHEMA
from engine.storage.ledger.full_text import fts5
from engine.storage.ledger.schema import SOURCE
from engine.storage.postgres import portable

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from engine.storage.postgres.connection import Raw
    from engine.storage.sql.connection import StreamingConnection

INDEXING = (("chunk", "chunk_search_insert"),)  # triggers that index loaded rows
NOT_EMPTY_HINT = "Use --force to replace it."


async def copy_to_file(db: StreamingConnection, path: Path, tokenizer: str) -> None:
    """Write all rows, as of the connection's snapshot, into a new file."""
    creating = asyncio.to_thread(portable.create_file, path, FILE_SCHEMA, tokenizer=tokenizer)
    with closing(await creating) as file:
        await portable.copy_to_file(db, file, portable.list_columns(SOURCE), complete=_index)


def _index(file: sqlite3.Connection) -> None:
    file.execute("INSERT INTO entity_length SELECT id, space, LENGTH(name) FROM entity")
    fts5.index_all(file)


def upgrade_file(path: Path) -> None:
    """Update a file. Raises EarlySchema, NewerSchema and CorruptLedger."""
    portable.upgrade_file(path, FILE_SCHEMA)


def load_file(raw: Raw, path: Path, *, replace: bool = False) -> None:
    """Fill the tables of a schema with all rows of a file of the present version, in the present transaction.

    Raises StoreError if there are documents, unless `replace` removes them, and CorruptLedger.
    """
    [[is_filled]] = raw.execute("SELECT EXISTS (SELECT 1 FROM document)").fetchall()
    if is_filled and not replace:
        raise StoreError("The database already contains data.", hint=NOT_EMPTY_HINT)
    portable.load_tables(raw, path, portable.list_columns(SOURCE), "ledger", INDEXING)
    # An index of trigrams has no stem terms, and this one may be of words.
    raw.execute("DELETE FROM meta WHERE key IN ('stems_version', 'next_stemmed_chunk')")
    raw.execute("INSERT INTO meta VALUES ('reindexing', '1') ON CONFLICT (key) DO UPDATE SET value = '1'")
