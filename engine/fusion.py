"""Reciprocal rank fusion: several rankings become one (Cormack, Clarke and Büttcher 2009)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

Key = TypeVar("Key", bound="Hashable")

DAMPING = 60


def fuse(*rankings: tuple[float, Sequence[Key]]) -> list[Key]:
    """All keys by the sum of weight / (60 + rank) over the rankings, given as (weight, keys); ties keep their order."""
    scores: dict[Key, float] = {}
    for weight, keys in rankings:
        for rank, key in enumerate(dict.fromkeys(keys), 1):
            scores[key] = scores.get(key, 0.0) + weight / (DAMPING + rank)
    return sorted(scores, key=lambda key: -scores[key])
