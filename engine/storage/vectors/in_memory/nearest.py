"""Which of many rows are nearest to a query."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

SAMPLE_STEP = 16  # one of this many rows is sampled to estimate how similar the nearest rows are
NO_DIRECTION = np.float32(-2.0)  # below every cosine


class NearRows(NamedTuple):
    """Rows near a query: their places, and their similarities as they were computed."""

    places: np.ndarray
    similarities: np.ndarray

    @classmethod
    def join(cls, parts: Sequence[NearRows]) -> Self:
        """The rows of several parts."""
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def select(self, kept: np.ndarray) -> Self:
        """Those of the rows, given as booleans or numbers."""
        return type(self)(self.places[kept], self.similarities[kept])

    def select_nearest(self, count: int) -> Self:
        """So many of the nearest."""
        if count >= len(self.places):
            return self
        return self.select(np.argpartition(self.similarities, -count)[len(self.places) - count :])

    def drop_far(self, count: int, margin: float) -> Self:
        """Without those that are less similar by more than a margin than the `count` nearest."""
        if count >= len(self.places):
            return self
        return self.select(self.similarities >= np.partition(self.similarities, -count)[-count] - margin)


def find_nearest(similarities: np.ndarray, count: int) -> np.ndarray:
    """The places of the rows as similar as the `count`-th of those with a direction; of all if these are fewer."""
    near = find_in_sample(similarities, count)
    if near is None or len(near) < count:
        near = np.flatnonzero(similarities > NO_DIRECTION)
    if count < len(near):
        found = similarities[near]
        near = near[found >= np.partition(found, -count)[-count]]
    return near


def find_in_sample(similarities: np.ndarray, count: int) -> np.ndarray | None:
    """The places of the most similar rows, about twice `count`, found faster than by sorting; None if too many."""
    sample, rank = similarities[::SAMPLE_STEP], 2 * count // SAMPLE_STEP + 1
    if rank > len(sample) // 2:
        return None
    return np.flatnonzero(similarities >= np.partition(sample, -rank)[-rank])


def list_new(places: Sequence[np.ndarray], known: np.ndarray) -> np.ndarray:
    """The places that are not known, ascending, each once. `known`: ascending ones.

    Faster than `numpy.setdiff1d`, which sorts all of them twice.
    """
    every = np.sort(np.concatenate(places))
    every = every[np.append(True, every[1:] != every[:-1])[: len(every)]]
    at = np.searchsorted(known, every)
    is_known = at < len(known)
    is_known[is_known] = known[at[is_known]] == every[is_known]
    return np.asarray(every[~is_known])
