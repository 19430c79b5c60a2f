"""Scores of a ranking, and what is beyond chance. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np

RESAMPLES = 2000
SEED = 7


def recall_at(ranking: Sequence[str], gold: Collection[str], cut: int) -> float:
    """Percent of the gold keys among the first `cut`."""
    return 100 * len(set(gold) & set(ranking[:cut])) / len(gold)


def has_all(ranking: Sequence[str], gold: Collection[str], cut: int) -> float:
    """100 if all gold keys are among the first `cut`, else 0."""
    return 100.0 * (set(gold) <= set(ranking[:cut]))


def ndcg_at(ranking: Sequence[str], gold: Collection[str], cut: int) -> float:
    """Normalized discounted cumulative gain, in percent; every gold key has the same grade."""
    gains = [1 / math.log2(place + 2) for place, key in enumerate(ranking[:cut]) if key in gold]
    ideal = [1 / math.log2(place + 2) for place in range(min(cut, len(gold)))]
    return 100 * sum(gains) / sum(ideal)


def paired_interval(values: Sequence[float], baseline: Sequence[float]) -> tuple[float, float, float]:
    """The mean difference of paired values, and its 95 % interval by the bootstrap (Efron 1979)."""
    differences = np.asarray(values, float) - np.asarray(baseline, float)
    picks = np.random.default_rng(SEED).integers(len(differences), size=(RESAMPLES, len(differences)))
    low, high = np.percentile(differences[picks].mean(axis=1), [2.5, 97.5])
    return float(differences.mean()), float(low), float(high)
