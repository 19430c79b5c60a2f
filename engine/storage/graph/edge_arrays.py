"""Nodes and edges of a graph as arrays in memory.

A look-up compares all edges with the nodes: 1 ms for 300,000 edges, so that it may run in the event loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.storage.column_arrays import ColumnArrays, is_member
from engine.storage.graph.base import GraphEdge

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from engine.storage.graph.base import GraphNode

NODE_TYPES = {name: np.dtype(np.int64) for name in ("id", "space")}
EDGE_TYPES = {name: np.dtype(np.int64) for name in ("id", "source", "target")} | {"weight": np.dtype(np.float64)}


class EdgeArrays:
    """At most `max_edges` edges and as many nodes; for one thread."""

    def __init__(self, max_edges: int) -> None:
        self._nodes = ColumnArrays(NODE_TYPES, max_edges)
        self._edges = ColumnArrays(EDGE_TYPES, max_edges)

    def append(self, nodes: Sequence[np.ndarray], edges: Sequence[np.ndarray]) -> None:
        """Add new nodes and edges, given as columns in the order of the types. Raises ArraysFull."""
        self._nodes.append(dict(zip(NODE_TYPES, nodes, strict=True)))
        self._edges.append(dict(zip(EDGE_TYPES, edges, strict=True)))

    def upsert(self, nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> None:
        """Create or update nodes and edges, each given once or more often. Raises ArraysFull."""
        spaces = {node.id: node.space for node in nodes}
        latest = {edge.id: edge for edge in edges}
        self._nodes.delete(_find(self._nodes["id"], spaces))
        self._edges.delete(_find(self._edges["id"], latest))
        ends = [sorted((edge.source, edge.target)) for edge in latest.values()]
        weights = np.array([edge.weight for edge in latest.values()], np.float64)
        self.append(
            [np.array([*spaces], np.int64), np.array([*spaces.values()], np.int64)],
            [np.array([*latest], np.int64), *np.array(ends, np.int64).reshape(-1, 2).T, weights],
        )

    def delete(self, nodes: Collection[int], edges: Sequence[GraphEdge]) -> None:
        """Delete edges, then nodes with their remaining edges."""
        self._edges.delete(_find(self._edges["id"], {edge.id for edge in edges}))
        self._edges.delete(np.flatnonzero(self._touches(nodes)))
        self._nodes.delete(_find(self._nodes["id"], nodes))

    def neighbors(self, nodes: Collection[int], spaces: Collection[int], limit: int) -> list[GraphEdge]:
        """The heaviest edges of these nodes within the spaces, each once; equal weights by id."""
        near = self._nodes["id"][is_member(self._nodes["id"], nodes) & is_member(self._nodes["space"], spaces)]
        places = np.flatnonzero(self._touches(near.tolist()))
        columns = [self._edges[name][places] for name in EDGE_TYPES]
        chosen = select_heaviest(columns[0], columns[3], limit)
        edges = zip(*(column[chosen].tolist() for column in columns), strict=True)
        return [build_edge(*edge) for edge in edges]

    def _touches(self, nodes: Collection[int]) -> np.ndarray:
        """Which edges have one of the nodes as an end, as booleans."""
        touching = is_member(self._edges["source"], nodes)
        touching |= is_member(self._edges["target"], nodes)
        return touching


def select_heaviest(ids: np.ndarray, weights: np.ndarray, count: int) -> np.ndarray:
    """The indices of the `count` highest positive weights, highest first; equal weights by id."""
    places = np.flatnonzero(weights > 0.0)
    if len(places) > count:
        cutoff = np.partition(weights[places], len(places) - count)[len(places) - count]
        heavier, ties = places[weights[places] > cutoff], places[weights[places] == cutoff]
        missing = count - len(heavier)
        last_id = np.partition(ids[ties], missing - 1)[missing - 1]
        places = np.concatenate([heavier, ties[ids[ties] <= last_id]])
    return places[np.lexsort((ids[places], -weights[places]))][:count]


def build_edge(id_: int, source: int, target: int, weight: float) -> GraphEdge:
    """An edge that the graph holds."""
    return GraphEdge(id_, source, target, weight, exists_in_graph=True)


def _find(ids: np.ndarray, wanted: Collection[int]) -> np.ndarray:
    return np.flatnonzero(is_member(ids, wanted))
