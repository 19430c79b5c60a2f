"""Rank the hits of one search, and merge rankings."""

from __future__ import annotations

import math
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, TypeVar

from engine.storage.ledger.records import EMPTY_SORT_KEY

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from engine.options import RankingOptions
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


def fuse_scores(
    similarity: Mapping[Key, float],
    bm25: Mapping[Key, float],
    fetched: int,
    options: RankingOptions,
    known: float = 1.0,
) -> dict[Key, float]:
    """Scores of chunks by the vector search and the full-text search: each one's share of its best score, weighted.

    A chunk that only one search found is taken to be a little less close by the other than all those that it did find;
    by words the less, the fewer chunks have any: of `fetched` ones the last is one of many that hardly match, and a
    chunk without words must not fall behind these.

    `known`: the share of the words of the question that any text contains. Where many are unknown, as in a question in
    another language than the texts, the best score by words may be that of a text with a single name or number.
    """
    vectors = _shares({key: max(0.0, value) for key, value in similarity.items()})
    unlike = options.unknown_similarity_share * min(vectors.values(), default=0.0)
    words = _shares(bm25)
    unnamed = options.unknown_words_share * min(words.values(), default=0.0) * min(1.0, len(words) / fetched)
    words_weight = options.fulltext_weight * min(1.0, known / options.known_words_share)
    return {
        key: options.vector_weight * vectors.get(key, unlike) + words_weight * words.get(key, unnamed)
        for key in dict.fromkeys([*similarity, *bm25])
    }


def _shares(scores: Mapping[Key, float]) -> dict[Key, float]:
    """Each score as a share of the best one."""
    best = max(scores.values(), default=0.0) or 1.0
    return {key: score / best for key, score in scores.items()}


def add_neighbors(scores: Mapping[Key, float], pairs: Iterable[tuple[Key, Key]], share: float) -> dict[Key, float]:
    """Scores with a share of the best neighbor's; `pairs` are neighbors."""
    best: dict[Key, float] = {}
    for one, other in pairs:
        if one in scores and other in scores:
            best[one] = max(best.get(one, 0.0), scores[other])
            best[other] = max(best.get(other, 0.0), scores[one])
    return {key: score + share * best.get(key, 0.0) for key, score in scores.items()}


def rank_by_score(scores: Mapping[Key, float], sort_keys: Mapping[Key, tuple[str, str, str]]) -> list[Key]:
    """The best first; equal scores by the sort keys of their rows."""
    return sorted(scores, key=lambda key: (sort_key(scores[key]), sort_keys.get(key, EMPTY_SORT_KEY)))


def rank_entities(
    exact: Sequence[Key], by_vector: Sequence[Key], by_words: Sequence[Key], options: RankingOptions
) -> list[Key]:
    """Entities that the question names come first, then those of the vector and full-text searches, fused."""
    weighted = (options.entity_vector_weight, by_vector), (options.entity_fulltext_weight, by_words)
    return list(dict.fromkeys([*exact, *reciprocal_rank_fusion(*weighted, damping=options.rrf_damping)]))


def round_robin(*rankings: Iterable[Key]) -> list[Key]:
    """Take one key from each ranking in turn, skipping those already taken."""
    filler = object()
    in_turn = chain.from_iterable(zip_longest(*rankings, fillvalue=filler))
    return [key for key in dict.fromkeys(in_turn) if key is not filler]  # type: ignore[misc]  # the filler is gone


def order_mix(by_search: Sequence[Key], by_walk: Sequence[Key], by_graph: Iterable[Key]) -> list[Key]:
    """The best chunk of the vector leg, then those of the walk, then the others."""
    return list(dict.fromkeys([*by_search[:1], *by_walk, *by_search, *by_graph]))


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
