"""Build the graph with 8-bit integers, whose weights are rounded for the inputs that the exact graph measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.llm.minilm.graphs import WORD_TABLE, build_feed, open_session, random_rows, share_array
from scripts.minilm.onnx_graph import GraphBuilder, build_onnx_model
from scripts.minilm.quantized_graph import QuantizedGraphBuilder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.llm.minilm.weights import WeightsFile

MEASURED_ROWS = 120
THREADS = 2


def build_fast_model(weights: WeightsFile) -> bytes:
    """The serialized graph with integers."""
    inputs = measure_linear_inputs(weights, random_rows(MEASURED_ROWS, seed=0))
    return build_onnx_model(QuantizedGraphBuilder(weights, inputs=inputs))


def measure_linear_inputs(weights: WeightsFile, rows: Sequence[Sequence[int]]) -> dict[str, np.ndarray]:
    """The input of each linear layer for these rows, float32 (tokens, inputs), by the name of its first weights."""
    builder, words = GraphBuilder(weights), share_array(weights.read(WORD_TABLE))
    session = open_session(
        build_onnx_model(builder, with_linear_inputs=True), weights.path.parent, {WORD_TABLE: words}, THREADS
    )
    names = list(dict.fromkeys(builder.linear_inputs.values()))
    found = [session.run(names, build_feed(row)) for row in rows]
    by_name = {name: np.concatenate([values[index][0] for values in found]) for index, name in enumerate(names)}
    return {layer: by_name[name] for layer, name in builder.linear_inputs.items()}
