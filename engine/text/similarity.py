"""Cosine similarity of embedding vectors; those without a direction (zero, NaN, infinity) are similar to nothing."""

from __future__ import annotations

import numpy as np

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


def best_similarity(query: np.ndarray, vectors: np.ndarray) -> float:
    """The highest cosine of the query, shape (dim,), with any of the vectors, shape (n, dim); all of length one."""
    return float((vectors @ query).max())
