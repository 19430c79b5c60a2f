"""A graph in memory that nobody writes to, for when the disk takes no writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np

from engine.errors import StoreError
from engine.storage.graph.edge_arrays import EdgeArrays

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from engine.storage.graph.base import GraphEdge, GraphNode


class ReadOnlyGraph:
    """These nodes and edges. Every write raises StoreError."""

    def __init__(self, nodes: Iterable[GraphNode], edges: Iterable[GraphEdge]) -> None:
        self._nodes, self._edges = list(nodes), list(edges)
        self._arrays = EdgeArrays(max(len(self._nodes), len(self._edges)) + 1, np.int64)
        self._arrays.upsert(self._nodes, self._edges)

    async def upsert(self, nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> None:  # noqa: ARG002
        self._refuse()

    async def delete(self, nodes: Collection[int], edges: Sequence[GraphEdge]) -> None:  # noqa: ARG002
        self._refuse()

    async def neighbors(self, nodes: Collection[int], spaces: Collection[int], limit: int) -> list[GraphEdge]:
        if not nodes or not spaces or limit <= 0:
            return []
        return self._arrays.neighbors(nodes, spaces, limit)

    async def replace_all(self, nodes: Iterable[GraphNode], edges: Iterable[GraphEdge]) -> None:  # noqa: ARG002
        self._refuse()

    async def list_all(self) -> tuple[list[GraphNode], list[GraphEdge]]:
        return self._nodes, self._edges

    async def compact(self) -> None:
        self._refuse()

    async def close(self) -> None:
        """Do nothing: there are no files."""

    def _refuse(self) -> NoReturn:
        raise StoreError("The graph cannot be changed while the disk takes no writes.")
