"""Personalized PageRank over a small weighted graph of entities and chunks."""

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
    """How often a random walk visits each node; empty if no seed has weight.

    Each step goes back to a seed with the probability `restart`. A node whose known degree in the whole graph exceeds
    the weight of its edges here leaks the difference: so a hub that thousands of chunks mention, few of which are
    among the edges, passes on little.
    """
    index: dict[GraphNode, int] = {}
    for node in (*seeds, *(end for edge in edges for end in edge)):
        index.setdefault(node, len(index))
    start = np.zeros(len(index))
    start[[index[node] for node in seeds]] = list(seeds.values())
    if not start.any():
        return {}
    ends = np.array([(index[one], index[other]) for one, other in edges], dtype=np.int64).reshape(-1, 2)
    source, target = np.concatenate([ends, ends[:, ::-1]]).T
    weight = np.tile(np.fromiter(edges.values(), float, len(edges)), 2)
    weight_out = np.bincount(source, weight, minlength=len(index))
    known_degree = np.array([degrees.get(node, 0.0) for node in index])
    share = weight / np.maximum(weight_out, known_degree)[source]
    start /= start.sum()
    visits = start
    for _ in range(iterations):
        steps = np.bincount(target, visits[source] * share, minlength=len(index))
        visits = restart * start + (1 - restart) * steps
    return dict(zip(index, visits.tolist(), strict=True))
