"""The ledger on SQLite: its schema, and what concerns the file as a whole, open or not."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Self, get_args

import aiosqlite

from engine.errors import CorruptLedger
from engine.storage.disk import disk_error
from engine.storage.ledger.full_text import fts5
from engine.storage.ledger.full_text.compaction import begin_merge, continue_merge
from engine.storage.ledger.full_text.word_counts import WordCounts
from engine.storage.ledger.queries.export import compute_checksum
from engine.storage.ledger.schema import SOURCE
from engine.storage.ledger.store import LedgerStore
from engine.storage.ledger.work.settings import LANGUAGES
from engine.storage.sqlite import database_file
from engine.storage.sqlite.database import WRITABLE, FileAccess, SqliteDatabase
from engine.storage.sqlite.database_file import (
    StreamConnection,
    ThreadConnection,
    check_file,
    read_only_address,
    run_in_thread,
    translate_error,
)
from engine.storage.sqlite.row_copy import copy_rows
from engine.storage.sqlite.schema import Schema

if TYPE_CHECKING:
    from pathlib import Path

    from engine.clock import Clock
    from engine.scheduling.supervisor import Supervisor
    from engine.storage.ledger.full_text.fts5_index import ChunkLocations
    from engine.storage.ledger.full_text.index import TermIndex
    from engine.storage.sql.connection import Connection

SCHEMA = Schema(SOURCE, "ledger", marker="document", early_marker="piece")

FtsTokenizer = Literal["porter unicode61", "trigram"]
DEFAULT_TOKENIZER: FtsTokenizer = "porter unicode61"
MERGED_PAGES = 1_000  # of full text, rewritten in one transaction
SEGMENTED_VERSION = 4  # of the schema, since which `search_text` makes what is indexed


class ReadingConnection(ThreadConnection):
    """A connection that reads one snapshot, whose searches for words know where chunks are."""

    def __init__(self, sqlite: sqlite3.Connection, ledger: Ledger) -> None:
        super().__init__(sqlite)
        self._ledger = ledger

    @cached_property
    def term_index(self) -> TermIndex:
        """The term index of this snapshot."""
        from engine.storage.ledger.full_text.fts5_index import LocatedIndex  # noqa: PLC0415 - needs NumPy, slow

        return LocatedIndex(self._ledger.chunk_locations, self._ledger.word_counts)


class Ledger(SqliteDatabase, LedgerStore):
    """The ledger in one SQLite file."""

    def __init__(self, path: Path, fts_tokenizer: FtsTokenizer, clock: Clock, access: FileAccess = WRITABLE) -> None:
        SqliteDatabase.__init__(self, path, SCHEMA, clock, access, tokenizer=fts_tokenizer)
        LedgerStore.__init__(self)

    def _build_reader(self, db: sqlite3.Connection) -> Connection:
        return ReadingConnection(db, self)

    @cached_property
    def chunk_locations(self) -> ChunkLocations:
        """Where chunks are, in memory."""
        from engine.storage.ledger.full_text.fts5_index import ChunkLocations  # noqa: PLC0415 - needs NumPy, slow

        return ChunkLocations()

    @cached_property
    def word_counts(self) -> WordCounts:
        """How many chunks contain the words that were asked for."""
        return WordCounts()

    def _migrate(self, db: sqlite3.Connection) -> None:
        super()._migrate(db)
        fts5.register_search_text(db)  # triggers of the writer call it

    @classmethod
    async def open(
        cls,
        path: Path,
        fts_tokenizer: FtsTokenizer = "porter unicode61",
        supervisor: Supervisor | None = None,
        *,
        clock: Clock,
        access: FileAccess = WRITABLE,
    ) -> Self:
        """Open or create the file, and bring its schema up to date. `supervisor` runs the writer.

        `access`: as for `SqliteDatabase`; with a refusal, the file is only read.
        """
        ledger = cls(path, fts_tokenizer, clock, access)
        await ledger._start(supervisor)
        return ledger

    async def compact(self) -> None:
        """Remove the bytes of deleted rows from the files: full text is rewritten, the log written back and emptied.

        Other writes take their turns between parts of the full text; after some hundreds of compactions, it is indexed
        again in one part. Raises StoreError if readers of an old snapshot prevent emptying the log.
        """
        for kind in fts5.TABLES:
            merge = await self.write(begin_merge, kind, MERGED_PAGES)
            while merge:
                merge = await self.write(continue_merge, kind, merge)
        await self.empty_log()

    async def check_integrity(self) -> None:
        """Raise CorruptLedger, with all that is wrong, unless structure, indexes and constraints are as they should."""
        async with self.stream_connection() as db:
            found = await run_in_thread(db.sqlite, database_file.find_problems)
        if found:
            raise CorruptLedger(f"The ledger is damaged: {'; '.join(found)}.")

    async def copy_to(self, path: Path) -> str:
        """Copy the database as of one moment into one file; gives the checksum of what it held at that moment."""
        async with aiosqlite.connect(path) as target, self.stream_connection() as source:
            found = await compute_checksum(source)
            try:
                await source.sqlite.backup(target)
            except sqlite3.Error as error:  # of the target, which has to take every page
                raise disk_error(f"{path} could not be written", path, error) from error
        return found


async def compute_file_checksum(path: Path) -> str:
    """The checksum of everything in the ledger. Raises StoreError."""
    try:
        async with aiosqlite.connect(path) as db:
            return await compute_checksum(StreamConnection(db))
    except sqlite3.Error as error:
        raise translate_error(error, SCHEMA.label, path) from error


def load_languages(path: Path) -> tuple[str, ...]:
    """The languages that chose the embedder of a ledger, which may be open elsewhere; empty if none can be read."""
    writable = f"{path.absolute().as_uri()}?mode=rw"
    for address, locks in ((writable, "NORMAL"), (read_only_address(path), "EXCLUSIVE")):
        with suppress(sqlite3.Error), closing(sqlite3.connect(address, uri=True)) as db:
            db.execute(f"PRAGMA locking_mode = {locks}")
            [listed] = db.execute("SELECT value FROM meta WHERE key = ?", (LANGUAGES,)).fetchone() or [""]
            return tuple(str(listed).split(",")) if listed else ()
    return ()


def prepare_restored_ledger(path: Path) -> None:
    """Check a restored ledger, copy its rows into new tables, and request a reindex of graph and vectors.

    Raises CorruptLedger with everything that is damaged, EarlySchema and NewerSchema.
    """
    try:
        check_file(path, SCHEMA)
        clean = path.with_name(f"{path.name}.clean")
        copy_rows(path, clean, SCHEMA, _complete, tokenizer=_read_tokenizer(path))
        clean.replace(path)
    except sqlite3.Error as error:
        raise CorruptLedger(str(error)) from error


def _complete(db: sqlite3.Connection, version: int) -> None:
    """Index full text, as that version does, and request a reindex."""
    if version >= SEGMENTED_VERSION:
        fts5.index_all(db)
        db.execute("DELETE FROM unsegmented_fts")
    else:
        for index in ("chunk_fts", "entity_fts"):
            db.execute(f"INSERT INTO {index} ({index}) VALUES ('rebuild')")
    db.execute("INSERT OR REPLACE INTO meta VALUES ('reindexing', 1)")


def _read_tokenizer(path: Path) -> str:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA trusted_schema = OFF")
        [[definition]] = db.execute(fts5.FIND_SCHEMA).fetchall() or [[""]]
    found = fts5.read_tokenizer(str(definition))
    return found if found in get_args(FtsTokenizer) else DEFAULT_TOKENIZER
