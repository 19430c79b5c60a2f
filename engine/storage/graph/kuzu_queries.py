"""Reads of a graph database: the heaviest edges of some nodes, and the whole content.

One statement fetches all edges of the nodes as arrays, and the heaviest are chosen here. A second statement, a join
with the nodes at the other ends, or rows as Python objects would each cost more than the additional edges of a hub. The
library reads the ids of all nodes, because it uses its index only for one node a statement; 40 statements cost five to
ten times as much.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.graph.base import GraphEdge, GraphNode
from engine.storage.graph.edge_arrays import build_edge, select_heaviest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np

    from engine.storage.graph.kuzu_connection import KuzuConnection

FETCH_NEIGHBORS = (
    "MATCH (a:Entity)-[r:RELATES]-(:Entity) WHERE a.id IN $nodes AND a.space IN $spaces"
    " RETURN r.id, r.source, r.target, r.weight"
)
FETCH_NODES = "MATCH (n:Entity) WHERE n.space >= 0 RETURN n.id, n.space"
FETCH_EDGES = "MATCH (:Entity)-[r:RELATES]->(:Entity) WHERE r.weight > 0.0 RETURN r.id, r.source, r.target, r.weight"
COUNT_NODES = "MATCH (n:Entity) WHERE n.space >= 0 RETURN count(*)"
COUNT_EDGES = "MATCH (:Entity)-[r:RELATES]->(:Entity) WHERE r.weight > 0.0 RETURN count(*)"
COUNT_DELETED_NODES = "MATCH (n:Entity) RETURN count(n.id), sum(CASE WHEN n.space < 0 THEN 1 ELSE 0 END)"
COUNT_DELETED_EDGES = (
    "MATCH (:Entity)-[r:RELATES]->(:Entity) RETURN count(r.id), sum(CASE WHEN r.weight > 0.0 THEN 0 ELSE 1 END)"
)
FIND_NODE = "MATCH (n:Entity {id: $id}) WHERE n.space >= 0 RETURN n.id"
FIND_EDGE = (
    "MATCH (a:Entity {id: $source})-[r:RELATES]->(b:Entity {id: $target}) WHERE r.id = $id AND r.weight > 0.0"
    " RETURN r.id"
)

MAX_DELETED_SHARE = 0.2


def heaviest_edges(session: KuzuConnection, nodes: Sequence[int], spaces: Sequence[int], limit: int) -> list[GraphEdge]:
    """The `limit` heaviest edges of the nodes within the spaces; equal weights by id."""
    columns = session.fetch_columns(FETCH_NEIGHBORS, {"nodes": list(nodes), "spaces": list(spaces)})
    # Edges between two of the nodes come from both ends: twice the limit contains the limit.
    chosen = select_heaviest(columns[0], columns[3], 2 * limit)
    edges = dict.fromkeys(zip(*(column[chosen].tolist() for column in columns), strict=True))
    return [build_edge(*edge) for edge in list(edges)[:limit]]


def fetch_arrays(session: KuzuConnection, max_rows: int) -> tuple[list[np.ndarray], list[np.ndarray]] | None:
    """The columns of all nodes and edges, for `EdgeArrays`; None if there are more rows of one of them."""
    if any(session.run(statement)[0][0] > max_rows for statement in (COUNT_NODES, COUNT_EDGES)):
        return None
    return session.fetch_columns(FETCH_NODES), session.fetch_columns(FETCH_EDGES)


def has_missing_rows(session: KuzuConnection, nodes: Iterable[int], edges: Iterable[GraphEdge]) -> bool:
    """Whether any of these nodes and edges is missing."""
    ends = ({"id": edge.id, "source": edge.source, "target": edge.target} for edge in edges)
    return not (
        all(session.has_rows(FIND_NODE, {"id": node}) for node in nodes)
        and all(session.has_rows(FIND_EDGE, end) for end in ends)
    )


def needs_reload(session: KuzuConnection) -> bool:
    """Whether enough rows are deleted (see kuzu_writer) that reloading the graph is worth its cost."""
    (nodes, no_nodes), (edges, no_edges) = session.run(COUNT_DELETED_NODES)[0], session.run(COUNT_DELETED_EDGES)[0]
    return bool((no_nodes or 0) > MAX_DELETED_SHARE * nodes or (no_edges or 0) > MAX_DELETED_SHARE * edges)


def fetch_graph(session: KuzuConnection) -> tuple[list[GraphNode], list[GraphEdge]]:
    """All nodes and edges, by id."""
    nodes = zip(*(column.tolist() for column in session.fetch_columns(FETCH_NODES)), strict=True)
    edges = zip(*(column.tolist() for column in session.fetch_columns(FETCH_EDGES)), strict=True)
    return (
        sorted((_build_node(*row) for row in nodes), key=lambda node: node.id),
        sorted((build_edge(*row) for row in edges), key=lambda edge: edge.id),
    )


def _build_node(id_: int, space: int) -> GraphNode:
    return GraphNode(id_, space, exists_in_graph=True)
