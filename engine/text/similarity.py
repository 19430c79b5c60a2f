"""Cosine similarity, exact, with a meaning for vectors that have no direction."""

from __future__ import annotations

import numpy as np


def cosine_similarities(query: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Cosine of the query, shape (dim,), with each of the vectors, shape (n, dim): float32 of shape (n,).

    Against a vector that is zero, or holds NaN or infinity, it is 0.0.
    """
    cosines: np.ndarray = np.clip(unit_vectors(vectors) @ unit_vectors(query[None, :])[0], -1.0, 1.0)
    return cosines


def unit_vectors(vectors: np.ndarray) -> np.ndarray:
    """The vectors, shape (n, dim), at length one as float32; those without a direction become zero."""
    rows = np.array(vectors, dtype=np.float32)
    rows[~np.isfinite(rows).all(axis=1)] = 0.0
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    units: np.ndarray = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0, casting="unsafe")
    return units
