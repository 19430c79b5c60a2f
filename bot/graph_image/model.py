"""The graph that a picture shows: entities around one entity, and their relations. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.text.names import normalize_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine import ContextEntity, ContextRelation, Neighborhood

MAX_NODES = 40
MAX_PER_NODE = 3  # nodes of the outer ring for each node of the inner ring


@dataclass(frozen=True, slots=True)
class Node:
    """An entity; `ring` is its distance from the center: 0, 1 or 2."""

    key: str
    name: str
    type: str
    ring: int


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation of two entities, by their keys in alphabetical order; `keyword` is the first of its keywords."""

    ends: tuple[str, str]
    weight: float
    keyword: str


@dataclass(frozen=True, slots=True)
class GraphModel:
    """Nodes and edges; the first node is the center."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    @property
    def center(self) -> Node:
        """The entity that was asked for."""
        return self.nodes[0]


def build_graph_model(neighborhood: Neighborhood, others: Sequence[Neighborhood] = ()) -> GraphModel:
    """Select the nodes: an entity, its neighbors, then the heaviest of theirs; and all edges between them.

    The graph is empty for an unknown entity.
    """
    if neighborhood.entity is None:
        return GraphModel((), ())
    index = _NeighborhoodIndex()
    for other in (neighborhood, *others):
        index.add(other)
    shown = {normalize_name(neighborhood.entity.name): 0}
    for key, ring in (
        *index.neighbors(neighborhood, 1),
        *((key, 2) for other in others for key, _ in index.neighbors(other, 2)),
    ):
        if key not in shown and len(shown) < MAX_NODES:
            shown[key] = ring
    nodes = tuple(Node(key, index.rows[key].name, index.rows[key].type, ring) for key, ring in shown.items())
    edges = tuple(edge for edge in index.edges() if edge.ends[0] in shown and edge.ends[1] in shown)
    return GraphModel(nodes, edges)


@dataclass(frozen=True, slots=True)
class _NeighborhoodIndex:
    """The entities and relations of several neighborhoods by their keys."""

    rows: dict[str, ContextEntity] = field(default_factory=dict)
    links: dict[tuple[str, str], ContextRelation] = field(default_factory=dict)

    def add(self, neighborhood: Neighborhood) -> None:
        for row in (neighborhood.entity, *neighborhood.neighbors):
            if row is not None:
                self.rows.setdefault(normalize_name(row.name), row)
        for relation in neighborhood.relations:
            self.links.setdefault(_edge_keys(relation), relation)

    def neighbors(self, neighborhood: Neighborhood, ring: int) -> list[tuple[str, int]]:
        """The other ends of its relations, the heaviest first; only MAX_PER_NODE for the outer ring."""
        middle = normalize_name(neighborhood.entity.name) if neighborhood.entity else ""
        found = [
            key
            for relation in _sort_by_weight(neighborhood.relations)
            for key in _edge_keys(relation)
            if key != middle and key in self.rows
        ]
        return [(key, ring) for key in (found if ring == 1 else found[:MAX_PER_NODE])]

    def edges(self) -> list[Edge]:
        return [
            Edge(_edge_keys(relation), relation.weight, _first_keyword(relation.keywords))
            for relation in _sort_by_weight(self.links.values())
        ]


def _sort_by_weight(relations: Iterable[ContextRelation]) -> list[ContextRelation]:
    return sorted(relations, key=lambda each: (-each.weight, _edge_keys(each)))


def _edge_keys(relation: ContextRelation) -> tuple[str, str]:
    one, other = normalize_name(relation.source), normalize_name(relation.target)
    return min(one, other), max(one, other)


def _first_keyword(keywords: str) -> str:
    return keywords.partition(",")[0].strip()
