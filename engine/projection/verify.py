"""Compare graph and vectors with the ledger and list every difference."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from engine.storage.ledger.records import KeyKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.storage.graph.base import GraphEdge, GraphNode, GraphStore
    from engine.storage.ledger import Ledger
    from engine.storage.vectors.base import VectorRow, VectorStore, VectorTable

Value = TypeVar("Value", int, tuple[int, int])
TABLES_BY_KIND: tuple[tuple[KeyKind, VectorTable], ...] = (
    (KeyKind.CHUNK, "chunks"),
    (KeyKind.NAME, "entities"),
    (KeyKind.PAIR, "relations"),
)


@dataclass(frozen=True, slots=True)
class Difference:
    """A key whose graph or vector data differs from the ledger."""

    kind: KeyKind
    id: int
    message: str

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """Differences found, and the number of compared items."""

    differences: tuple[Difference, ...]
    compared: int

    @property
    def is_clean(self) -> bool:
        """Whether graph and vectors match the ledger."""
        return not self.differences


async def verify_projections(ledger: Ledger, graph: GraphStore, vectors: VectorStore) -> VerificationReport:
    """Compare the stores; the caller must suspend projection.

    Chunks are still embedded meanwhile, so a difference counts only if a second comparison shows it too.
    """
    first = await _compare_stores(ledger, graph, vectors)
    if first.is_clean:
        return first
    again = frozenset((await _compare_stores(ledger, graph, vectors)).differences)
    return VerificationReport(tuple(each for each in first.differences if each in again), first.compared)


async def _compare_stores(ledger: Ledger, graph: GraphStore, vectors: VectorStore) -> VerificationReport:
    wanted = await ledger.stats.load_expected()
    nodes, edges = await graph.list_all()
    found = [*compare_nodes(wanted.nodes, nodes), *compare_edges(wanted.edges, edges)]
    compared = len(wanted.nodes) + len(wanted.edges)
    for kind, table in TABLES_BY_KIND:
        places = wanted.locations[table]
        found += compare_rows(kind, table, places, await vectors.list_rows(table))
        compared += len(places)
    return VerificationReport(tuple(each for each in found if (each.kind, each.id) not in wanted.stale), compared)


def compare_nodes(wanted: Mapping[int, GraphNode], found: list[GraphNode]) -> list[Difference]:
    """Entities that are missing, unexpected or different in the graph."""
    held = {node.id: node.space for node in found}
    differences = [
        Difference(KeyKind.NAME, id_, f"graph: entity {id_} is there twice")
        for id_ in _find_duplicates([node.id for node in found])
    ]
    for id_, node in wanted.items():
        if id_ not in held:
            differences.append(Difference(KeyKind.NAME, id_, f"graph: entity {id_} is missing"))
        elif held[id_] != node.space:
            words = f"graph: entity {id_} is in space {held[id_]} instead of {node.space}"
            differences.append(Difference(KeyKind.NAME, id_, words))
    extra = held.keys() - wanted.keys()
    return differences + [Difference(KeyKind.NAME, id_, f"graph: entity {id_} is too much") for id_ in sorted(extra)]


def compare_edges(wanted: Mapping[int, GraphEdge], found: list[GraphEdge]) -> list[Difference]:
    """Relations that are missing, unexpected or different in the graph."""
    held = {edge.id: ({edge.source, edge.target}, edge.weight) for edge in found}
    differences = [
        Difference(KeyKind.PAIR, id_, f"graph: relation {id_} is there twice")
        for id_ in _find_duplicates([edge.id for edge in found])
    ]
    for id_, edge in wanted.items():
        if id_ not in held:
            differences.append(Difference(KeyKind.PAIR, id_, f"graph: relation {id_} is missing"))
        elif held[id_] != ({edge.source, edge.target}, edge.weight):
            words = f"graph: relation {id_} has weight {held[id_][1]:g} instead of {edge.weight:g}, or other ends"
            differences.append(Difference(KeyKind.PAIR, id_, words))
    extra = held.keys() - wanted.keys()
    return differences + [Difference(KeyKind.PAIR, id_, f"graph: relation {id_} is too much") for id_ in sorted(extra)]


def compare_rows(
    kind: KeyKind, table: VectorTable, wanted: Mapping[int, tuple[int, int]], found: list[VectorRow]
) -> list[Difference]:
    """Vectors that are missing, unexpected, duplicated, or in the wrong space or room."""
    places: dict[int, set[tuple[int, int]]] = {}
    for row in found:
        places.setdefault(row.id, set()).add((row.space, row.room))
    doubled = {id_ for id_, _ in _find_duplicates([(row.id, row.part) for row in found])}
    differences = [Difference(kind, id_, f"vectors: {table} {id_} is there twice") for id_ in sorted(doubled)]
    for id_, place in wanted.items():
        if id_ not in places:
            differences.append(Difference(kind, id_, f"vectors: {table} {id_} is missing"))
        elif places[id_] != {place}:
            words = f"vectors: {table} {id_} is in (space, room) {sorted(places[id_])} instead of {place}"
            differences.append(Difference(kind, id_, words))
    extra = sorted(places.keys() - wanted.keys())
    return differences + [Difference(kind, id_, f"vectors: {table} {id_} is too much") for id_ in extra]


def _find_duplicates(values: list[Value]) -> list[Value]:
    return [value for value, times in Counter(values).items() if times > 1]
