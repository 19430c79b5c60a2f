"""The ledger, the graph and the vectors in one PostgreSQL database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog
from psycopg_pool import AsyncConnectionPool

from engine.errors import CorruptProjection
from engine.projection.open_stores import Stores
from engine.storage.graph.ledger_graph import LedgerGraph
from engine.storage.ledger.postgres.ledger import SCHEMA, PostgresLedger
from engine.storage.postgres.connection import connection_options
from engine.storage.postgres.process_lock import hold_database
from engine.storage.psycopg_calls import translate_postgres_errors
from engine.storage.vectors.pgvector import PostgresVectors

if TYPE_CHECKING:
    import asyncio
    from contextlib import AsyncExitStack

    from engine.options import EngineOptions
    from engine.scheduling.supervisor import Supervisor
    from engine.storage.ledger.api import LedgerStore

log = structlog.get_logger(__name__)

POOL_SIZE = 6  # connections for graph and vectors
POOL_TIMEOUT = 30.0  # seconds that a statement waits for one of them
# The ledger has a table `vector`, whose row type would hide the type of pgvector in its own schema.
VECTORS_SCHEMA = "threadlore_vectors"
CREATE_SCHEMA = "CREATE SCHEMA IF NOT EXISTS threadlore_vectors"
PARTITIONS = 16  # of each table of vectors, by a hash of the space


@dataclass(frozen=True, slots=True)
class PostgresStorage:
    """A database that one process at a time works on; `lost` is set when that ends."""

    options: EngineOptions
    supervisor: Supervisor
    lost: asyncio.Event

    async def open_ledger(self, stack: AsyncExitStack) -> LedgerStore:
        url = self.options.database
        await stack.enter_async_context(hold_database(url, self.supervisor, self.lost))
        ledger = await PostgresLedger.open(url, self.options.fts_tokenizer, self.supervisor)
        stack.push_async_callback(ledger.close)
        return ledger

    @property
    def has_vectors(self) -> bool:
        return True  # in the same database as the ledger, neither is lost alone

    async def open_stores(self, ledger: LedgerStore, dim: int, stack: AsyncExitStack) -> Stores:
        pool = await self._open_pool(stack)
        vectors = await _open_vectors(pool, ledger, dim, self.supervisor)
        stack.push_async_callback(vectors.close)
        graph = LedgerGraph(pool)
        stack.push_async_callback(graph.close)
        return Stores(graph, vectors)

    async def _open_pool(self, stack: AsyncExitStack) -> AsyncConnectionPool[Any]:
        pool: AsyncConnectionPool[Any] = AsyncConnectionPool(
            self.options.database,
            kwargs=connection_options(VECTORS_SCHEMA, "public", SCHEMA.name),
            min_size=1,
            max_size=POOL_SIZE,
            timeout=POOL_TIMEOUT,
            open=False,
        )
        await pool.open()
        stack.push_async_callback(pool.close)
        with translate_postgres_errors():
            async with pool.connection() as connection:
                await connection.execute(CREATE_SCHEMA)
        return pool


async def _open_vectors(
    pool: AsyncConnectionPool[Any], ledger: LedgerStore, dim: int, supervisor: Supervisor
) -> PostgresVectors:
    """The vectors; tables that are damaged or marked for reindexing are removed first."""
    if not await ledger.work.get_setting("reindexing"):
        try:
            return await PostgresVectors.open(pool, dim, supervisor, PARTITIONS)
        except CorruptProjection as error:
            log.warning("vectors.recreated", error=str(error))
            await ledger.work.set_setting("reindexing", 1)
    await PostgresVectors.erase(pool)
    return await PostgresVectors.open(pool, dim, supervisor, PARTITIONS)
