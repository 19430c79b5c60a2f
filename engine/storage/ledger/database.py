"""The ledger on SQLite: its schema, its repositories, and what concerns the file as a whole."""

from __future__ import annotations

from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Literal, Self

import aiosqlite

from engine.errors import CorruptLedger
from engine.storage.ledger import repositories
from engine.storage.ledger.queries.export import compute_checksum, export_graphml
from engine.storage.ledger.queries.lookup import resolve_scope
from engine.storage.ledger.queries.stats import export_canonical
from engine.storage.sqlite import integrity
from engine.storage.sqlite.database import SqliteDatabase
from engine.storage.sqlite.repository import SnapshotDatabase
from engine.storage.sqlite.schema import Schema
from engine.storage.sqlite.transactions import run_in_thread

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator
    from pathlib import Path

    from engine.models import Scope
    from engine.scheduling.supervisor import Supervisor
    from engine.storage.ledger.api import (
        Cache,
        Corrections,
        Documents,
        ExportFormat,
        Facts,
        LedgerView,
        Profiles,
        Search,
        Stats,
        WorkQueue,
    )
    from engine.storage.sqlite.connection import Connection

SCHEMA = Schema("engine.storage.ledger", "ledger", marker="document", early_marker="piece")

FtsTokenizer = Literal["porter unicode61", "trigram"]


class Snapshot:
    """The reading repositories on one connection, as of one moment."""

    def __init__(self, connection: Connection) -> None:
        database = SnapshotDatabase(connection)
        self.search: Search = repositories.SqliteSearch(database)
        self.stats: Stats = repositories.SqliteStats(database)


class Ledger(SqliteDatabase):
    """The ledger in one SQLite file; implements `LedgerStore`."""

    def __init__(self, path: Path, fts_tokenizer: FtsTokenizer) -> None:
        super().__init__(path, SCHEMA, tokenizer=fts_tokenizer)
        self.documents: Documents = repositories.SqliteDocuments(self)
        self.facts: Facts = repositories.SqliteFacts(self)
        self.profiles: Profiles = repositories.SqliteProfiles(self)
        self.work: WorkQueue = repositories.SqliteWorkQueue(self)
        self.cache: Cache = repositories.SqliteCache(self)
        self.corrections: Corrections = repositories.SqliteCorrections(self)
        self.search: Search = repositories.SqliteSearch(self)
        self.stats: Stats = repositories.SqliteStats(self)

    @classmethod
    async def open(
        cls, path: Path, fts_tokenizer: FtsTokenizer = "porter unicode61", supervisor: Supervisor | None = None
    ) -> Self:
        """Open or create the file, and bring its schema up to date. `supervisor` runs the writer."""
        ledger = cls(path, fts_tokenizer)
        await ledger._start(supervisor)
        return ledger

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[LedgerView]:
        """Several reads as of one moment; hold it for a few of them only."""
        async with self.read_connection() as connection:
            yield Snapshot(connection)

    async def export(self, form: ExportFormat, scope: Scope) -> AsyncGenerator[str, None]:
        """Lines of everything in the scope's spaces: canonical JSON Lines, or the graph as GraphML."""
        async with self.stream_connection() as db:
            if form == "jsonl":
                made = export_canonical(db, scope.spaces)
            else:
                made = export_graphml(db, await resolve_scope(db, scope))
            async with aclosing(made) as lines:
                async for line in lines:
                    yield line

    async def compact(self) -> None:
        """Remove the bytes of deleted rows from the files: full text is rewritten, the log written back and emptied.

        Raises StoreError if readers of an old snapshot prevent emptying the log.
        """

        async def rewrite(db: Connection) -> None:
            await db.execute("INSERT INTO chunk_fts (chunk_fts) VALUES ('optimize')")
            await db.execute("INSERT INTO entity_fts (entity_fts) VALUES ('optimize')")

        await self.write(rewrite)
        await self.empty_log()

    async def check_integrity(self) -> None:
        """Raise CorruptLedger, with all that is wrong, unless structure, indexes and constraints are as they should."""
        async with self.stream_connection() as db:
            found = await run_in_thread(db, integrity.find_problems)
        if found:
            raise CorruptLedger(f"The ledger is damaged: {'; '.join(found)}.")

    async def copy_to(self, path: Path) -> str:
        """Copy the database as of one moment into one file; gives the checksum of what it held at that moment."""
        async with aiosqlite.connect(path) as target, self.stream_connection() as source:
            found = await compute_checksum(source)
            await source.backup(target)
        return found
