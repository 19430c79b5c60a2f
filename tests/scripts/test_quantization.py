"""Weights are rounded so that products change little."""

from __future__ import annotations

import numpy as np

from engine.llm.e5.tensors import column_scales, round_columns
from engine.llm.minilm.graphs import random_rows
from scripts.minilm.gptq import round_weights


def correlated_inputs(random: np.random.Generator) -> np.ndarray:
    return (random.normal(size=(500, 8)) @ random.normal(size=(8, 64)) + random.normal(size=(500, 64)) / 4).astype("f4")


def test_products_change_less_than_with_plain_rounding() -> None:
    random = np.random.default_rng(0)
    matrix, inputs = random.normal(size=(64, 32)).astype("f4"), correlated_inputs(random)
    scales = column_scales(matrix)
    plain = round_columns(matrix, scales)
    rounded = round_weights(matrix, scales, inputs)
    errors = [np.square(inputs @ (each * scales - matrix)).mean() for each in (plain, rounded)]
    assert rounded.dtype == np.int8
    assert errors[1] < errors[0] / 2


def test_random_rows_are_marked_and_the_same_every_time() -> None:
    rows = random_rows(40, seed=0)
    assert rows == random_rows(40, seed=0)
    assert all(row[0] == 101 and row[-1] == 102 for row in rows)
    assert {len(row) for row in rows} >= {5, 9}
