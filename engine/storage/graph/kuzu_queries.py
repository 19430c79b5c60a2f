"""How a graph database is read: the heaviest edges around some nodes, and all that is there.

Reading the weights of 160,000 edges takes a few milliseconds, ordering them ten times as long. So the weight from
which on an edge belongs to the answer is found by counting first, and only such edges are fetched with their ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from engine.storage.graph.base import Edge, Node

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.storage.graph.kuzu_connection import Session

NEAR = "MATCH (a:Entity)-[r:RELATES]-(b:Entity) WHERE a.id IN $nodes AND a.space IN $spaces"
WEIGHTS = NEAR + " RETURN r.weight, count(r.id), min(r.id), max(r.id)"
TIES = NEAR + " AND r.weight = $weight RETURN (r.id - $low) / $step, count(r.id)"
HEAVY = NEAR + (" AND (r.weight > $weight OR (r.weight = $weight AND r.id <= $last)) RETURN r.id, a.id, b.id, r.weight")
ALL_NODES = "MATCH (n:Entity) WHERE n.space >= 0 RETURN n.id, n.space"
ALL_EDGES = "MATCH (a:Entity)-[r:RELATES]->(b:Entity) WHERE r.weight > 0.0 RETURN r.id, a.id, b.id, r.weight"
SHARE_OF_NODES = "MATCH (n:Entity) RETURN count(n.id), sum(CASE WHEN n.space < 0 THEN 1 ELSE 0 END)"
SHARE_OF_EDGES = (
    "MATCH (:Entity)-[r:RELATES]->(:Entity) RETURN count(r.id), sum(CASE WHEN r.weight > 0.0 THEN 0 ELSE 1 END)"
)
NODE = "MATCH (n:Entity {id: $id}) WHERE n.space >= 0 RETURN n.id"
EDGE = (
    "MATCH (a:Entity {id: $source})-[r:RELATES]->(b:Entity {id: $target}) WHERE r.id = $id AND r.weight > 0.0"
    " RETURN r.id"
)

TIE_STEPS = 500
FEW = 1000
MANY_GONE = 0.2


@dataclass(frozen=True, slots=True)
class Ties:
    """The edges of one weight: how many, and their lowest and highest id."""

    weight: float
    count: int
    low: int
    high: int


def around(session: Session, nodes: Sequence[int], spaces: Sequence[int], limit: int) -> list[Edge]:
    """The `limit` heaviest edges that touch the nodes within the spaces; ties by id."""
    near = {"nodes": list(nodes), "spaces": list(spaces)}
    # An edge between two of the nodes is counted from both ends: twice the limit surely holds the limit.
    wanted = 2 * limit
    found = lightest([Ties(*group) for group in session.run(WEIGHTS, near) if group[0] > 0.0], wanted)
    if found is None:
        return []
    ties, missing = found
    last = ties.high
    if ties.count > missing + FEW:
        step = max(1, (ties.high - ties.low) // TIE_STEPS)
        counts = session.run(TIES, near | {"weight": ties.weight, "low": ties.low, "step": step})
        last = ties.low + step * (bucket_reaching(counts, missing) + 1) - 1
    rows = session.run(HEAVY, near | {"weight": ties.weight, "last": last})
    edges = {row[0]: _edge(*row) for row in rows}
    return sorted(edges.values(), key=lambda edge: (-edge.weight, edge.id))[:limit]


def lacks(session: Session, nodes: Iterable[int], edges: Iterable[Edge]) -> bool:
    """Whether any of these nodes and edges is not there."""
    ends = ({"id": edge.id, "source": edge.source, "target": edge.target} for edge in edges)
    return not (
        all(session.touches(NODE, {"id": node}) for node in nodes) and all(session.touches(EDGE, each) for each in ends)
    )


def many_gone(session: Session) -> bool:
    """Whether so many rows are gone (see kuzu_writing) that it pays to load the graph anew."""
    (nodes, no_nodes), (edges, no_edges) = session.run(SHARE_OF_NODES)[0], session.run(SHARE_OF_EDGES)[0]
    return bool((no_nodes or 0) > MANY_GONE * nodes or (no_edges or 0) > MANY_GONE * edges)


def lightest(groups: Sequence[Ties], wanted: int) -> tuple[Ties, int] | None:
    """The group of equal weights in which the wanted number is reached, and how many are still missing before it."""
    ordered = sorted(groups, key=lambda group: -group.weight)
    missing = wanted
    for group in ordered:
        if group.count >= missing:
            return group, missing
        missing -= group.count
    return (ordered[-1], wanted) if ordered else None


def bucket_reaching(counts: Sequence[Sequence[int]], wanted: int) -> int:
    """The first bucket, in the order of their numbers, up to which there are as many as wanted."""
    ordered = sorted((int(number), int(count)) for number, count in counts)
    sums = accumulate(count for _, count in ordered)
    return next((number for (number, _), total in zip(ordered, sums, strict=True) if total >= wanted), ordered[-1][0])


def everything(session: Session) -> tuple[list[Node], list[Edge]]:
    """All nodes and edges, by id."""
    nodes = zip(*(column.to_pylist() for column in session.arrow(ALL_NODES).columns), strict=True)
    edges = zip(*(column.to_pylist() for column in session.arrow(ALL_EDGES).columns), strict=True)
    return (
        sorted((_node(*row) for row in nodes), key=lambda node: node.id),
        sorted((_edge(*row) for row in edges), key=lambda edge: edge.id),
    )


def _node(number: int, space: int) -> Node:
    return Node(number, space, known=True)


def _edge(number: int, one: int, other: int, weight: float) -> Edge:
    return Edge(number, min(one, other), max(one, other), weight, known=True)
