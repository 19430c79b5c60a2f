"""Writes to a graph database: a few rows by prepared statements, many rows by one statement.

A statement over many rows scans whole tables: it costs more than a few look-ups and far less than many. Each call of
the library releases Python's lock, which may take milliseconds while other threads are busy.

Nothing is ever deleted. Kùzu 0.11.3 does not survive it: DETACH DELETE of a node leaves halves of its edges, or is
replayed on other edges after a crash; and a checkpoint crashes the process once all edges newer than the last
checkpoint were deleted. So a deleted row remains with a mark (a node in space -1, an edge of weight 0) that reads skip,
and is reused if it returns; `replace_all` drops such rows.

A rolled-back COPY removes other edges: it runs in a transaction of its own, after the others. It ends with a
checkpoint, during which nothing may read.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from engine.errors import CorruptProjection
from engine.storage.graph.kuzu_connection import SCHEMA, KuzuConnection, open_database

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from engine.storage.graph.base import GraphEdge, GraphNode
    from engine.storage.graph.kuzu_connection import GraphBackend

CREATE_NODE = "CREATE (:Entity {id: $id, space: $space})"
SET_NODE = "MATCH (n:Entity {id: $id}) SET n.space = $space RETURN n.id"
CREATE_NODES = "UNWIND $rows AS row CREATE (:Entity {id: row.id, space: row.space})"
SET_NODES = "UNWIND $rows AS row MATCH (n:Entity {id: row.id}) SET n.space = row.space RETURN n.id"
DELETE_NODE = (
    "MATCH (n:Entity {id: $id})-[r:RELATES]->(:Entity) SET r.weight = 0.0 RETURN n.id",
    "MATCH (n:Entity {id: $id})<-[r:RELATES]-(:Entity) SET r.weight = 0.0 RETURN n.id",
    "MATCH (n:Entity {id: $id}) SET n.space = -1 RETURN n.id",
)

ENDS_EXIST = "a.space >= 0 AND b.space >= 0"
# Hubs are old names with low ids: the higher end has fewer edges to search.
SET_EDGE = (
    f"MATCH (a:Entity {{id: $source}})-[r:RELATES]->(b:Entity {{id: $target}}) WHERE r.id = $id AND {ENDS_EXIST}"
    " HINT ((b JOIN r) JOIN a) SET r.weight = $weight RETURN r.id"
)
SET_EDGES = (
    "UNWIND $rows AS row MATCH (a:Entity {id: row.source})-[r:RELATES]->(b:Entity {id: row.target})"
    f" WHERE r.id = row.id AND {ENDS_EXIST} SET r.weight = row.weight RETURN r.id"
)
CREATE_EDGE = (
    f"MATCH (a:Entity {{id: $source}}), (b:Entity {{id: $target}}) WHERE {ENDS_EXIST}"
    " CREATE (a)-[r:RELATES {id: $id, source: $source, target: $target, weight: $weight}]->(b) RETURN r.id"
)
SELECT_MAX_NODE = "MATCH (n:Entity) RETURN max(n.id)"
SELECT_MAX_EDGE = "MATCH (:Entity)-[r:RELATES]->(:Entity) RETURN max(r.id)"

BULK_THRESHOLD = 200
# What a COPY takes of the buffer pool for an edge, with room to spare: 300,000 edges do not fit into 32 MiB.
COPIED_ROW_BYTES, MIN_COPIED_ROWS = 400, 10_000
RowValues = dict[str, Any]


class KuzuWriter:
    """Writes through one connection.

    A new row whose id is not above all earlier ids is looked up: the call may be a repetition after a crash between the
    commits of graph and ledger.
    """

    def __init__(self, session: KuzuConnection) -> None:
        self.connection = session
        self._max_node_id = _select_max_id(session, SELECT_MAX_NODE)
        self._max_edge_id = _select_max_id(session, SELECT_MAX_EDGE)

    def upsert(self, nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> list[RowValues]:
        """Create or update nodes, then edges, in one transaction; returns new edges left for `copy_edges`.

        Raises CorruptProjection.
        """
        unique_nodes = {node.id: node for node in nodes}
        unique_edges = {edge.id: edge for edge in edges}
        with self.connection.transaction():
            self._upsert_nodes(unique_nodes.values())
            lacking = self._update_edges(unique_edges.values())
            if len(lacking) < BULK_THRESHOLD:
                self._insert_edges(lacking)
                lacking = []
        self._max_node_id = max(self._max_node_id, *unique_nodes, -1)
        self._max_edge_id = max(self._max_edge_id, *unique_edges, -1)
        return lacking

    def copy_edges(self, edges: Sequence[RowValues]) -> None:
        """Create many edges at once; no read may run, and none of their ends was deleted. Raises RuntimeError."""
        self.connection.copy_edges((row["source"], row["target"], row["id"], row["weight"]) for row in edges)

    def delete(self, nodes: Collection[int], edges: Sequence[GraphEdge]) -> None:
        """Delete edges, then nodes with their remaining edges, in one transaction."""
        with self.connection.transaction():
            self._update_rows(SET_EDGE, SET_EDGES, [_edge_row(edge) | {"weight": 0.0} for edge in edges])
            for node in set(nodes):
                for statement in DELETE_NODE:
                    self.connection.has_rows(statement, {"id": int(node)})

    def _upsert_nodes(self, nodes: Iterable[GraphNode]) -> None:
        fresh, others = list[RowValues](), list[RowValues]()
        for node in nodes:
            surely_new = node.exists_in_graph is False and node.id > self._max_node_id
            (fresh if surely_new else others).append({"id": int(node.id), "space": int(node.space)})
        there = self._update_rows(SET_NODE, SET_NODES, others)
        fresh += [row for row in others if row["id"] not in there]
        if len(fresh) >= BULK_THRESHOLD:
            self.connection.run(CREATE_NODES, {"rows": fresh})
        else:
            for row in fresh:
                self.connection.has_rows(CREATE_NODE, row)

    def _update_edges(self, edges: Iterable[GraphEdge]) -> list[RowValues]:
        """Update the weights of existing edges; returns the missing ones."""
        fresh, others = list[RowValues](), list[RowValues]()
        for edge in edges:
            surely_new = edge.exists_in_graph is False and edge.id > self._max_edge_id
            (fresh if surely_new else others).append(_edge_row(edge))
        there = self._update_rows(SET_EDGE, SET_EDGES, others)
        return fresh + [row for row in others if row["id"] not in there]

    def _insert_edges(self, rows: Iterable[RowValues]) -> None:
        for row in rows:
            if not self.connection.has_rows(CREATE_EDGE, row):
                raise CorruptProjection(f"Relation {row['id']} has an end that is not in the graph.")

    def _update_rows(self, one: str, many: str, rows: Sequence[RowValues]) -> set[int]:
        """Update existing rows; returns their ids."""
        if len(rows) >= BULK_THRESHOLD:
            return {int(found) for [found] in self.connection.run(many, {"rows": rows})}
        return {row["id"] for row in rows if self.connection.has_rows(one, row)}


def build_database(
    module: GraphBackend, file: Path, buffer_pool: int, content: tuple[Iterable[GraphNode], Iterable[GraphEdge]]
) -> None:
    """Create a database of nodes and edges in `file` and close it. Raises RuntimeError."""
    nodes, edges = content
    ends = ((min(edge.source, edge.target), max(edge.source, edge.target), edge) for edge in edges)
    database = open_database(module, file, buffer_pool)
    session = KuzuConnection(module, database)
    try:
        for statement in SCHEMA:
            session.run(statement)
        most = max(MIN_COPIED_ROWS, buffer_pool // COPIED_ROW_BYTES)
        rows = iter((node.id, node.space) for node in nodes)
        while batch := list(islice(rows, most)):
            session.copy_rows("Entity", batch)
        copied = iter((source, target, edge.id, float(edge.weight)) for source, target, edge in ends)
        while edge_batch := list(islice(copied, most)):
            session.copy_edges(edge_batch)
        session.run("CHECKPOINT")
    finally:
        session.close()
        database.close()


def _edge_row(edge: GraphEdge) -> RowValues:
    """An undirected edge is stored from the lower to the higher id."""
    source, target = sorted((int(edge.source), int(edge.target)))
    return {"source": source, "target": target, "id": int(edge.id), "weight": float(edge.weight)}


def _select_max_id(session: KuzuConnection, statement: str) -> int:
    top = session.run(statement)[0][0]
    return -1 if top is None else int(top)
