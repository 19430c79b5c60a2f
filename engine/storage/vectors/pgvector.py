"""The vector store on PostgreSQL with pgvector: three tables, shared by all processes."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np
import stamina
from pgvector.psycopg import register_vector_async
from psycopg import sql
from psycopg.errors import TransactionRollback

from engine.errors import StoreError
from engine.storage.postgres.connection import check_process
from engine.storage.psycopg_calls import fetch_rows, run_statement, translate_postgres_errors
from engine.storage.vectors import pgvector_statements as statements
from engine.storage.vectors import pgvector_tables as tables
from engine.storage.vectors.base import VectorFilter, VectorHit, VectorRow, VectorTable
from engine.storage.vectors.pgvector_statements import SearchStep, max_counted_rows, plan_counted, plan_steps
from engine.text.similarity import unit_vectors

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Sequence

    from psycopg import AsyncConnection
    from psycopg_pool import AsyncConnectionPool

    from engine.clock import Clock
    from engine.scheduling.supervisor import Supervisor

BATCH_ROWS = 500
# After this many written rows, a table that has grown large gets its index.
MAINTENANCE_ROWS = 5_000
# Another process may build an index or add rows: what is known of a table holds for so many seconds.
STATE_SECONDS = 60.0
MAX_ATTEMPTS = 4


class PostgresVectors:
    """Vectors of one embedder, in a database that many processes use; the caller closes the pool of connections.

    The space is part of every key. With `partitions`, new tables are partitioned by a hash of it. `process`: this
    one's number in the registry; writes fail once it was removed.
    """

    def __init__(
        self,
        pool: AsyncConnectionPool[Any],
        dim: int,
        supervisor: Supervisor,
        clock: Clock,
        process: int | None = None,
    ) -> None:
        self._clock = clock
        self._process = process
        self._pool = pool
        self.dim = dim
        self._supervisor = supervisor
        self._prepared: WeakSet[AsyncConnection[Any]] = WeakSet()
        self._is_closed = False
        self._leaves: dict[VectorTable, tuple[float, list[tables.Leaf]]] = {}
        self._new_rows: dict[VectorTable, int] = dict.fromkeys(tables.TABLES, 0)
        self._maintenance: dict[VectorTable, asyncio.Task[None]] = {}

    @classmethod
    async def open(
        cls,
        pool: AsyncConnectionPool[Any],
        dim: int,
        supervisor: Supervisor,
        clock: Clock,
        partitions: int = 1,
        process: int | None = None,
    ) -> PostgresVectors:
        """Open or create the tables for vectors of `dim` dimensions. Raises EmbedderMismatch and StoreError."""
        with translate_postgres_errors():
            async with pool.connection() as connection:
                await tables.create_tables(connection, dim, partitions)
        return cls(pool, dim, supervisor, clock, process)

    @staticmethod
    async def erase(pool: AsyncConnectionPool[Any]) -> None:
        """Remove the tables; another embedder may then open them."""
        with translate_postgres_errors():
            async with pool.connection() as connection:
                await tables.drop_tables(connection)

    @staticmethod
    async def drop_schemas(pool: AsyncConnectionPool[Any], prefix: str, kept: Collection[str]) -> None:
        """Remove the schemas of vectors with this prefix and a number that are not among those kept."""
        with translate_postgres_errors():
            async with pool.connection() as connection:
                await tables.drop_schemas(connection, prefix, kept)

    async def upsert(
        self,
        table: VectorTable,
        rows: Sequence[VectorRow],
        vectors: np.ndarray,
        spaces: Collection[int] | None = None,
    ) -> None:
        """Insert or replace; other parts of the ids are deleted, in other spaces too unless `spaces` are given."""
        if not rows:
            return
        content = unit_vectors(np.asarray(vectors).reshape(len(rows), self.dim))
        for batch in _split_by_id(rows):
            await self._upsert_batch(table, [rows[place] for place in batch], content[batch], spaces)
        self._new_rows[table] += len(rows)
        if self._new_rows[table] >= MAINTENANCE_ROWS:
            await self._start_maintenance(table)

    async def delete(self, table: VectorTable, ids: Collection[int], spaces: Collection[int] | None = None) -> None:
        """Delete all rows of the ids."""
        if ids:
            condition, parameters = statements.build_key_scope(spaces), statements.key_parameters(ids, spaces)
            await self._write(_fill(statements.DELETE, table, condition), parameters)

    async def search(
        self, table: VectorTable, vector: np.ndarray, k: int, vector_filter: VectorFilter
    ) -> list[VectorHit]:
        """The k most similar rows that match the filter, best first; ties by id and part. A zero vector has no hits."""
        query = unit_vectors(np.asarray(vector).reshape(1, self.dim))[0]
        if statements.build_scope(vector_filter) is None or k <= 0 or not query.any():
            return []
        hits = list[VectorHit]()
        async with self.connection() as connection:
            for step in await self._plan(connection, table, vector_filter):
                hits += await self._search_step(connection, table, step, {"query": query, "k": k})
        return sorted(hits, key=lambda hit: (-hit.similarity, hit.id, hit.part))[:k]

    async def fetch(
        self, table: VectorTable, ids: Collection[int], spaces: Collection[int] | None = None
    ) -> dict[int, np.ndarray]:
        """The vectors by id, shape (parts, dim), parts in order."""
        condition, parameters = statements.build_key_scope(spaces), statements.key_parameters(ids, spaces)
        async with self.connection() as connection:
            rows = await fetch_rows(connection, _fill(statements.FETCH, table, condition), parameters)
        found: dict[int, list[np.ndarray]] = {}
        for id_, _, vector in rows:
            found.setdefault(id_, []).append(vector.to_numpy())
        return {id_: np.stack(parts) for id_, parts in found.items()}

    async def fetch_stored(self, table: VectorTable, ids: Collection[int]) -> dict[int, np.ndarray]:
        """The vectors by id, shape (parts, dim), parts in order."""
        return await self.fetch(table, ids)

    async def list_rows(self, table: VectorTable) -> list[VectorRow]:
        """All rows without their vectors, in order."""
        async with self.connection() as connection:
            rows = await fetch_rows(connection, _fill(statements.LIST_ROWS, table))
        return [VectorRow(*row) for row in rows]

    async def clear(self) -> None:
        """Delete all rows."""
        for table in tables.TABLES:
            await self._wait_for_maintenance(table)
        async with self.connection() as connection:
            await tables.truncate_tables(connection)
        self._leaves.clear()

    async def compact(self) -> None:
        """Remove deleted rows from tables and indexes, and build missing indexes.

        The bytes of deleted rows are overwritten as their pages are used again.
        """
        for table in tables.TABLES:
            await self._wait_for_maintenance(table)
            await self._maintain(table, purge=True)

    async def close(self) -> None:
        """Wait for maintenance. May be called twice."""
        self._is_closed = True
        for table in tables.TABLES:
            await self._wait_for_maintenance(table)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[AsyncConnection[Any]]:
        """A connection that knows the type of vectors. Raises StoreError."""
        if self._is_closed:
            raise StoreError("The vectors in the database are closed.")
        with translate_postgres_errors():
            async with self._raw_connection() as connection:
                yield connection

    @asynccontextmanager
    async def _raw_connection(self) -> AsyncIterator[AsyncConnection[Any]]:
        async with self._pool.connection() as connection:
            if connection not in self._prepared:
                await register_vector_async(connection)
                self._prepared.add(connection)
            yield connection

    async def _upsert_batch(
        self, table: VectorTable, rows: Sequence[VectorRow], vectors: np.ndarray, spaces: Collection[int] | None
    ) -> None:
        """Insert or replace all rows of some ids in one transaction."""
        last = {(row.id, row.part): place for place, row in enumerate(rows)}
        places = sorted(last.values())
        kept = [rows[place] for place in places]
        ids = {row.id for row in kept}
        parameters = statements.row_parameters(kept, vectors[places]) | statements.key_parameters(ids, spaces)
        others = _fill(statements.DELETE_OTHER_PARTS, table, statements.build_key_scope(spaces))
        await self._write(_fill(statements.UPSERT, table), parameters, others)

    async def _write(self, statement: sql.Composed, parameters: dict[str, Any], *more: sql.Composed) -> None:
        """Run statements in one transaction; repeat it if another one was in its way."""
        if self._is_closed:
            raise StoreError("The vectors in the database are closed.")
        with translate_postgres_errors():
            async for attempt in stamina.retry_context(
                on=TransactionRollback, attempts=MAX_ATTEMPTS, wait_initial=0.02
            ):
                with attempt:
                    async with self._raw_connection() as connection, connection.transaction():
                        await check_process(connection, self._process)
                        for composed in (statement, *more):
                            await run_statement(connection, composed, parameters)

    async def _plan(
        self, connection: AsyncConnection[Any], table: VectorTable, vector_filter: VectorFilter
    ) -> list[SearchStep]:
        leaves = await self._load_leaves(connection, table)
        steps = plan_steps(vector_filter, leaves)
        if steps is None:
            counting = _fill(statements.COUNT_MATCHING, table, statements.build_scope(vector_filter))
            limit = max_counted_rows(vector_filter, leaves) + 1
            parameters = {**statements.scope_parameters(vector_filter), "limit": limit}
            [[matching]] = await fetch_rows(connection, counting, parameters)
            steps = [plan_counted(vector_filter, leaves, matching)]
        return steps

    async def _search_step(
        self, connection: AsyncConnection[Any], table: VectorTable, step: SearchStep, query: dict[str, Any]
    ) -> list[VectorHit]:
        """The best hits of a step; too few from an index are completed exactly."""
        if (condition := statements.build_scope(step.vector_filter)) is None:
            return []
        parameters = {**statements.scope_parameters(step.vector_filter), **query}
        if not step.is_exact:
            hits = await self._search_index(connection, table, condition, parameters)
            if len(hits) >= query["k"]:
                return hits
        return _build_hits(await fetch_rows(connection, _fill(statements.SEARCH_EXACT, table, condition), parameters))

    async def _search_index(
        self, connection: AsyncConnection[Any], table: VectorTable, scope: sql.Composable, parameters: dict[str, Any]
    ) -> list[VectorHit]:
        fetched = statements.REFINE_FACTOR * parameters["k"]
        candidates = min(statements.MAX_CANDIDATES, max(statements.CANDIDATES, fetched))
        query = statements.SEARCH_INDEX.format(
            table=sql.Identifier(tables.table_name(table)),
            scope=scope,
            half=tables.half_vector(self.dim),
            dim=sql.Literal(self.dim),
        )
        async with connection.pipeline(), connection.transaction():
            await run_statement(connection, statements.SEARCH_SETTINGS, {"candidates": str(candidates)})
            return _build_hits(await fetch_rows(connection, query, {**parameters, "fetched": fetched}))

    async def _load_leaves(self, connection: AsyncConnection[Any], table: VectorTable) -> list[tables.Leaf]:
        """The table or its partitions, as they were at most `STATE_SECONDS` ago."""
        now = self._clock.monotonic()
        since, leaves = self._leaves.get(table, (0.0, []))
        if not leaves or now - since > STATE_SECONDS:
            leaves = await tables.list_leaves(connection, table)
            self._leaves[table] = (now, leaves)
        return leaves

    async def _start_maintenance(self, table: VectorTable) -> None:
        """Start maintenance in the background unless it runs."""
        running = self._maintenance.get(table)
        if running is None or running.done():
            work = self._maintain(table, purge=False)
            self._maintenance[table] = self._supervisor.spawn(f"index {table}", work)

    async def _maintain(self, table: VectorTable, *, purge: bool) -> None:
        """Count rows and build missing indexes; `purge` removes deleted rows."""
        self._new_rows[table] = 0
        with translate_postgres_errors():
            async with self._pool.connection() as connection:
                former = connection.autocommit
                await connection.set_autocommit(True)  # maintenance cannot run in a transaction
                for leaf in await tables.list_leaves(connection, table):
                    await (tables.vacuum if purge else tables.analyze)(connection, leaf.name)
                for leaf in tables.find_missing_indexes(await tables.list_leaves(connection, table), self.dim):
                    await tables.build_index(connection, leaf.name, self.dim, leaf.rows)
                await connection.set_autocommit(former)
        self._leaves.pop(table, None)

    async def _wait_for_maintenance(self, table: VectorTable) -> None:
        """Wait for running maintenance; its supervisor reports a failure."""
        if (task := self._maintenance.pop(table, None)) is not None:
            await asyncio.wait({task})


def _fill(statement: sql.SQL, table: VectorTable, scope: sql.Composable | None = None) -> sql.Composed:
    return statement.format(table=sql.Identifier(tables.table_name(table)), scope=scope or sql.SQL("true"))


def _build_hits(rows: Sequence[tuple[int, int, float]]) -> list[VectorHit]:
    return [VectorHit(id_, part, min(1.0, max(-1.0, -distance))) for id_, part, distance in rows]


def _split_by_id(rows: Sequence[VectorRow]) -> list[list[int]]:
    """The places of rows in batches; all rows of an id are in one batch."""
    places: dict[int, list[int]] = {}
    for place, row in enumerate(rows):
        places.setdefault(row.id, []).append(place)
    batches: list[list[int]] = [[]]
    for own in places.values():
        if len(batches[-1]) >= BATCH_ROWS:
            batches.append([])
        batches[-1] += own
    return batches
