"""Personalized PageRank over a small weighted graph of entities and chunks, which may grow between two runs."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

GraphNode = str | int  # a canonical name, or the id of a chunk
MAX_NODES = 1 << 31


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
        self._ends = np.empty(0, np.int64)  # lower end * MAX_NODES + higher end, ascending
        self._weights = np.empty(0)
        self._degrees: dict[int, float] = {}
        self._seeds = self._place_seeds(seeds)

    @property
    def edge_count(self) -> int:
        """The number of edges."""
        return len(self._ends)

    def known_degree(self, node: GraphNode) -> float:
        """The degree of a node in the whole graph; 0 if unknown."""
        return self._degrees.get(self._index.get(node, -1), 0.0)

    def add(self, edges: Mapping[tuple[GraphNode, GraphNode], float], degrees: Mapping[GraphNode, float]) -> None:
        """Add edges, replacing those with the same ends, and known degrees."""
        places = np.array(self._place(chain.from_iterable(edges)), np.int64).reshape(-1, 2)
        places.sort(axis=1)
        # The first of equal ends stays: so the newest edges come first.
        ends = np.concatenate([(places[:, 0] * MAX_NODES + places[:, 1])[::-1], self._ends])
        weights = np.concatenate([np.fromiter(edges.values(), float, len(edges))[::-1], self._weights])
        self._ends, first = np.unique(ends, return_index=True)
        self._weights = weights[first]
        self._degrees.update((self._index[node], degree) for node, degree in degrees.items() if node in self._index)

    def count_visits(
        self, restart: float, iterations: int, seeds: Mapping[GraphNode, float] | None = None
    ) -> dict[GraphNode, float]:
        """How often a random walk visits each node, the share of all steps; empty if no seed has weight.

        Each step goes back to a seed with the probability `restart`. `seeds` replace those of the graph in this run.
        """
        places = self._seeds if seeds is None else self._place_seeds(seeds)
        size = len(self._index)
        start = np.zeros(size)
        start[list(places)] = list(places.values())
        if not start.any():
            return {}
        start /= start.sum()
        lower, higher = np.divmod(self._ends, MAX_NODES)
        source, target = np.concatenate([lower, higher]), np.concatenate([higher, lower])
        weight = np.tile(self._weights, 2)
        degree = np.bincount(source, weight, minlength=size)
        known = np.array(list(self._degrees), dtype=np.int64)
        degree[known] = np.maximum(degree[known], np.array(list(self._degrees.values()), float))
        share = weight / degree[source]
        visits = start
        for _ in range(iterations):
            visits = restart * start + (1 - restart) * np.bincount(target, visits[source] * share, minlength=size)
        return dict(zip(self._index, visits.tolist(), strict=True))

    def _place(self, nodes: Iterable[GraphNode]) -> list[int]:
        """The places of nodes; new ones get the next."""
        index = self._index
        return [index.setdefault(node, len(index)) for node in nodes]

    def _place_seeds(self, seeds: Mapping[GraphNode, float]) -> dict[int, float]:
        return dict(zip(self._place(seeds), seeds.values(), strict=True))
