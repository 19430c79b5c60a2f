"""What a picture shows: the names around one name, and what links them. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.text.names import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.models import EntityRow, RelationRow
    from engine.retrieval.retriever import Neighbourhood

MOST = 40  # names in a picture
PER_NAME = 3  # names of the second ring that one name of the first may bring along


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
    words: str


@dataclass(frozen=True, slots=True)
class Sketch:
    """Names and what links them; the first node stands in the middle."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    @property
    def middle(self) -> Node:
        """The name that was asked for."""
        return self.nodes[0]


def sketch(near: Neighbourhood, further: Sequence[Neighbourhood] = (), most: int = MOST) -> Sketch:
    """A neighbourhood as a picture: its names, then the weightiest of theirs, and all links between those shown.

    An unknown name gives an empty sketch.
    """
    if near.entity is None:
        return Sketch((), ())
    told = _Told()
    for each in (near, *further):
        told.take(each)
    shown = {canonical(near.entity.name): 0}
    for key, ring in (*told.around(near, 1), *((key, 2) for each in further for key, _ in told.around(each, 2))):
        if key not in shown and len(shown) < most:
            shown[key] = ring
    nodes = tuple(Node(key, told.rows[key].name, told.rows[key].type, ring) for key, ring in shown.items())
    edges = tuple(edge for edge in told.edges() if edge.ends[0] in shown and edge.ends[1] in shown)
    return Sketch(nodes, edges)


@dataclass(frozen=True, slots=True)
class _Told:
    """Everything that some neighbourhoods tell, by keys."""

    rows: dict[str, EntityRow] = field(default_factory=dict)
    links: dict[tuple[str, str], RelationRow] = field(default_factory=dict)

    def take(self, near: Neighbourhood) -> None:
        for row in (near.entity, *near.others):
            if row is not None:
                self.rows.setdefault(canonical(row.name), row)
        for each in near.relations:
            self.links.setdefault(_ends(each), each)

    def around(self, near: Neighbourhood, ring: int) -> list[tuple[str, int]]:
        """The other ends of its relations, weightiest first; of the second ring only a few."""
        middle = canonical(near.entity.name) if near.entity else ""
        found = [key for each in _heaviest(near.relations) for key in _ends(each) if key != middle and key in self.rows]
        return [(key, ring) for key in (found if ring == 1 else found[:PER_NAME])]

    def edges(self) -> list[Edge]:
        return [Edge(_ends(each), each.weight, _first(each.keywords)) for each in _heaviest(self.links.values())]


def _heaviest(relations: Iterable[RelationRow]) -> list[RelationRow]:
    return sorted(relations, key=lambda each: (-each.weight, _ends(each)))


def _ends(relation: RelationRow) -> tuple[str, str]:
    one, other = canonical(relation.source), canonical(relation.target)
    return min(one, other), max(one, other)


def _first(keywords: str) -> str:
    return keywords.partition(",")[0].strip()
