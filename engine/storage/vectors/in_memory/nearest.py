"""Which of many similarities are the greatest."""

from __future__ import annotations

import numpy as np

SAMPLE_STEP = 16  # one of this many rows is sampled to estimate how similar the nearest rows are
NO_DIRECTION = np.float32(-2.0)  # below every cosine


def select_nearest(similarities: np.ndarray, count: int) -> np.ndarray:
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
