"""The ledger in a PostgreSQL database, and as a portable SQLite file, both ways."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, closing, suppress
from typing import TYPE_CHECKING, Self

from engine.errors import CorruptLedger, DatabaseInUse, DatabaseReadOnly, StoreError
from engine.scheduling.supervisor import Supervisor, cancel_tasks
from engine.storage.ledger.database import SCHEMA as FILE_SCHEMA
from engine.storage.ledger.full_text import fts5
from engine.storage.ledger.full_text.tsvector import find_tokenizer
from engine.storage.ledger.postgres.word_copy.copies import WordCopies
from engine.storage.ledger.postgres.word_copy.source import delete_old
from engine.storage.ledger.postgres.word_copy.term_index import CopiedConnection
from engine.storage.ledger.queries.export import compute_checksum
from engine.storage.ledger.schema import SOURCE
from engine.storage.ledger.store import LedgerStore
from engine.storage.ledger.work.settings import KnownSettings
from engine.storage.postgres import portable
from engine.storage.postgres.connection import BlockingConnection
from engine.storage.postgres.database import PostgresDatabase
from engine.storage.postgres.process_registry import ProcessRegistry
from engine.storage.postgres.schema import PostgresSchema

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path

    from engine.clock import Clock
    from engine.options import EngineOptions
    from engine.storage.ledger.database import FtsTokenizer
    from engine.storage.postgres.connection import Raw
    from engine.storage.sql.connection import Connection, StreamingConnection


CLEANING_SECONDS = 900.0  # between two deletions of old rows of the log of changes
SCHEMA = PostgresSchema(SOURCE, "ledger", "threadlore_ledger")
# What the server does not check itself as it writes.
_CHECKS = {
    "index {} is invalid": "SELECT indexrelid::regclass::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
    " WHERE c.relnamespace = current_schema()::regnamespace AND NOT i.indisvalid",
    "{} pages of the database failed their checksums": "SELECT checksum_failures FROM pg_stat_database"
    " WHERE datname = current_database() AND checksum_failures > 0",
    "the number of chunks of space {} is wrong": "SELECT space FROM"
    " (SELECT space, room, COUNT(*) AS rows, SUM(tokens) AS length FROM chunk GROUP BY space, room) c"
    " FULL JOIN (SELECT space, room, row_count, total_length FROM corpus_stats WHERE kind = 0) s USING (space, room)"
    " WHERE COALESCE(rows, 0) <> COALESCE(row_count, 0) OR COALESCE(length, 0) <> COALESCE(total_length, 0)",
    "the number of relations of entity {} is wrong": "SELECT e.id FROM entity e"
    " WHERE e.degree <> (SELECT COUNT(*) FROM relation r WHERE r.a = e.id OR r.b = e.id)",
    "the number of unread chunks of document {} is wrong": "SELECT d.key FROM document d WHERE d.unextracted_chunks"
    " <> (SELECT COUNT(*) FROM chunk c WHERE c.document = d.id AND c.extraction IS NULL)",
}
INDEXING = (("chunk", "chunk_search_insert"),)  # triggers that index loaded rows
NOT_EMPTY_HINT = "Use --force to replace it."
ATTEMPTS = 10  # to find no other process
PAUSE_SECONDS = 0.1


class LedgerWriter(BlockingConnection):
    """The connection of a transaction that holds the lock of writers; it reads all settings before anything else."""

    __slots__ = ("settings",)

    def __init__(self, raw: Raw) -> None:
        super().__init__(raw)
        self.settings = KnownSettings(self)


class PostgresLedger(PostgresDatabase, LedgerStore):
    """The ledger in a schema of a PostgreSQL database."""

    def __init__(
        self,
        url: str,
        fts_tokenizer: FtsTokenizer,
        clock: Clock,
        process: int | None = None,
        *,
        word_cache_bytes: int = 0,
    ) -> None:
        PostgresDatabase.__init__(self, url, SCHEMA, clock, process, tokenizer=fts_tokenizer)
        LedgerStore.__init__(self)
        self._words = WordCopies(self._connect, word_cache_bytes) if word_cache_bytes else None
        self._tasks = list[asyncio.Task[None]]()  # beside the writer

    @classmethod
    async def open(
        cls,
        url: str,
        fts_tokenizer: FtsTokenizer = "porter unicode61",
        supervisor: Supervisor | None = None,
        process: int | None = None,
        *,
        clock: Clock,
        word_cache_bytes: int = 0,
    ) -> Self:
        """Connect to the database, and bring the schema up to date. `supervisor` runs the writer.

        `word_cache_bytes`: memory for a copy of each of the two term indexes; 0: the server is asked.
        """
        ledger = cls(url, fts_tokenizer, clock, process, word_cache_bytes=word_cache_bytes)
        await ledger._start(supervisor)
        return ledger

    async def _start(self, supervisor: Supervisor | None = None) -> None:
        supervisor = supervisor or Supervisor(self._clock)
        await super()._start(supervisor)
        self._tasks.append(supervisor.run("clean changes of words", self._clean))
        if self._words is not None:
            self._tasks.append(supervisor.run("follow words", self._words.run))

    async def close(self) -> None:
        """Finish waiting writes, and close the connections."""
        if self._words is not None:
            self._words.end()
        await cancel_tasks(*self._tasks)
        if self._words is not None:
            self._words.close()
        await super().close()

    async def _clean(self) -> None:
        """Delete what no copy needs any more from the log of changes, which triggers write also without copies."""
        while True:
            await asyncio.sleep(CLEANING_SECONDS)
            with suppress(DatabaseReadOnly):
                await self.write(delete_old)

    def _build_writer(self, raw: Raw) -> Connection:
        return LedgerWriter(raw)

    def _build_reader(self, raw: Raw) -> Connection:
        return super()._build_reader(raw) if self._words is None else CopiedConnection(raw, self._words)

    async def compact(self) -> None:
        """Free the space of deleted rows in all tables."""
        await self.vacuum()

    async def copy_to(self, path: Path) -> str:
        """Copy the ledger as of one moment into a SQLite file; returns the checksum of its content."""
        async with self.stream_connection() as source:
            found = await compute_checksum(source)
            await copy_to_file(source, path, await source.run(find_tokenizer))
        return found

    async def load_file(self, path: Path, *, replace: bool = False, also: Callable[[Raw], None] | None = None) -> None:
        """Fill the ledger with the content of a SQLite file, and have graph and vectors made again.

        `also` runs in the same transaction. Raises StoreError if the ledger is not empty, unless `replace`;
        CorruptLedger, EarlySchema and NewerSchema.
        """
        await asyncio.to_thread(upgrade_file, path)

        def load(raw: Raw) -> None:
            load_file(raw, path, replace=replace)
            if also is not None:
                also(raw)

        await self.run_locked(load)

    async def check_integrity(self) -> None:
        """Raise CorruptLedger, with all that is wrong, unless indexes and counters are as they should."""
        if problems := await self.read(find_problems):
            raise CorruptLedger(f"The ledger is damaged: {'; '.join(problems)}.")


def find_problems(db: Connection) -> list[str]:
    """Invalid indexes, failed page checksums, and counters that differ from the rows, in words."""
    return [words.format(row[0]) for words, sql in _CHECKS.items() for row in db.execute_fetchall(sql)]


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


async def fill_database(
    options: EngineOptions, path: Path, clock: Clock, *, replace: bool, also: Callable[[Raw], None]
) -> None:
    """Fill the database of the options with a ledger file while no other process works on it."""
    url, supervisor = options.database, Supervisor(clock)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(supervisor.stop)
        process = await _register_alone(url, supervisor, clock, stack)
        target = await PostgresLedger.open(url, options.fts_tokenizer, supervisor, process.id, clock=clock)
        stack.push_async_callback(target.close)
        await target.load_file(path, replace=replace, also=also)


async def _register_alone(url: str, supervisor: Supervisor, clock: Clock, stack: AsyncExitStack) -> ProcessRegistry:
    """Register as the only process; one that has just ended frees its lock a moment later. Raises DatabaseInUse."""
    for _ in range(ATTEMPTS - 1):
        with suppress(DatabaseInUse):
            return await stack.enter_async_context(ProcessRegistry.open(url, supervisor, clock, alone=True))
        await asyncio.sleep(PAUSE_SECONDS)
    return await stack.enter_async_context(ProcessRegistry.open(url, supervisor, clock, alone=True))
