"""The graph projection: ids and weights of entities and relations in Kùzu, no text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Node:
    """An entity of the graph. `known`: it is there already (True), is not (False), or must be looked up (None)."""

    id: int
    space: int
    known: bool | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation of the graph, from the lower to the higher id of its ends; undirected. `known` as in Node."""

    id: int
    source: int
    target: int
    weight: float
    known: bool | None = None


class Graph(Protocol):
    """What the engine wants from a graph. All calls may be repeated without harm; one writer at a time."""

    async def put(self, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        """Create or set nodes, then edges. The ends of every edge exist or are among the nodes."""

    async def drop(self, nodes: Collection[int], edges: Sequence[Edge]) -> None:
        """Remove edges, then nodes with whatever edges they still have, at once. Missing ones are no error."""

    async def around(self, nodes: Collection[int], spaces: Collection[int], limit: int) -> list[Edge]:
        """The heaviest edges that touch any of the nodes, within the spaces; ties by id; none twice."""

    async def load(self, nodes: Iterable[Node], edges: Iterable[Edge]) -> None:
        """Empty the graph and fill it anew, fast."""

    async def everything(self) -> tuple[list[Node], list[Edge]]:
        """All that is there, for verification."""

    async def compact(self) -> None:
        """Give space of removed rows back where the store can."""

    async def close(self) -> None:
        """Release the files."""
