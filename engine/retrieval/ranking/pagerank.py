"""Personalized PageRank over a small weighted graph of entities and chunks, which may grow between two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

GraphNode = str | int  # a canonical name, or the id of a chunk


def personalized_pagerank(
    edges: Mapping[tuple[GraphNode, GraphNode], float],
    seeds: Mapping[GraphNode, float],
    degrees: Mapping[GraphNode, float],
    restart: float,
    iterations: int,
) -> dict[GraphNode, float]:
    """How often a random walk visits each node; empty if no seed has weight. See `WalkGraph`."""
    graph = WalkGraph(seeds)
    graph.add(edges, degrees)
    return graph.count_visits(restart, iterations)


class WalkGraph:
    """Undirected weighted edges, and the seeds that walks start at.

    A node whose known degree in the whole graph exceeds the weight of its edges here leaks the difference: so a hub
    that thousands of chunks mention, few of which are among the edges, passes on little.
    """

    def __init__(self, seeds: Mapping[GraphNode, float]) -> None:
        self._index: dict[GraphNode, int] = {}
        self._edges: dict[tuple[int, int], int] = {}  # ends, ascending, to the place of the weight
        self._weights: list[float] = []
        self._degrees: dict[int, float] = {}
        self._seeds = {self._place(node): weight for node, weight in seeds.items()}

    @property
    def edge_count(self) -> int:
        """The number of edges."""
        return len(self._edges)

    def known_degree(self, node: GraphNode) -> float:
        """The degree of a node in the whole graph; 0 if unknown."""
        return self._degrees.get(self._index.get(node, -1), 0.0)

    def add(self, edges: Mapping[tuple[GraphNode, GraphNode], float], degrees: Mapping[GraphNode, float]) -> None:
        """Add edges, replacing those with the same ends, and known degrees."""
        for (one, other), weight in edges.items():
            first, second = self._place(one), self._place(other)
            at = self._edges.setdefault((min(first, second), max(first, second)), len(self._weights))
            if at == len(self._weights):
                self._weights.append(weight)
            else:
                self._weights[at] = weight
        self._degrees.update((self._index[node], degree) for node, degree in degrees.items() if node in self._index)

    def count_visits(
        self, restart: float, iterations: int, seeds: Mapping[GraphNode, float] | None = None
    ) -> dict[GraphNode, float]:
        """How often a random walk visits each node, the share of all steps; empty if no seed has weight.

        Each step goes back to a seed with the probability `restart`. `seeds` replace those of the graph in this run.
        """
        places = self._seeds if seeds is None else {self._place(node): weight for node, weight in seeds.items()}
        size = len(self._index)
        start = np.zeros(size)
        start[list(places)] = list(places.values())
        if not start.any():
            return {}
        start /= start.sum()
        ends = np.array(list(self._edges), dtype=np.int64).reshape(-1, 2)
        source, target = np.concatenate([ends, ends[:, ::-1]]).T
        weight = np.tile(np.array(self._weights, float), 2)
        degree = np.bincount(source, weight, minlength=size)
        known = np.array(list(self._degrees), dtype=np.int64)
        degree[known] = np.maximum(degree[known], np.array(list(self._degrees.values()), float))
        share = weight / degree[source]
        visits = start
        for _ in range(iterations):
            visits = restart * start + (1 - restart) * np.bincount(target, visits[source] * share, minlength=size)
        return dict(zip(self._index, visits.tolist(), strict=True))

    def _place(self, node: GraphNode) -> int:
        return self._index.setdefault(node, len(self._index))
