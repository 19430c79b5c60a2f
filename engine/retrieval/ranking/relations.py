"""Rank relations around the entities that a question asks for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from engine.retrieval.ranking.fusion import sort_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.options import RankingOptions


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
