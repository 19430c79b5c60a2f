"""Reads of a graph database: the heaviest edges of some nodes, and the whole content.

Reading the weights of 160,000 edges takes a few milliseconds, sorting them ten times as long. So the lowest weight of
the answer is found by counting first, and only edges from there on are fetched with their ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from engine.storage.graph.base import GraphEdge, GraphNode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.storage.graph.kuzu_connection import KuzuConnection

MATCH_NEIGHBORS = "MATCH (a:Entity)-[r:RELATES]-(b:Entity) WHERE a.id IN $nodes AND a.space IN $spaces"
COUNT_BY_WEIGHT = MATCH_NEIGHBORS + " RETURN r.weight, count(r.id), min(r.id), max(r.id)"
COUNT_TIES = MATCH_NEIGHBORS + " AND r.weight = $weight RETURN (r.id - $low) / $step, count(r.id)"
FETCH_HEAVIEST = MATCH_NEIGHBORS + (
    " AND (r.weight > $weight OR (r.weight = $weight AND r.id <= $last)) RETURN r.id, a.id, b.id, r.weight"
)
FETCH_NODES = "MATCH (n:Entity) WHERE n.space >= 0 RETURN n.id, n.space"
FETCH_EDGES = "MATCH (a:Entity)-[r:RELATES]->(b:Entity) WHERE r.weight > 0.0 RETURN r.id, a.id, b.id, r.weight"
COUNT_DELETED_NODES = "MATCH (n:Entity) RETURN count(n.id), sum(CASE WHEN n.space < 0 THEN 1 ELSE 0 END)"
COUNT_DELETED_EDGES = (
    "MATCH (:Entity)-[r:RELATES]->(:Entity) RETURN count(r.id), sum(CASE WHEN r.weight > 0.0 THEN 0 ELSE 1 END)"
)
FIND_NODE = "MATCH (n:Entity {id: $id}) WHERE n.space >= 0 RETURN n.id"
FIND_EDGE = (
    "MATCH (a:Entity {id: $source})-[r:RELATES]->(b:Entity {id: $target}) WHERE r.id = $id AND r.weight > 0.0"
    " RETURN r.id"
)

TIE_BUCKETS = 500
FEW_TIES = 1000
MAX_DELETED_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class WeightGroup:
    """The edges of one weight: their number, lowest and highest id."""

    weight: float
    count: int
    lowest_id: int
    highest_id: int


def heaviest_edges(session: KuzuConnection, nodes: Sequence[int], spaces: Sequence[int], limit: int) -> list[GraphEdge]:
    """The `limit` heaviest edges of the nodes within the spaces; equal weights by id."""
    near = {"nodes": list(nodes), "spaces": list(spaces)}
    # Edges between two of the nodes are counted from both ends: twice the limit contains the limit.
    target_count = 2 * limit
    found = find_cutoff_group(
        [WeightGroup(*group) for group in session.run(COUNT_BY_WEIGHT, near) if group[0] > 0.0], target_count
    )
    if found is None:
        return []
    ties, missing = found
    last = ties.highest_id
    if ties.count > missing + FEW_TIES:
        step = max(1, (ties.highest_id - ties.lowest_id) // TIE_BUCKETS)
        counts = session.run(COUNT_TIES, near | {"weight": ties.weight, "low": ties.lowest_id, "step": step})
        last = ties.lowest_id + step * (find_cutoff_bucket(counts, missing) + 1) - 1
    rows = session.run(FETCH_HEAVIEST, near | {"weight": ties.weight, "last": last})
    edges = {row[0]: _build_edge(*row) for row in rows}
    return sorted(edges.values(), key=lambda edge: (-edge.weight, edge.id))[:limit]


def has_missing_rows(session: KuzuConnection, nodes: Iterable[int], edges: Iterable[GraphEdge]) -> bool:
    """Whether any of these nodes and edges is missing."""
    ends = ({"id": edge.id, "source": edge.source, "target": edge.target} for edge in edges)
    return not (
        all(session.has_rows(FIND_NODE, {"id": node}) for node in nodes)
        and all(session.has_rows(FIND_EDGE, each) for each in ends)
    )


def needs_reload(session: KuzuConnection) -> bool:
    """Whether enough rows are deleted (see kuzu_writer) that reloading the graph is worth its cost."""
    (nodes, no_nodes), (edges, no_edges) = session.run(COUNT_DELETED_NODES)[0], session.run(COUNT_DELETED_EDGES)[0]
    return bool((no_nodes or 0) > MAX_DELETED_SHARE * nodes or (no_edges or 0) > MAX_DELETED_SHARE * edges)


def find_cutoff_group(groups: Sequence[WeightGroup], target_count: int) -> tuple[WeightGroup, int] | None:
    """The group of equal weights that reaches the limit, and the number of edges missing before it."""
    ordered = sorted(groups, key=lambda group: -group.weight)
    missing = target_count
    for group in ordered:
        if group.count >= missing:
            return group, missing
        missing -= group.count
    return (ordered[-1], target_count) if ordered else None


def find_cutoff_bucket(counts: Sequence[Sequence[int]], target_count: int) -> int:
    """The first bucket, in numerical order, up to which the counts reach the limit."""
    ordered = sorted((int(number), int(count)) for number, count in counts)
    sums = accumulate(count for _, count in ordered)
    return next(
        (number for (number, _), total in zip(ordered, sums, strict=True) if total >= target_count), ordered[-1][0]
    )


def fetch_graph(session: KuzuConnection) -> tuple[list[GraphNode], list[GraphEdge]]:
    """All nodes and edges, by id."""
    nodes = zip(*(column.to_pylist() for column in session.fetch_arrow(FETCH_NODES).columns), strict=True)
    edges = zip(*(column.to_pylist() for column in session.fetch_arrow(FETCH_EDGES).columns), strict=True)
    return (
        sorted((_build_node(*row) for row in nodes), key=lambda node: node.id),
        sorted((_build_edge(*row) for row in edges), key=lambda edge: edge.id),
    )


def _build_node(number: int, space: int) -> GraphNode:
    return GraphNode(number, space, exists_in_graph=True)


def _build_edge(number: int, one: int, other: int, weight: float) -> GraphEdge:
    return GraphEdge(number, min(one, other), max(one, other), weight, exists_in_graph=True)
