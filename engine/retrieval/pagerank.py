"""A walk from the facts that are most like a question to the chunks that lie near them: personalised PageRank.

The nodes are names and chunks; a name is joined to the chunks that speak of it, and to the other end of each relation.
A walker starts at the ends of the best facts (the rarer a name, the oftener there) or, seldom, at a chunk that is like
the question itself, and goes back to a start every other step: so a chunk counts that joins what was asked for with
what follows from it, though it has no word of the question. Settings of HippoRAG 2 (Gutiérrez et al. 2025), without
its edges between synonyms, and only over what the searches have met, so that the size of the store does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import nlargest
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_SEED_FACTS = 5  # relations at whose ends the walk starts, those most like the question
CHUNK_SEED_WEIGHT = (
    0.05  # how often it starts at the chunk most like the question, a fact being as often as its similarity
)
RESTART_PROBABILITY = 0.5  # share of the steps that lead back to a start
MAX_ITERATIONS = 20  # the rest of a walk changes nothing that could be seen: 0.5 ** 20 is a millionth

GraphNode = str | int  # a canonical name, or the id of a chunk


@dataclass(frozen=True, slots=True)
class EntityNode:
    """A name with the chunks, by id, that speak of it, as far as they were looked at; `mentions` counts all of them."""

    name: str
    mentions: int
    chunks: Sequence[int]


@dataclass(frozen=True, slots=True)
class FactEdge:
    """A relation: its ends, by canonical name, how like the question it is, and the chunks that state it."""

    ends: tuple[str, str]
    weight: float
    similarity: float
    chunks: Sequence[int]


def rank_by_pagerank(
    names: Sequence[EntityNode], facts: Sequence[FactEdge], similarity: Mapping[int, float]
) -> list[int]:
    """All chunks of the names and facts, and those whose similarity to the question is given, the nearest first."""
    edges = build_edges(names, facts)
    reached = personalized_pagerank(
        edges, build_seed_weights(names, facts, similarity), {each.name: float(each.mentions) for each in names}
    )
    chunks = dict.fromkeys([*similarity, *(chunk for _, chunk in edges if isinstance(chunk, int))])
    return sorted(chunks, key=lambda chunk: -reached.get(chunk, 0.0))


def build_edges(names: Sequence[EntityNode], facts: Sequence[FactEdge]) -> dict[tuple[GraphNode, GraphNode], float]:
    """The edges with their weights: between the ends of a fact as often as it was told, from a name to a chunk once."""
    edges: dict[tuple[GraphNode, GraphNode], float] = {
        (each.name, chunk): 1.0 for each in names for chunk in each.chunks
    }
    for fact in facts:
        edges[fact.ends] = fact.weight
        edges.update({(end, chunk): 1.0 for end in fact.ends for chunk in fact.chunks})
    return edges


def build_seed_weights(
    names: Sequence[EntityNode], facts: Sequence[FactEdge], similarity: Mapping[int, float]
) -> dict[GraphNode, float]:
    """Where walks start, and how often (any unit)."""
    mentions = {each.name: each.mentions for each in names}
    best = [fact for fact in nlargest(MAX_SEED_FACTS, facts, key=lambda fact: fact.similarity) if fact.similarity > 0]
    said: dict[str, list[float]] = {}
    for fact in best:
        for end in fact.ends:
            said.setdefault(end, []).append(fact.similarity)
    found: dict[GraphNode, float] = {end: fmean(each) / max(1, mentions.get(end, 1)) for end, each in said.items()}
    least, most = min(similarity.values(), default=0.0), max(similarity.values(), default=0.0)
    return found | {
        chunk: CHUNK_SEED_WEIGHT * (own - least) / ((most - least) or 1.0) for chunk, own in similarity.items()
    }


def personalized_pagerank(
    edges: Mapping[tuple[GraphNode, GraphNode], float],
    starts_: Mapping[GraphNode, float],
    ways: Mapping[GraphNode, float],
) -> dict[GraphNode, float]:
    """How often each node is come by. A node with more `ways` out than its edges weigh loses the rest of its walkers.

    That a hub was mentioned by thousands of chunks is known, though few of these are among the edges.
    """
    index: dict[GraphNode, int] = {}
    for node in (*starts_, *(end for edge in edges for end in edge)):
        index.setdefault(node, len(index))
    begin = np.zeros(len(index))
    begin[[index[node] for node in starts_]] = list(starts_.values())
    if not begin.any():
        return {}
    ends = np.array([(index[one], index[other]) for one, other in edges], dtype=np.int64).reshape(-1, 2)
    source, target = np.concatenate([ends, ends[:, ::-1]]).T
    weight = np.tile(np.fromiter(edges.values(), float, len(edges)), 2)
    out = np.bincount(source, weight, minlength=len(index))
    known = np.array([ways.get(node, 0.0) for node in index])
    share = weight / np.maximum(out, known)[source]
    begin /= begin.sum()
    reached = begin
    for _ in range(MAX_ITERATIONS):
        steps = np.bincount(target, reached[source] * share, minlength=len(index))
        reached = RESTART_PROBABILITY * begin + (1 - RESTART_PROBABILITY) * steps
    return dict(zip(index, reached.tolist(), strict=True))
