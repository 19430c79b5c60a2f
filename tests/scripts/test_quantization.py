"""Weights are rounded so that products change little."""

from __future__ import annotations

import numpy as np

from engine.llm.minilm.graphs import random_rows
from scripts.minilm.gptq import WEIGHT_LEVELS, column_scales, round_weights
from scripts.minilm.quantized_graph import smoothing_factors


def correlated_inputs(random: np.random.Generator) -> np.ndarray:
    return (random.normal(size=(500, 8)) @ random.normal(size=(8, 64)) + random.normal(size=(500, 64)) / 4).astype("f4")


def test_products_change_less_than_with_plain_rounding() -> None:
    random = np.random.default_rng(0)
    matrix, inputs = random.normal(size=(64, 32)).astype("f4"), correlated_inputs(random)
    scales = column_scales(matrix)
    plain = np.clip(np.round(matrix / scales), -WEIGHT_LEVELS, WEIGHT_LEVELS)
    rounded = round_weights(matrix, scales, inputs)
    errors = [np.square(inputs @ (each * scales - matrix)).mean() for each in (plain, rounded)]
    assert rounded.dtype == np.int8
    assert errors[1] < errors[0] / 2


def test_columns_with_a_large_range_lose_it_to_the_weights() -> None:
    inputs = np.array([[-1, 90], [1, 110]], dtype="f4")
    center, factors = smoothing_factors(inputs, np.ones((2, 3), dtype="f4"))
    assert center.tolist() == [0, 100]
    spread = np.abs((inputs - center) / factors).max(axis=0)
    assert spread.max() / spread.min() < 2


def test_random_rows_are_marked_and_the_same_every_time() -> None:
    rows = random_rows(40, seed=0)
    assert rows == random_rows(40, seed=0)
    assert all(row[0] == 101 and row[-1] == 102 for row in rows)
    assert {len(row) for row in rows} >= {5, 9}
