"""Weights are rounded so that products change little, and integers are used only where they are precise enough."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from engine.llm.minilm import quantization
from engine.llm.minilm.gptq import WEIGHT_LEVELS, column_scales, round_weights
from engine.llm.minilm.onnx_graph import GraphBuilder
from engine.llm.minilm.quantized_graph import QuantizedGraphBuilder, smoothing_factors


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


@pytest.mark.parametrize(("noise", "expected"), [(0.0, b"fast"), (0.5, b"exact")])
def test_imprecise_integers_are_not_used(monkeypatch: pytest.MonkeyPatch, noise: float, expected: bytes) -> None:
    def run(model: bytes, rows: Sequence[Sequence[int]]) -> np.ndarray:
        vectors = np.ones((len(rows), 2)) + np.array([noise if model == b"fast" else 0, 0])
        unit: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    kinds = {GraphBuilder: b"exact", QuantizedGraphBuilder: b"fast"}
    monkeypatch.setattr(quantization, "build_onnx_model", lambda builder: kinds[type(builder)])
    monkeypatch.setattr(quantization, "measure_linear_inputs", lambda weights, rows: {})
    monkeypatch.setattr(quantization, "run_model", run)
    assert quantization.build_fast_model({}) == expected


def test_random_rows_are_marked_and_the_same_every_time() -> None:
    rows = quantization.random_rows(40, seed=0)
    assert rows == quantization.random_rows(40, seed=0)
    assert all(row[0] == 101 and row[-1] == 102 for row in rows)
    assert {len(row) for row in rows} >= {5, 9}
