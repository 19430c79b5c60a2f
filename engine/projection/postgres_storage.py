"""The ledger, the graph and the vectors in one PostgreSQL database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog

from engine.errors import CorruptProjection
from engine.projection.open_stores import Stores, refill_after_given_stores
from engine.scheduling.processes import has_others
from engine.storage.graph.ledger_graph import LedgerGraph
from engine.storage.ledger import open_ledger
from engine.storage.postgres.pool import open_pool
from engine.storage.postgres.process_registry import ProcessRegistry
from engine.storage.vectors.pgvector import PostgresVectors
from engine.storage.vectors.pgvector_copy.store import CopiedVectors

if TYPE_CHECKING:
    from contextlib import AsyncExitStack
    from typing import Self

    from engine.clock import Clock
    from engine.llm.base import Embedder
    from engine.options import EngineOptions
    from engine.scheduling.processes import Processes
    from engine.scheduling.supervisor import Supervisor
    from engine.storage.ledger import LedgerStore

log = structlog.get_logger(__name__)

# The ledger has a table `vector`, whose row type would hide the type of pgvector in its own schema.
VECTORS_SCHEMA, LEDGER_SCHEMA = "threadlore_vectors", "threadlore_ledger"
PARTITIONS = 16  # of each table of vectors, by a hash of the space


@dataclass(frozen=True, slots=True)
class PostgresStorage:
    """A database that `processes` work on."""

    options: EngineOptions
    supervisor: Supervisor
    clock: Clock
    processes: Processes

    @classmethod
    async def open(cls, options: EngineOptions, supervisor: Supervisor, clock: Clock, stack: AsyncExitStack) -> Self:
        """Register this process. Raises DatabaseInUse and StoreError."""
        registry = ProcessRegistry.open(options.database, supervisor, clock, alone=options.replace_embedder)
        return cls(options, supervisor, clock, await stack.enter_async_context(registry))

    async def open_ledger(self, stack: AsyncExitStack) -> LedgerStore:
        options = self.options
        parts = options.fts_tokenizer, self.supervisor, self.clock, self.processes.id, options.word_cache_bytes
        ledger = await open_ledger(options.database, *parts)
        stack.push_async_callback(ledger.close)
        self.processes.lost.on_set(ledger.abandon)
        return ledger

    @property
    def has_vectors(self) -> bool:
        return True  # in the same database as the ledger, neither is lost alone

    async def open_stores(self, ledger: LedgerStore, embedder: Embedder, stack: AsyncExitStack) -> Stores:
        pool = await stack.enter_async_context(
            open_pool(self.options.database, "vectors", VECTORS_SCHEMA, LEDGER_SCHEMA, lost=self.processes.lost)
        )
        await refill_after_given_stores(ledger)
        stored = await self._open_vectors(pool, ledger, embedder.dim)
        vectors = CopiedVectors(stored, self.options.vector_cache_bytes, self.processes, self.supervisor)
        stack.push_async_callback(vectors.close)
        graph = LedgerGraph(pool)
        stack.push_async_callback(graph.close)
        return Stores(graph, vectors)

    async def _open_vectors(self, pool: Any, ledger: LedgerStore, dim: int) -> PostgresVectors:
        """The vectors; tables that are damaged or marked for reindexing are removed first, unless others fill them."""
        parts = self.supervisor, self.clock, PARTITIONS, self.processes.id
        if not await ledger.settings.get("reindexing") or await has_others(self.processes):
            try:
                return await PostgresVectors.open(pool, dim, *parts)
            except CorruptProjection as error:
                log.warning("vectors.recreated", error=str(error))
                await ledger.settings.set("reindexing", 1)
        await PostgresVectors.erase(pool)
        return await PostgresVectors.open(pool, dim, *parts)
