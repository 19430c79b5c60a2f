"""The graph store on PostgreSQL: the ledger's own rows of entities and relations.

Graph and ledger are in one database, so a copy of the rows would be a second truth: the processes that share the
database could write it in another order than the ledger. What the ledger writes is in the graph at once.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from psycopg import sql

from engine.errors import StoreError
from engine.storage.graph.base import GraphNode
from engine.storage.graph.edge_arrays import build_edge
from engine.storage.psycopg_calls import fetch_rows, translate_postgres_errors

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Iterable, Sequence

    from psycopg import AsyncConnection
    from psycopg_pool import AsyncConnectionPool

    from engine.storage.graph.base import GraphEdge

# The space of a relation is that of both its ends.
FIND_NEIGHBORS = sql.SQL(
    "SELECT id, a, b, weight::float8 FROM relation WHERE space = ANY(%(spaces)s)"
    " AND (a = ANY(%(nodes)s) OR b = ANY(%(nodes)s)) ORDER BY weight DESC, id LIMIT %(limit)s"
)
LIST_NODES = sql.SQL("SELECT id, space, true FROM entity ORDER BY id")
LIST_EDGES = sql.SQL("SELECT id, a, b, weight::float8 FROM relation ORDER BY id")


class LedgerGraph:
    """Reads the tables `entity` and `relation` through a pool of connections, which the caller closes."""

    def __init__(self, pool: AsyncConnectionPool[Any]) -> None:
        self._pool = pool
        self._is_closed = False

    async def upsert(self, nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> None:
        """Do nothing: the ledger has these rows."""

    async def delete(self, nodes: Collection[int], edges: Sequence[GraphEdge]) -> None:
        """Do nothing: the ledger deletes these rows."""

    async def replace_all(self, nodes: Iterable[GraphNode], edges: Iterable[GraphEdge]) -> None:
        """Do nothing: the ledger has these rows."""

    async def neighbors(self, nodes: Collection[int], spaces: Collection[int], limit: int) -> list[GraphEdge]:
        """The heaviest edges of these nodes within the spaces, in one query; equal weights by id."""
        if not nodes or not spaces or limit <= 0:
            return []
        parameters = {"nodes": sorted(set(nodes)), "spaces": sorted(spaces), "limit": limit}
        async with self._connection() as connection:
            return [build_edge(*row) for row in await fetch_rows(connection, FIND_NEIGHBORS, parameters)]

    async def list_all(self) -> tuple[list[GraphNode], list[GraphEdge]]:
        async with self._connection() as connection:
            nodes = [GraphNode(*row) for row in await fetch_rows(connection, LIST_NODES)]
            return nodes, [build_edge(*row) for row in await fetch_rows(connection, LIST_EDGES)]

    async def compact(self) -> None:
        """Do nothing: the ledger compacts its tables."""

    async def close(self) -> None:
        """Refuse further calls. May be called twice."""
        self._is_closed = True

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[AsyncConnection[Any]]:
        if self._is_closed:
            raise StoreError("The graph in the database is closed.")
        with translate_postgres_errors():
            async with self._pool.connection() as connection:
                yield connection
