"""Count how often a random walk over the search results visits the chunks that state entities and relations."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import nlargest
from itertools import chain
from statistics import fmean
from typing import TYPE_CHECKING

from engine.retrieval.ranking.pagerank import personalized_pagerank
from engine.retrieval.ranking.walk_seeds import VISIT_DIGITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engine.options import RankingOptions
    from engine.retrieval.ranking.fusion import Key
    from engine.retrieval.ranking.pagerank import GraphNode


def vector_candidates(options: RankingOptions, *sides: Iterable[Iterable[Key]]) -> list[Key]:
    """The chunks whose vectors are compared with the question: of each side an equal number, from the first on."""
    limit = options.max_vector_candidates // len(sides)
    return [key for side in sides for key in list(dict.fromkeys(chain.from_iterable(side)))[:limit]]


@dataclass(frozen=True, slots=True)
class EntityNode:
    """An entity with the chunks, by id, that mention it; `mentions` also counts the chunks that were not loaded."""

    name: str
    mentions: int
    chunks: Sequence[int]


@dataclass(frozen=True, slots=True)
class FactEdge:
    """A relation: its ends, by canonical name, its similarity to the question, and the chunks that state it."""

    ends: tuple[str, str]
    weight: float
    similarity: float
    chunks: Sequence[int]


def count_chunk_visits(
    entities: Sequence[EntityNode], facts: Sequence[FactEdge], similarity: Mapping[int, float], options: RankingOptions
) -> dict[int, float]:
    """How often a random walk visits the chunks of entities and facts, and those with a given similarity.

    The walk starts at the ends of the facts most similar to the question, more often at rarer entities, and seldom at
    a chunk that is similar itself. So it finds a chunk that connects the question's subject with what follows from it,
    even if the two share no word. Settings of HippoRAG 2 (Gutiérrez et al. 2025) without its synonym edges, and only
    over search results, so that the size of the store does not matter.
    """
    edges = build_edges(entities, facts)
    visits = personalized_pagerank(
        edges,
        build_seed_weights(entities, facts, similarity, options),
        {entity.name: float(entity.mentions) for entity in entities},
        options.restart_probability,
        options.pagerank_iterations,
    )
    chunks = dict.fromkeys([*similarity, *(chunk for _, chunk in edges if isinstance(chunk, int))])
    return {chunk: round(visits.get(chunk, 0.0), VISIT_DIGITS) for chunk in chunks}


def build_edges(entities: Sequence[EntityNode], facts: Sequence[FactEdge]) -> dict[tuple[GraphNode, GraphNode], float]:
    """Weighted edges: a fact's weight between its two ends, and 1 between an entity and each of its chunks."""
    edges: dict[tuple[GraphNode, GraphNode], float] = {
        (entity.name, chunk): 1.0 for entity in entities for chunk in entity.chunks
    }
    for fact in facts:
        edges[fact.ends] = fact.weight
        edges.update({(end, chunk): 1.0 for end in fact.ends for chunk in fact.chunks})
    return edges


def build_seed_weights(
    entities: Sequence[EntityNode], facts: Sequence[FactEdge], similarity: Mapping[int, float], options: RankingOptions
) -> dict[GraphNode, float]:
    """Where walks start, and how often (in any unit)."""
    mentions = {entity.name: entity.mentions for entity in entities}
    best = nlargest(options.max_seed_facts, facts, key=lambda fact: fact.similarity)
    best = [fact for fact in best if fact.similarity > 0]
    by_entity: dict[str, list[float]] = {}
    for fact in best:
        for end in fact.ends:
            by_entity.setdefault(end, []).append(fact.similarity)
    seeds: dict[GraphNode, float] = {
        end: fmean(similarities) / max(1, mentions.get(end, 1)) for end, similarities in by_entity.items()
    }
    lowest, highest = min(similarity.values(), default=0.0), max(similarity.values(), default=0.0)
    return seeds | {
        chunk: options.chunk_seed_weight * (own - lowest) / ((highest - lowest) or 1.0)
        for chunk, own in similarity.items()
    }
