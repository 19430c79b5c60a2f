"""The graph on PostgreSQL reads the ledger's rows, and what the projection writes changes nothing."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg_pool import AsyncConnectionPool

from engine.errors import CorruptProjection, StoreError
from engine.storage.graph.base import GraphEdge, GraphNode
from engine.storage.graph.ledger_graph import FIND_NEIGHBORS, LedgerGraph
from tests.support.ledger_rows import open_ledger_graph

NODES = [GraphNode(1, 7), GraphNode(2, 7), GraphNode(3, 8), GraphNode(4, 8)]
EDGES = [GraphEdge(10, 1, 2, 2.0), GraphEdge(11, 3, 4, 1.0)]


async def test_projection_writes_leave_the_ledger_alone(postgres_url: str) -> None:
    async with open_ledger_graph(postgres_url) as ledger:
        await ledger.upsert(NODES, EDGES)
        graph, before = LedgerGraph(ledger._pool), await ledger.list_all()
        await graph.upsert([GraphNode(5, 7)], [GraphEdge(10, 1, 2, 9.0)])
        await graph.delete([1], EDGES)
        await graph.replace_all([], [])
        await graph.compact()
        assert await graph.list_all() == before == await ledger.list_all()
        assert [edge.id for edge in await graph.neighbors([1, 3], [7, 8], 5)] == [10, 11]


def list_plan_tables(plan: dict[str, Any]) -> set[str]:
    """The tables that a plan reads."""
    own = {plan["Relation Name"]} if "Relation Name" in plan else set()
    return own.union(*(list_plan_tables(text) for text in plan.get("Plans", [])))


async def test_neighbors_read_only_the_partitions_of_their_spaces(postgres_url: str) -> None:
    async with AsyncConnectionPool(postgres_url, min_size=1, kwargs={"autocommit": True}) as pool:
        async with pool.connection() as connection:
            await connection.execute(
                "CREATE TABLE relation (id bigint, space bigint, a bigint, b bigint, weight bigint)"
                " PARTITION BY HASH (space)"
            )
            for number in range(8):
                await connection.execute(
                    f"CREATE TABLE relation_{number} PARTITION OF relation"
                    f" FOR VALUES WITH (MODULUS 8, REMAINDER {number})"
                )
            parameters = {"nodes": [1, 2], "spaces": [7], "limit": 5}
            await connection.execute("INSERT INTO relation VALUES (10, 7, 1, 2, 3)")
            [[home]] = await (await connection.execute("SELECT tableoid::regclass::text FROM relation")).fetchall()
            cursor = await connection.execute("EXPLAIN (FORMAT JSON) " + FIND_NEIGHBORS.as_string(), parameters)
            [[[plan]]] = await cursor.fetchall()
        assert list_plan_tables(plan["Plan"]) == {home}
        assert [edge.id for edge in await LedgerGraph(pool).neighbors([1], [7], 5)] == [10]


async def test_a_missing_table_and_a_closed_graph_are_errors(postgres_url: str) -> None:
    async with AsyncConnectionPool(postgres_url, min_size=1) as pool:
        graph = LedgerGraph(pool)
        with pytest.raises(CorruptProjection, match="relation"):
            await graph.neighbors([1], [1], 5)
        await graph.close()
        await graph.close()
        with pytest.raises(StoreError, match="closed"):
            await graph.neighbors([1], [1], 5)
