"""What a ledger in any SQL database has: its repositories, snapshots and exports."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Protocol

from engine.storage.ledger import repositories
from engine.storage.ledger.queries.export import export_lines
from engine.storage.sql.repository import Database, SnapshotDatabase

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from engine.models import Scope
    from engine.storage.ledger.api import (
        Cache,
        Corrections,
        Documents,
        Duplicates,
        ExportFormat,
        Facts,
        LedgerView,
        Profiles,
        Search,
        Stats,
        WorkQueue,
    )
    from engine.storage.sql.connection import Connection, StreamingConnection


class LedgerDatabase(Database, Protocol):
    """A database that also gives out connections that read as of one moment."""

    def read_connection(self) -> AbstractAsyncContextManager[StreamingConnection]:
        """A connection for a few statements."""

    def stream_connection(self) -> AbstractAsyncContextManager[StreamingConnection]:
        """A connection for slow consumers of many rows."""


class Snapshot:
    """The reading repositories on one connection, as of one moment."""

    def __init__(self, connection: Connection) -> None:
        database = SnapshotDatabase(connection)
        self.search: Search = repositories.SqlSearch(database)
        self.stats: Stats = repositories.SqlStats(database)


class SqlLedger:
    """Repositories, snapshots and exports on a database."""

    def __init__(self, database: LedgerDatabase) -> None:
        self._database = database
        self.documents: Documents = repositories.SqlDocuments(database)
        self.facts: Facts = repositories.SqlFacts(database)
        self.profiles: Profiles = repositories.SqlProfiles(database)
        self.work: WorkQueue = repositories.SqlWorkQueue(database)
        self.cache: Cache = repositories.SqlCache(database)
        self.corrections: Corrections = repositories.SqlCorrections(database)
        self.duplicates: Duplicates = repositories.SqlDuplicates(database)
        self.search: Search = repositories.SqlSearch(database)
        self.stats: Stats = repositories.SqlStats(database)

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[LedgerView]:
        """Several reads as of one moment; hold it for a few of them only."""
        async with self._database.read_connection() as connection:
            yield Snapshot(connection)

    async def export(self, form: ExportFormat, scope: Scope) -> AsyncGenerator[str, None]:
        """Lines of everything in the scope's spaces: canonical JSON Lines, or the graph as GraphML."""
        async with self._database.stream_connection() as db, aclosing(export_lines(db, form, scope)) as lines:
            async for line in lines:
                yield line
