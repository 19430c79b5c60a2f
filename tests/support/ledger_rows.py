"""A ledger's rows of entities and relations in PostgreSQL, written by the calls of a graph store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from engine.errors import StoreError
from engine.storage.graph.base import GraphEdge, GraphNode
from engine.storage.graph.ledger_graph import LedgerGraph
from tests.support.memory_graph import edge_key

# The columns of the ledger's tables that the graph reads; the ledger's transactions keep the ends of relations.
TABLES = """
CREATE TABLE entity (id bigint PRIMARY KEY, space bigint NOT NULL);
CREATE TABLE relation (
    id bigint PRIMARY KEY,
    space bigint NOT NULL,
    a bigint NOT NULL REFERENCES entity ON DELETE CASCADE,
    b bigint NOT NULL REFERENCES entity ON DELETE CASCADE,
    weight bigint NOT NULL
);
CREATE INDEX relation_a ON relation (a);
CREATE INDEX relation_b ON relation (b);
"""
PUT_NODE = "INSERT INTO entity VALUES (%s, %s) ON CONFLICT (id) DO UPDATE SET space = excluded.space"
PUT_EDGE = (
    "INSERT INTO relation SELECT %(id)s, COALESCE((SELECT space FROM entity WHERE id = %(a)s), 0), %(a)s, %(b)s,"
    " %(weight)s ON CONFLICT (id) DO UPDATE SET weight = excluded.weight"
)


class WrittenLedgerGraph(LedgerGraph):
    """The graph of a ledger that holds what is written to the graph. Weights are whole numbers, as in the ledger."""

    async def upsert(self, nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> None:
        async with self._transaction() as connection:
            await write_rows(connection, nodes, edges)

    async def delete(self, nodes: Collection[int], edges: Sequence[GraphEdge]) -> None:
        async with self._transaction() as connection:
            pairs = [edge_key(edge) for edge in edges]
            if pairs:
                await connection.cursor().executemany("DELETE FROM relation WHERE a = %s AND b = %s", pairs)
            await connection.execute("DELETE FROM entity WHERE id = ANY(%s)", (list(nodes),))

    async def replace_all(self, nodes: Iterable[GraphNode], edges: Iterable[GraphEdge]) -> None:
        async with self._transaction() as connection:
            await connection.execute("DELETE FROM entity")
            await write_rows(connection, list(nodes), list(edges))

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[AsyncConnection[Any]]:
        if self._is_closed:
            raise StoreError("The graph in the database is closed.")
        try:
            async with self._pool.connection() as connection, connection.transaction():
                yield connection
        except psycopg.errors.ForeignKeyViolation as error:
            raise StoreError("A relation has an end that is not in the ledger.") from error


async def write_rows(connection: AsyncConnection[Any], nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> None:
    async with connection.cursor() as cursor:
        if nodes:
            await cursor.executemany(PUT_NODE, [(node.id, node.space) for node in nodes])
        if edges:
            ends = [(edge, *edge_key(edge)) for edge in edges]
            await cursor.executemany(
                PUT_EDGE, [{"id": edge.id, "a": a, "b": b, "weight": int(edge.weight)} for edge, a, b in ends]
            )


@asynccontextmanager
async def open_ledger_graph(url: str) -> AsyncIterator[WrittenLedgerGraph]:
    """The graph of an empty ledger in a fresh database."""
    async with AsyncConnectionPool(url, min_size=1, max_size=4) as pool:
        async with pool.connection() as connection:
            await connection.execute(TABLES)
        graph = WrittenLedgerGraph(pool)
        yield graph
        await graph.close()
