"""What a picture shows: the names around one name, and what links them. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine import normalize_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine import ContextEntity, ContextRelation, Neighbourhood

MAX_NODES = 40  # names in a picture
MAX_PER_NODE = 3  # names of the second ring that one name of the first may bring along


@dataclass(frozen=True, slots=True)
class Node:
    """A name. `ring` is how far it is from the middle: 0, 1 or 2."""

    key: str
    name: str
    type: str
    ring: int


@dataclass(frozen=True, slots=True)
class Edge:
    """What links two names (their keys, in alphabetical order); `words` is the first of its keywords."""

    ends: tuple[str, str]
    weight: float
    keyword: str


@dataclass(frozen=True, slots=True)
class GraphModel:
    """Names and what links them; the first node stands in the middle."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    @property
    def center(self) -> Node:
        """The name that was asked for."""
        return self.nodes[0]


def build_graph_model(near: Neighbourhood, further: Sequence[Neighbourhood] = (), most: int = MAX_NODES) -> GraphModel:
    """A neighbourhood as a picture: its names, then the weightiest of theirs, and all links between those shown.

    An unknown name gives an empty sketch.
    """
    if near.entity is None:
        return GraphModel((), ())
    told = _NeighbourhoodIndex()
    for each in (near, *further):
        told.add(each)
    shown = {normalize_name(near.entity.name): 0}
    for key, ring in (
        *told.neighbours(near, 1),
        *((key, 2) for each in further for key, _ in told.neighbours(each, 2)),
    ):
        if key not in shown and len(shown) < most:
            shown[key] = ring
    nodes = tuple(Node(key, told.rows[key].name, told.rows[key].type, ring) for key, ring in shown.items())
    edges = tuple(edge for edge in told.edges() if edge.ends[0] in shown and edge.ends[1] in shown)
    return GraphModel(nodes, edges)


@dataclass(frozen=True, slots=True)
class _NeighbourhoodIndex:
    """Everything that some neighbourhoods tell, by keys."""

    rows: dict[str, ContextEntity] = field(default_factory=dict)
    links: dict[tuple[str, str], ContextRelation] = field(default_factory=dict)

    def add(self, near: Neighbourhood) -> None:
        for row in (near.entity, *near.neighbours):
            if row is not None:
                self.rows.setdefault(normalize_name(row.name), row)
        for each in near.relations:
            self.links.setdefault(_edge_keys(each), each)

    def neighbours(self, near: Neighbourhood, ring: int) -> list[tuple[str, int]]:
        """The other ends of its relations, weightiest first; of the second ring only a few."""
        middle = normalize_name(near.entity.name) if near.entity else ""
        found = [
            key
            for each in _sort_by_weight(near.relations)
            for key in _edge_keys(each)
            if key != middle and key in self.rows
        ]
        return [(key, ring) for key in (found if ring == 1 else found[:MAX_PER_NODE])]

    def edges(self) -> list[Edge]:
        return [
            Edge(_edge_keys(each), each.weight, _first_keyword(each.keywords))
            for each in _sort_by_weight(self.links.values())
        ]


def _sort_by_weight(relations: Iterable[ContextRelation]) -> list[ContextRelation]:
    return sorted(relations, key=lambda each: (-each.weight, _edge_keys(each)))


def _edge_keys(relation: ContextRelation) -> tuple[str, str]:
    one, other = normalize_name(relation.source), normalize_name(relation.target)
    return min(one, other), max(one, other)


def _first_keyword(keywords: str) -> str:
    return keywords.partition(",")[0].strip()
