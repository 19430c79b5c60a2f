"""Reciprocal rank fusion: several rankings become one (Cormack, Clarke and Büttcher 2009)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

Key = TypeVar("Key", bound="Hashable")

# Not the 60 of the paper, whose rankings were a thousand long: of lists of twenty it would let nothing in that only the
# lighter one has, though it be first there. Measured by tests/bench/quality.py.
RRF_K = 20


def reciprocal_rank_fusion(*rankings: tuple[float, Sequence[Key]]) -> list[Key]:
    """All keys by the sum of weight / (20 + rank) over the rankings, given as (weight, keys); ties keep their order."""
    scores: dict[Key, float] = {}
    for weight, keys in rankings:
        for rank, key in enumerate(dict.fromkeys(keys), 1):
            scores[key] = scores.get(key, 0.0) + weight / (RRF_K + rank)
    return sorted(scores, key=lambda key: -scores[key])
