"""The weights of both graphs of the multilingual embedder: their names, and products of integers."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import onnx
import pytest

from engine.llm.e5.embedder import BLOCK_GRAPH, INTEGER_GRAPH, RANGES
from engine.llm.e5.tensors import (
    column_scales,
    find_input_scale,
    list_block_weights,
    list_integer_weights,
    round_columns,
    smoothing_factors,
)
from engine.llm.e5.weights import WEIGHTS_PACKAGE, BlockWeights, find_weights

needs_weights = pytest.mark.skipif(find_spec(WEIGHTS_PACKAGE) is None, reason="the extra multilingual is not installed")


def test_columns_with_a_large_range_lose_it_to_the_weights() -> None:
    lowest, highest = np.array([-1, 90], "f4"), np.array([1, 110], "f4")
    center, factors = smoothing_factors(lowest, highest, np.ones((2, 3), "f4"))
    assert center.tolist() == [0, 100]
    spread = np.abs((lowest - center) / factors)
    assert spread.max() / spread.min() < 2


def test_a_product_of_rounded_numbers_is_close() -> None:
    random = np.random.default_rng(0)
    inputs = random.normal(size=(200, 64)).astype("f4") * np.linspace(0.1, 30, 64, dtype="f4") + 5
    matrix = random.normal(size=(64, 32)).astype("f4")
    lowest, highest = inputs.min(axis=0), inputs.max(axis=0)
    center, factors = smoothing_factors(lowest, highest, matrix)
    scale, scaled = find_input_scale(lowest, highest, factors), matrix * factors[:, None]
    integers = np.round((inputs - center) / factors / scale)
    assert np.abs(integers).max() <= 127
    columns = column_scales(scaled)
    product = (integers @ round_columns(scaled, columns)) * scale * columns + center @ matrix
    exact = inputs @ matrix
    assert np.abs(product - exact).mean() < 0.03 * exact.std()


@needs_weights
def test_each_graph_is_given_all_its_weights_in_their_shapes() -> None:
    weights = BlockWeights.open(find_weights())
    listed = {
        BLOCK_GRAPH: dict(list_block_weights(weights)),
        INTEGER_GRAPH: dict(list_integer_weights(weights, np.load(RANGES))),
    }
    for path, tensors in listed.items():
        graph = onnx.load(path, load_external_data=False).graph
        outside = [each for each in graph.initializer if each.data_location == onnx.TensorProto.EXTERNAL]
        assert {each.name: tuple(each.dims) for each in outside} == {name: each.shape for name, each in tensors.items()}
