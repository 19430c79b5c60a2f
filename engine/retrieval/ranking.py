"""Ranking: every decision about the order of search results. Pure; the numbers are `RankingOptions`.

In the order of use: hits of one search (`rank_hits`), two searches fused (`fuse_chunks`, `rank_entities`), relations
around entities (`rank_relations`), the two legs of the graph (`round_robin`), chunks of the graph joined with those
of the vector leg (`rank_chunks_by_pagerank` or `pick_chunks`), and the reranker's order (`apply_rerank`).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from heapq import nlargest
from itertools import chain, zip_longest
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from engine.retrieval.pagerank import personalized_pagerank
from engine.storage.ledger.records import EMPTY_SORT_KEY
from engine.text.similarity import best_similarity

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    import numpy as np

    from engine.options import RankingOptions
    from engine.retrieval.pagerank import GraphNode
    from engine.storage.vectors.base import VectorHit

Key = TypeVar("Key", bound="Hashable")

SIMILARITY_DIGITS = 6  # digits that count; batching and the processor may change those after them


def sort_key(score: float) -> float:
    """Sort key of a score: the best first. Scores that agree in six digits are equal."""
    return -round(score, SIMILARITY_DIGITS)


def rank_hits(hits: Iterable[VectorHit], sort_keys: Mapping[int, tuple[str, str, str]]) -> list[VectorHit]:
    """Hits of a vector search, the best first; equal scores by the sort keys of their rows."""
    return sorted(hits, key=lambda hit: (sort_key(hit.similarity), sort_keys.get(hit.id, EMPTY_SORT_KEY)))


def reciprocal_rank_fusion(*rankings: tuple[float, Sequence[Key]], damping: int) -> list[Key]:
    """Merge rankings, given as (weight, keys), by the sum of weight / (damping + rank); ties keep their order.

    Cormack, Clarke and Büttcher 2009.
    """
    scores: dict[Key, float] = {}
    for weight, keys in rankings:
        for rank, key in enumerate(dict.fromkeys(keys), 1):
            scores[key] = scores.get(key, 0.0) + weight / (damping + rank)
    return sorted(scores, key=lambda key: -scores[key])


def fuse_chunks(by_vector: Sequence[Key], by_words: Sequence[Key], options: RankingOptions) -> list[Key]:
    """Merge the chunks of the vector search and of the full-text search into one ranking."""
    weighted = (options.vector_weight, by_vector), (options.fulltext_weight, by_words)
    return reciprocal_rank_fusion(*weighted, damping=options.rrf_damping)


def rank_entities(
    exact: Sequence[Key], by_vector: Sequence[Key], by_words: Sequence[Key], options: RankingOptions
) -> list[Key]:
    """Entities that the question names come first, then those of the vector and full-text searches, fused."""
    weighted = (options.entity_vector_weight, by_vector), (options.entity_fulltext_weight, by_words)
    return list(dict.fromkeys([*exact, *reciprocal_rank_fusion(*weighted, damping=options.rrf_damping)]))


class RankedRelation(NamedTuple):
    """A relation to be ranked; `degree`: the sum of its ends' degrees, `sort_key`: by its ends' names."""

    id: int
    similarity: float
    degree: int
    weight: float
    sort_key: Sequence[tuple[str, int]]


def rank_relations(relations: Iterable[RankedRelation], options: RankingOptions) -> list[int]:
    """The ids of relations around entities by score, the best first; ties by the names of their ends."""

    def order(relation: RankedRelation) -> tuple[float, Sequence[tuple[str, int]]]:
        score = relation_score(relation.similarity, relation.degree, relation.weight, options)
        return sort_key(score), relation.sort_key

    return [relation.id for relation in sorted(relations, key=order)]


def relation_score(similarity: float, degree: int, weight: float, options: RankingOptions) -> float:
    """Score of a relation near the entities asked for: 0.8 similarity + 0.12 d/(d+4) + 0.08 w/(w+1) by default.

    d and w are the logarithms of 1 + the degrees of both ends, and of 1 + the weight. Hubs and facts that many chunks
    state come first among equals, but never before a relation that is more similar to the question by a quarter.
    """
    degree_log, weight_log = math.log1p(max(0, degree)), math.log1p(max(0.0, weight))
    return (
        options.relation_similarity_share * similarity
        + options.relation_degree_share * degree_log / (degree_log + options.relation_degree_saturation)
        + options.relation_weight_share * weight_log / (weight_log + options.relation_weight_saturation)
    )


def round_robin(*rankings: Iterable[Key]) -> list[Key]:
    """Take one key from each ranking in turn, skipping those already taken."""
    filler = object()
    in_turn = chain.from_iterable(zip_longest(*rankings, fillvalue=filler))
    return [key for key in dict.fromkeys(in_turn) if key is not filler]  # type: ignore[misc]  # the filler is gone


def vector_candidates(options: RankingOptions, *sides: Iterable[Iterable[Key]]) -> list[Key]:
    """The chunks whose vectors are compared with the question: of each side an equal number, from the first on."""
    limit = options.max_vector_candidates // len(sides)
    return [key for side in sides for key in list(dict.fromkeys(chain.from_iterable(side)))[:limit]]


# Chunks of the graph by personalized PageRank (chunk_selection="walk").


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


def rank_chunks_by_pagerank(
    entities: Sequence[EntityNode], facts: Sequence[FactEdge], similarity: Mapping[int, float], options: RankingOptions
) -> list[int]:
    """Rank the chunks of entities and facts, and those with a given similarity, by how often a random walk visits them.

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
    return sorted(chunks, key=lambda chunk: -visits.get(chunk, 0.0))


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


# Chunks of the graph as LightRAG ranks them (chunk_selection="vector" or "weight").


def pick_chunks(
    items: Sequence[Sequence[Key]],
    vectors: Mapping[Key, np.ndarray],
    query: np.ndarray | None,
    options: RankingOptions,
) -> list[Key]:
    """The best chunks of the entities, or of the relations, by similarity or, without vectors, by weight."""
    if not vectors or query is None or options.chunk_selection == "weight":
        return pick_by_weight(items, options.chunks_per_item)
    number = options.chunks_per_item * len(items) // 2
    return pick_by_vector(chain.from_iterable(items), vectors, query, number)


def deduplicate_sides(
    by_entity: Sequence[Iterable[Key]], by_relation: Sequence[Iterable[Key]]
) -> tuple[list[list[Key]], list[list[Key]]]:
    """The chunks of entities and of relations, each chunk once: with an entity if one has it, else with a relation."""
    entities = deduplicate_items(by_entity)
    seen = set(chain.from_iterable(entities))
    return entities, deduplicate_items([[chunk for chunk in item if chunk not in seen] for item in by_relation])


def deduplicate_items(items: Sequence[Iterable[Key]]) -> list[list[Key]]:
    """Each chunk with the first item that has it only; within an item those that most items have come first."""
    distinct = [list(dict.fromkeys(item)) for item in items]
    counts = Counter(chain.from_iterable(distinct))
    owner: dict[Key, int] = {}
    for index, item in enumerate(distinct):
        for key in item:
            owner.setdefault(key, index)
    return [
        sorted((key for key in item if owner[key] == index), key=lambda key: -counts[key])
        for index, item in enumerate(distinct)
    ]


def pick_by_weight(items: Sequence[Sequence[Key]], most: int) -> list[Key]:
    """Weighted polling: `most` keys from the first item, falling evenly to 1 from the last.

    If an item has too few, the difference is filled with keys left over from the first items that have more.
    """
    if most <= 0:
        return []
    steps = max(1, len(items) - 1)
    quotas = [round(most - index / steps * (most - 1)) for index in range(len(items))]
    picked = [key for item, quota in zip(items, quotas, strict=True) for key in item[:quota]]
    missing = sum(max(0, quota - len(item)) for item, quota in zip(items, quotas, strict=True))
    left = [key for item, quota in zip(items, quotas, strict=True) for key in item[quota:]]
    return picked + left[:missing]


def pick_by_vector(
    candidates: Iterable[Key], vectors: Mapping[Key, np.ndarray], query: np.ndarray, number: int
) -> list[Key]:
    """The `number` candidates most similar to the query, best first; those without a vector are left out.

    Each vector has shape (parts, dim); its most similar part counts.
    """
    similarity = {key: best_similarity(query, vectors[key]) for key in candidates if key in vectors}
    return sorted(similarity, key=lambda key: -similarity[key])[: max(0, number)]


def apply_rerank(ids: Sequence[Key], scores: Sequence[float | None], top_n: int, min_score: float = 0.0) -> list[Key]:
    """The best `top_n` by score; ids without a finite score, or with less than a positive `min_score`, are left out.

    If no score is usable, or the number of scores differs from that of the ids, the order stays as it was.
    """
    pairs = list(zip(ids, scores, strict=False))
    scored = [(key, score) for key, score in pairs if score is not None and math.isfinite(score)]
    if not scored or len(ids) != len(scores):
        return list(ids[:top_n])
    ranked = sorted(scored, key=lambda pair: -pair[1])
    return [key for key, score in ranked if min_score <= 0 or score >= min_score][:top_n]
