"""Compare graph and vectors with the ledger and list every difference."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from engine.llm.checked_embedder import embedder_identity
from engine.storage.ledger.records import KeyKind
from engine.text.similarity import is_same_vector

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from engine.llm.base import Embedder
    from engine.storage.graph.base import GraphEdge, GraphNode, GraphStore
    from engine.storage.ledger import LedgerStore
    from engine.storage.vectors.base import VectorRow, VectorStore, VectorTable

Value = TypeVar("Value", int, tuple[int, int])
Item = TypeVar("Item", "GraphNode", "GraphEdge")
BATCH = 10_000  # vectors compared at once
MAX_LENGTH_ERROR = 0.02  # of a rounded vector of length one
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


async def verify_projections(
    ledger: LedgerStore, graph: GraphStore, vectors: VectorStore, embedder: Embedder
) -> VerificationReport:
    """Compare the stores; the caller must suspend projection.

    Of the vectors of chunks, also their values are compared, with those in the ledger. It has none of entities and
    relations: of theirs only place and length are, so that one that was exchanged for another one passes.
    Embedding of chunks continues, so a difference counts only if a second comparison shows it too.
    """
    first = await _compare_stores(ledger, graph, vectors, embedder)
    if first.is_clean:
        return first
    again = frozenset((await _compare_stores(ledger, graph, vectors, embedder)).differences)
    return VerificationReport(
        tuple(difference for difference in first.differences if difference in again), first.compared
    )


async def _compare_stores(
    ledger: LedgerStore, graph: GraphStore, vectors: VectorStore, embedder: Embedder
) -> VerificationReport:
    expected = await ledger.stats.load_expected()
    nodes, edges = await graph.list_all()
    differences = [*compare_nodes(expected.nodes, nodes), *compare_edges(expected.edges, edges)]
    compared = len(expected.nodes) + len(expected.edges)
    for kind, table in TABLES_BY_KIND:
        locations = expected.locations[table]
        differences += compare_rows(kind, table, locations, await vectors.list_rows(table))
        wrong = await find_damaged(vectors, table, locations)
        if table == "chunks":
            wrong |= await find_different_chunks(ledger, vectors, embedder_identity(embedder), embedder.dim)
        differences += [Difference(kind, id_, f"vectors: {table} {id_} has another vector") for id_ in sorted(wrong)]
        compared += len(locations)
    return VerificationReport(
        tuple(difference for difference in differences if (difference.kind, difference.id) not in expected.stale),
        compared,
    )


def compare_nodes(expected: Mapping[int, GraphNode], found: list[GraphNode]) -> list[Difference]:
    """Entities that are missing, unexpected or different in the graph."""

    def describe(actual: GraphNode, node: GraphNode) -> str:
        return "" if actual.space == node.space else f"is in space {actual.space} instead of {node.space}"

    return _compare_graph((KeyKind.NAME, "entity"), expected, found, describe)


def compare_edges(expected: Mapping[int, GraphEdge], found: list[GraphEdge]) -> list[Difference]:
    """Relations that are missing, unexpected or different in the graph."""

    def describe(actual: GraphEdge, edge: GraphEdge) -> str:
        is_same = ({actual.source, actual.target}, actual.weight) == ({edge.source, edge.target}, edge.weight)
        return "" if is_same else f"has weight {actual.weight:g} instead of {edge.weight:g}, or other ends"

    return _compare_graph((KeyKind.PAIR, "relation"), expected, found, describe)


def _compare_graph(
    kind: tuple[KeyKind, str],
    expected: Mapping[int, Item],
    found: Sequence[Item],
    describe: Callable[[Item, Item], str],
) -> list[Difference]:
    """The items that exist twice, are missing, differ as `describe` says, or are unexpected. `kind`: with its name."""
    actual = {item.id: item for item in found}
    problems = [(id_, "exists twice") for id_ in _find_duplicates([item.id for item in found])]
    for id_, item in expected.items():
        if words := describe(actual[id_], item) if id_ in actual else "is missing":
            problems.append((id_, words))
    problems += [(id_, "is unexpected") for id_ in sorted(actual.keys() - expected.keys())]
    return [Difference(kind[0], id_, f"graph: {kind[1]} {id_} {words}") for id_, words in problems]


def compare_rows(
    kind: KeyKind, table: VectorTable, expected: Mapping[int, tuple[int, int]], found: list[VectorRow]
) -> list[Difference]:
    """Vectors that are missing, unexpected, duplicated, or in the wrong space or room."""
    locations: dict[int, set[tuple[int, int]]] = {}
    for row in found:
        locations.setdefault(row.id, set()).add((row.space, row.room))
    doubled = {id_ for id_, _ in _find_duplicates([(row.id, row.part) for row in found])}
    differences = [Difference(kind, id_, f"vectors: {table} {id_} exists twice") for id_ in sorted(doubled)]
    for id_, location in expected.items():
        if id_ not in locations:
            differences.append(Difference(kind, id_, f"vectors: {table} {id_} is missing"))
        elif locations[id_] != {location}:
            words = f"vectors: {table} {id_} is in (space, room) {sorted(locations[id_])} instead of {location}"
            differences.append(Difference(kind, id_, words))
    extra = sorted(locations.keys() - expected.keys())
    return differences + [Difference(kind, id_, f"vectors: {table} {id_} is unexpected") for id_ in extra]


def _find_duplicates(values: list[Value]) -> list[Value]:
    return [value for value, times in Counter(values).items() if times > 1]


async def find_different_chunks(ledger: LedgerStore, vectors: VectorStore, embedder: str, dim: int) -> set[int]:
    """The chunks whose vectors differ from those in the ledger; missing ones are not among them."""
    different, after = set[int](), 0
    while expected := await ledger.stats.list_chunk_vectors(embedder, after, BATCH):
        found = await vectors.fetch_stored("chunks", [id_ for id_, _ in expected])
        for id_, data in expected:
            if id_ in found and not is_same_vector(found[id_], np.frombuffer(data, np.float32).reshape(-1, dim)):
                different.add(id_)
        after = expected[-1][0]
    return different


async def find_damaged(vectors: VectorStore, table: VectorTable, ids: Collection[int]) -> set[int]:
    """The rows whose vectors have no direction, or not the length one with which the store keeps the others."""
    damaged, ordered = set[int](), sorted(ids)
    for start in range(0, len(ordered), BATCH):
        found = await vectors.fetch_stored(table, ordered[start : start + BATCH])
        lengths = {id_: np.linalg.norm(each.astype(np.float64), axis=1) for id_, each in found.items()}
        units = {id_ for id_, each in lengths.items() if (np.abs(each - 1.0) <= MAX_LENGTH_ERROR).all()}
        with_direction = {id_ for id_, each in lengths.items() if (np.isfinite(each) & (each > 0)).all()}
        damaged |= lengths.keys() - (units if 2 * len(units) >= len(lengths) else with_direction)
    return damaged
