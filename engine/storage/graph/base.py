"""The graph projection: ids and weights of entities and relations in Kùzu, no text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An entity of the graph. `known`: it is there already (True), is not (False), or must be looked up (None)."""

    id: int
    space: int
    exists_in_graph: bool | None = None


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A relation of the graph, from the lower to the higher id of its ends; undirected. `known` as in Node."""

    id: int
    source: int
    target: int
    weight: float
    exists_in_graph: bool | None = None


class GraphStore(Protocol):
    """What the engine wants from a graph. All calls may be repeated without harm; one writer at a time."""

    async def upsert(self, nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> None:
        """Create or set nodes, then edges. The ends of every edge exist or are among the nodes."""

    async def delete(self, nodes: Collection[int], edges: Sequence[GraphEdge]) -> None:
        """Remove edges, then nodes with whatever edges they still have, at once. Missing ones are no error."""

    async def neighbours(self, nodes: Collection[int], spaces: Collection[int], limit: int) -> list[GraphEdge]:
        """The heaviest edges that touch any of the nodes, within the spaces; ties by id; none twice."""

    async def replace_all(self, nodes: Iterable[GraphNode], edges: Iterable[GraphEdge]) -> None:
        """Empty the graph and fill it anew, fast."""

    async def list_all(self) -> tuple[list[GraphNode], list[GraphEdge]]:
        """All that is there, for verification."""

    async def compact(self) -> None:
        """Give space of removed rows back where the store can."""

    async def close(self) -> None:
        """Release the files."""
