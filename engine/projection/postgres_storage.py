"""The ledger, the graph and the vectors in one PostgreSQL database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from engine.errors import CorruptProjection
from engine.projection.embedder_change import add_former, load_places, share_cache
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
    from engine.storage.postgres.pool import LoopPool
    from engine.storage.vectors.base import VectorStore

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

    def has_vectors(self, place: int) -> bool:  # noqa: ARG002 - see below
        return True  # in the same database as the ledger, neither is lost alone

    async def open_stores(
        self, ledger: LedgerStore, embedder: Embedder, former: Embedder | None, stack: AsyncExitStack
    ) -> Stores:
        await refill_after_given_stores(ledger)
        places = await load_places(ledger)
        pool = await self._open_pool(places.present, stack)
        if not await has_others(self.processes):
            kept = {name_schema(place) for place in (places.present, places.former) if place is not None}
            await PostgresVectors.drop_schemas(pool, VECTORS_SCHEMA, kept)
        cache_bytes = share_cache(self.options, places).vector_cache_bytes
        present = self._copy(await self._open_present(pool, ledger, embedder.dim), cache_bytes)

        async def open_place(place: int, dim: int) -> VectorStore:
            own = await self._open_pool(place, stack)
            return self._copy(await PostgresVectors.open(own, dim, *self._parts), cache_bytes)

        vectors, left = await add_former(ledger, present, open_place, former, stack)
        stack.push_async_callback(vectors.close)
        graph = LedgerGraph(pool)
        stack.push_async_callback(graph.close)
        return Stores(graph, vectors, left)

    @property
    def _parts(self) -> tuple[Supervisor, Clock, int, int | None]:
        return self.supervisor, self.clock, PARTITIONS, self.processes.id

    async def _open_pool(self, place: int, stack: AsyncExitStack) -> LoopPool:
        """A pool whose tables of vectors are those of a place."""
        schemas = name_schema(place), LEDGER_SCHEMA
        return await stack.enter_async_context(
            open_pool(self.options.database, "vectors", *schemas, lost=self.processes.lost)
        )

    def _copy(self, stored: PostgresVectors, cache_bytes: int) -> CopiedVectors:
        return CopiedVectors(stored, cache_bytes, self.processes, self.supervisor)

    async def _open_present(self, pool: LoopPool, ledger: LedgerStore, dim: int) -> PostgresVectors:
        """The vectors; tables that are damaged or marked for reindexing are removed first, unless others fill them."""
        if not await ledger.settings.get("reindexing") or await has_others(self.processes):
            try:
                return await PostgresVectors.open(pool, dim, *self._parts)
            except CorruptProjection as error:
                log.warning("vectors.recreated", error=str(error))
                await ledger.settings.set("reindexing", 1)
        await PostgresVectors.erase(pool)
        return await PostgresVectors.open(pool, dim, *self._parts)


def name_schema(place: int) -> str:
    """The schema of the vectors in the place with a number."""
    return f"{VECTORS_SCHEMA}_{place}" if place else VECTORS_SCHEMA
