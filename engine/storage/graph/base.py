"""The Protocol of graph stores: ids and weights of entities and relations, no text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An entity of the graph. `exists_in_graph`: True, False, or None if the store must look it up."""

    id: int
    space: int
    exists_in_graph: bool | None = None


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A relation from the lower to the higher id of its ends; undirected. `exists_in_graph` as in `GraphNode`."""

    id: int
    source: int
    target: int
    weight: float
    exists_in_graph: bool | None = None


class GraphStore(Protocol):
    """A graph database. Every call may be repeated without harm; only one writer at a time."""

    async def upsert(self, nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> None:
        """Create or update nodes, then edges. The ends of every edge exist or are among the nodes."""

    async def delete(self, nodes: Collection[int], edges: Sequence[GraphEdge]) -> None:
        """Delete edges, then nodes with their remaining edges, at once. Missing ones are no error."""

    async def neighbors(self, nodes: Collection[int], spaces: Collection[int], limit: int) -> list[GraphEdge]:
        """The heaviest edges of these nodes within the spaces, each once; equal weights by id."""

    async def replace_all(self, nodes: Iterable[GraphNode], edges: Iterable[GraphEdge]) -> None:
        """Replace the whole content."""

    async def list_all(self) -> tuple[list[GraphNode], list[GraphEdge]]:
        """Every node and edge, for verification."""

    async def compact(self) -> None:
        """Return the space of deleted rows if the store can."""

    async def close(self) -> None:
        """Release the files."""
