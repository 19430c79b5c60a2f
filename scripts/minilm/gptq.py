"""Round a matrix of weights to 8-bit integers so that its products with typical inputs change least.

Source: Frantar et al. 2023 (GPTQ).
"""

from __future__ import annotations

import numpy as np

from engine.llm.e5.tensors import WEIGHT_LEVELS

DAMPING = 0.01  # share of the mean squared input that is added to each, so that the matrix can be inverted
BLOCK = 128  # rows whose errors are passed on together


def round_weights(matrix: np.ndarray, scales: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    """int8 of the shape of the matrix (inputs, outputs); `scales` has one per output, `inputs` a row per token.

    Rows are rounded one after the other, those with the largest inputs first; the rows that follow make up for the
    error of each.
    """
    order, spread = error_propagation(inputs)
    rest, rounded = matrix[order].copy(), np.zeros(matrix.shape, dtype=np.int8)
    for start in range(0, len(rest), BLOCK):
        stop = min(start + BLOCK, len(rest))
        errors = np.zeros((stop - start, matrix.shape[1]), dtype=np.float32)
        for row in range(start, stop):
            integers = np.clip(np.round(rest[row] / scales), -WEIGHT_LEVELS, WEIGHT_LEVELS)
            rounded[order[row]] = integers
            errors[row - start] = error = (rest[row] - integers * scales) / spread[row, row]
            rest[row + 1 : stop] -= np.outer(spread[row, row + 1 : stop], error)
        rest[stop:] -= spread[start:stop, stop:].T @ errors
    return rounded


def error_propagation(inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The order of the rows, and the upper triangle by which the error of a row is passed on to those after it."""
    squares = (inputs.T @ inputs).astype(np.float64)
    squares[np.diag_indices_from(squares)] += DAMPING * np.mean(np.diag(squares))
    order = np.argsort(-np.diag(squares))
    inverse = np.linalg.inv(squares[np.ix_(order, order)])
    return order, np.linalg.cholesky(inverse).T.astype(np.float32)
