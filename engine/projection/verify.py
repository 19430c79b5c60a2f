"""Holding both projections against the ledger, and listing every difference."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from engine.storage.ledger.queries import stats
from engine.storage.ledger.work import stale_keys, work_queue
from engine.storage.ledger.work.stale_keys import Stale

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.storage.graph.base import Edge, Graph, Node
    from engine.storage.ledger import Ledger
    from engine.storage.sqlite.connection import Connection
    from engine.storage.vectors.base import Row, Table, Vectors

Value = TypeVar("Value", int, tuple[int, int])
TABLES: tuple[tuple[Stale, Table], ...] = (
    (Stale.CHUNK, "chunks"),
    (Stale.NAME, "entities"),
    (Stale.PAIR, "relations"),
)


@dataclass(frozen=True, slots=True)
class Difference:
    """A key whose projection is not what the ledger says, in words."""

    kind: Stale
    id: int
    words: str

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True, slots=True)
class Report:
    """What a verification found, and how many things it looked at."""

    differences: tuple[Difference, ...]
    compared: int

    @property
    def clean(self) -> bool:
        """Whether both projections are what the ledger says."""
        return not self.differences


@dataclass(frozen=True, slots=True)
class Expected:
    """What the ledger says that the projections hold; keys in `stale` may differ."""

    nodes: dict[int, Node]
    edges: dict[int, Edge]
    places: dict[Table, dict[int, tuple[int, int]]]
    stale: frozenset[tuple[Stale, int]]


async def expected(db: Connection) -> Expected:
    """Read it from the ledger, in one snapshot."""
    return Expected(
        {node.id: node for node in await stats.nodes(db)},
        {edge.id: edge for edge in await stats.edges(db)},
        {
            "chunks": await stats.chunk_places(db),
            "entities": await stats.profile_places(db, "entity"),
            "relations": await stats.profile_places(db, "relation"),
        },
        frozenset(await stale_keys.all_stale(db) + await work_queue.given_up(db)),
    )


async def verify(ledger: Ledger, graph: Graph, vectors: Vectors) -> Report:
    """Compare; the caller sees to it that nobody projects meanwhile.

    Chunks are embedded all the same, so whatever differs is looked at once more: what differs in both looks is told.
    """
    first = await _look(ledger, graph, vectors)
    if first.clean:
        return first
    again = frozenset((await _look(ledger, graph, vectors)).differences)
    return Report(tuple(each for each in first.differences if each in again), first.compared)


async def _look(ledger: Ledger, graph: Graph, vectors: Vectors) -> Report:
    wanted = await ledger.read(expected)
    nodes, edges = await graph.everything()
    found = [*compare_nodes(wanted.nodes, nodes), *compare_edges(wanted.edges, edges)]
    compared = len(wanted.nodes) + len(wanted.edges)
    for kind, table in TABLES:
        places = wanted.places[table]
        found += compare_rows(kind, table, places, await vectors.everything(table))
        compared += len(places)
    return Report(tuple(each for each in found if (each.kind, each.id) not in wanted.stale), compared)


def compare_nodes(wanted: Mapping[int, Node], found: list[Node]) -> list[Difference]:
    """Entities that the graph lacks, has too much, or has otherwise."""
    held = {node.id: node.space for node in found}
    differences = [
        Difference(Stale.NAME, id_, f"graph: entity {id_} is there twice")
        for id_ in _twice([node.id for node in found])
    ]
    for id_, node in wanted.items():
        if id_ not in held:
            differences.append(Difference(Stale.NAME, id_, f"graph: entity {id_} is missing"))
        elif held[id_] != node.space:
            words = f"graph: entity {id_} is in space {held[id_]} instead of {node.space}"
            differences.append(Difference(Stale.NAME, id_, words))
    extra = held.keys() - wanted.keys()
    return differences + [Difference(Stale.NAME, id_, f"graph: entity {id_} is too much") for id_ in sorted(extra)]


def compare_edges(wanted: Mapping[int, Edge], found: list[Edge]) -> list[Difference]:
    """Relations that the graph lacks, has too much, or has otherwise."""
    held = {edge.id: ({edge.source, edge.target}, edge.weight) for edge in found}
    differences = [
        Difference(Stale.PAIR, id_, f"graph: relation {id_} is there twice")
        for id_ in _twice([edge.id for edge in found])
    ]
    for id_, edge in wanted.items():
        if id_ not in held:
            differences.append(Difference(Stale.PAIR, id_, f"graph: relation {id_} is missing"))
        elif held[id_] != ({edge.source, edge.target}, edge.weight):
            words = f"graph: relation {id_} has weight {held[id_][1]:g} instead of {edge.weight:g}, or other ends"
            differences.append(Difference(Stale.PAIR, id_, words))
    extra = held.keys() - wanted.keys()
    return differences + [Difference(Stale.PAIR, id_, f"graph: relation {id_} is too much") for id_ in sorted(extra)]


def compare_rows(
    kind: Stale, table: Table, wanted: Mapping[int, tuple[int, int]], found: list[Row]
) -> list[Difference]:
    """Vectors that are missing, too much, doubled, or in another space or room than they should be."""
    places: dict[int, set[tuple[int, int]]] = {}
    for row in found:
        places.setdefault(row.id, set()).add((row.space, row.room))
    doubled = {id_ for id_, _ in _twice([(row.id, row.part) for row in found])}
    differences = [Difference(kind, id_, f"vectors: {table} {id_} is there twice") for id_ in sorted(doubled)]
    for id_, place in wanted.items():
        if id_ not in places:
            differences.append(Difference(kind, id_, f"vectors: {table} {id_} is missing"))
        elif places[id_] != {place}:
            words = f"vectors: {table} {id_} is in (space, room) {sorted(places[id_])} instead of {place}"
            differences.append(Difference(kind, id_, words))
    extra = sorted(places.keys() - wanted.keys())
    return differences + [Difference(kind, id_, f"vectors: {table} {id_} is too much") for id_ in extra]


def _twice(values: list[Value]) -> list[Value]:
    return [value for value, times in Counter(values).items() if times > 1]
