"""Cosine similarity of embedding vectors; those without a direction (zero, NaN, infinity) are similar to nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MIN_SIMILARITY_SPAN = 0.05  # between unrelated and equal texts, so that no embedder makes small differences large
MIN_SAME_SIMILARITY = 0.99  # of a vector and its rounded copy


def unit_vectors(vectors: np.ndarray) -> np.ndarray:
    """The vectors, shape (n, dim), scaled to length one as float32; those without a direction become zero."""
    rows = np.array(vectors, dtype=np.float32)
    rows[~np.isfinite(rows).all(axis=1)] = 0.0
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    units: np.ndarray = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0, casting="unsafe")
    return units


def is_same_vector(found: np.ndarray, expected: np.ndarray, least: float = MIN_SAME_SIMILARITY) -> bool:
    """Whether both, shape (n, dim), have the same directions; a store may normalize or quantize what it stores."""
    if found.shape != expected.shape or not np.isfinite(found).all():
        return False
    similarities = (unit_vectors(found) * unit_vectors(expected)).sum(axis=1)
    return bool((similarities[expected.any(axis=1)] > least).all())


@dataclass(frozen=True, slots=True)
class SimilarityScale:
    """Turns the cosines of an embedder into similarities: 0 for unrelated texts, 1 for equal ones.

    `unrelated`: the cosine of unrelated texts, 0.04 with some embedders and 0.75 with others.
    """

    unrelated: float = 0.0

    def similarity(self, cosine: float) -> float:
        """The similarity of a cosine; negative for texts that have less in common than unrelated ones."""
        return (cosine - self.unrelated) / max(1.0 - self.unrelated, MIN_SIMILARITY_SPAN)

    def similarities(self, cosines: np.ndarray) -> np.ndarray:
        """The similarities of an array of cosines."""
        scaled: np.ndarray = (cosines - self.unrelated) / max(1.0 - self.unrelated, MIN_SIMILARITY_SPAN)
        return scaled


def best_similarity(query: np.ndarray, vectors: np.ndarray) -> float:
    """The highest cosine of the query, shape (dim,), with any of the vectors, shape (n, dim); all of length one."""
    return float((vectors @ query).max())
