from __future__ import annotations

from pathlib import Path

from engine.storage.graph.base import GraphEdge, GraphNode
from engine.storage.graph.kuzu_connection import KuzuConnection, open_database
from engine.storage.graph.kuzu_writer import build_database

SMALL_POOL = 16 << 20
EDGES = 130_000  # more than one statement can copy with such a pool


def test_a_graph_of_any_size_is_built_with_a_small_buffer_pool(tmp_path: Path) -> None:
    nodes = [GraphNode(id_, 1) for id_ in range(EDGES // 3)]
    edges = [GraphEdge(id_, id_ % 40_000, id_ * 7919 % 43_000, 2) for id_ in range(EDGES)]
    build_database("kuzu", tmp_path / "graph", SMALL_POOL, (nodes, edges))
    database = open_database("kuzu", tmp_path / "graph", SMALL_POOL)
    session = KuzuConnection("kuzu", database)
    assert session.run("MATCH (n:Entity) RETURN count(*)") == [[len(nodes)]]
    assert session.run("MATCH (:Entity)-[r:RELATES]->(:Entity) RETURN count(*), sum(r.id)") == [
        [EDGES, sum(range(EDGES))]
    ]
    session.close()
    database.close()
