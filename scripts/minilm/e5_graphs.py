"""Build the ONNX graphs of multilingual-e5-small: twelve BERT layers of 4-bit blocks, or of columns of 8 bits.

The graphs have no weights: they are given to the session by their names. Their input is a vector for each word piece,
since a table of 250,000 would take 384 MB as numbers.

Source: Wang et al. 2024 (multilingual E5); Dettmers et al. 2022 (integers in blocks).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from onnx import TensorProto, helper

from engine.llm.e5.embedder import BLOCK_GRAPH, PIECE_TABLE, E5Model, WordPieceTokenizer
from engine.llm.e5.tensors import (
    ATTENTION,
    HIDDEN_SIZE,
    INNER_SIZE,
    LAYERS,
    PERCEPTRON,
    POSITIONS,
    TABLE,
    list_block_weights,
)
from engine.llm.e5.weights import BLOCK, WEIGHTS_FILE, BlockWeights
from engine.llm.minilm.graphs import open_session, share_array
from engine.llm.minilm.local_embedder import pad_rows
from scripts.minilm.onnx_graph import (
    MASK_PENALTY,
    ONNXRUNTIME_DOMAIN,
    OPSET,
    GraphBuilder,
    add_mean_pooling,
    add_transformer_layer,
)
from scripts.minilm.quantized_graph import IntegerGraphBuilder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

INTEGER_INPUTS = 4  # MatMulNBits rounds the numbers that it multiplies to 8-bit integers


class DeclaredGraphBuilder(GraphBuilder):
    """Declares weights by name and shape alone."""

    def declare(self, name: str, shape: Sequence[int], kind: int = TensorProto.FLOAT) -> str:
        """Refer to a tensor that the session is given; returns its name."""
        tensor = TensorProto(name=name, data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value=WEIGHTS_FILE)
        self.constants[name] = tensor
        return name

    def add_weight(self, name: str) -> str:
        """A weight of a normalization."""
        return self.declare(name, (HIDDEN_SIZE,))


@dataclass(slots=True)
class BlockGraphBuilder(DeclaredGraphBuilder):
    """Builds linear layers of 4-bit integers."""

    def add_linear(self, value: str, *layers: str) -> str:
        """Add a linear layer; several are side by side under the name of the first."""
        self.linear_inputs[layers[0]] = value
        name, (columns, rows) = layers[0], measure_layers(layers)
        blocks = columns // BLOCK
        integers = self.declare(f"{name}.integers", (rows, blocks, BLOCK // 2), TensorProto.UINT8)
        scales = self.declare(f"{name}.scales", (rows * blocks,))
        bias = self.declare(f"{name}.bias", (rows,))
        inputs = value, integers, scales, "", "", bias
        sizes = {"K": columns, "N": rows, "bits": 4, "block_size": BLOCK, "accuracy_level": INTEGER_INPUTS}
        return self.add_node("MatMulNBits", *inputs, domain=ONNXRUNTIME_DOMAIN, **sizes)


@dataclass(slots=True)
class ColumnGraphBuilder(DeclaredGraphBuilder, IntegerGraphBuilder):
    """Builds linear layers of 8-bit integers."""

    grid: str = "mask"

    def count_sizes(self, layers: Sequence[str]) -> tuple[int, int]:
        return measure_layers(layers)

    def add_smooth_norm(self, layers: Sequence[str], norm: str) -> tuple[str, str]:  # noqa: ARG002 - under another name
        scale, bias = (self.declare(f"{layers[0]}.{part}", (HIDDEN_SIZE,)) for part in ("smooth_scale", "smooth_bias"))
        return scale, bias

    def add_input_scale(self, layers: Sequence[str]) -> str:
        return self.declare(f"{layers[0]}.input_scale", ())

    def add_offset(self, layers: Sequence[str]) -> str:
        return self.declare(f"{layers[0]}.offset", measure_layers(layers)[1:])

    def add_weights(self, layers: Sequence[str], zero: int) -> list[tuple[str, str]]:  # noqa: ARG002 - 8 bits for all
        name, sizes = layers[0], measure_layers(layers)
        return [(self.declare(f"{name}.integers", sizes, TensorProto.INT8), self.declare(f"{name}.scales", sizes[1:]))]


def measure_layers(layers: Sequence[str]) -> tuple[int, int]:
    """The inputs and outputs of linear layers side by side."""
    inner = "intermediate" in layers[0]
    inputs = HIDDEN_SIZE if inner or "attention" in layers[0] else INNER_SIZE
    return inputs, INNER_SIZE if inner else len(layers) * HIDDEN_SIZE


def build_e5_model(builder: DeclaredGraphBuilder, *, with_linear_inputs: bool = False) -> bytes:
    """Serialized model: `pieces`, float32 (batch, length, 384), and `mask`, int64, to `vectors`, (batch, 384).

    `with_linear_inputs` adds the inputs of the linear layers as outputs, to measure their ranges.
    """
    length = builder.add_node("Shape", "pieces", start=1, end=2)
    table = builder.declare(TABLE, (POSITIONS, HIDDEN_SIZE))
    positions = builder.add_node("Slice", table, builder.add_integers(0), length)
    hidden = builder.add_layer_norm(builder.add_node("Add", "pieces", positions), "embeddings.LayerNorm")
    mask = builder.add_node("Cast", "mask", to=TensorProto.FLOAT)
    present = builder.add_node("Unsqueeze", mask, builder.add_integers(1, 2))
    absent = builder.add_node("Sub", builder.add_scalar(1.0), present)
    penalty = builder.add_node("Mul", absent, builder.add_scalar(MASK_PENALTY))
    for layer in range(LAYERS):
        hidden = add_transformer_layer(builder, hidden, penalty, f"encoder.layer.{layer}")
    add_mean_pooling(builder, hidden, mask)
    taps = dict.fromkeys(builder.linear_inputs.values()) if with_linear_inputs else {}
    graph = helper.make_graph(
        builder.nodes,
        "multilingual-e5-small",
        [
            helper.make_tensor_value_info("pieces", TensorProto.FLOAT, ["batch", "length", HIDDEN_SIZE]),
            helper.make_tensor_value_info("mask", TensorProto.INT64, ["batch", "length"]),
        ],
        [
            helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", HIDDEN_SIZE]),
            *(helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", "length", None]) for name in taps),
        ],
        initializer=list(builder.constants.values()),
    )
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(ONNXRUNTIME_DOMAIN, 1)]
    serialized: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()
    return serialized


def open_blocks(file: Path, graph: bytes = b"") -> E5Model:
    """The model with the graph of blocks, or another one that takes the same weights."""
    weights = BlockWeights.open(file)
    values = {name: share_array(array) for name, array in list_block_weights(weights)}
    tokenizer = WordPieceTokenizer(weights.pieces, weights.scores, weights.characters)
    session = open_session(graph or BLOCK_GRAPH.read_bytes(), file.parent, values, 1)
    return E5Model(tokenizer, session, values, weights.map_blocks(PIECE_TABLE, HIDDEN_SIZE))


def measure_ranges(model: E5Model, builder: BlockGraphBuilder, texts: Sequence[str]) -> np.ndarray:
    """The lowest and the highest number of each column of the normalized inputs, float32 (24, 2, 384).

    `model`: with the linear inputs of `builder` as outputs.
    """
    names = [
        builder.linear_inputs[f"encoder.layer.{layer}.{name}"]
        for layer in range(LAYERS)
        for name in (ATTENTION, PERCEPTRON)
    ]
    low, high = np.full((len(names), HIDDEN_SIZE), np.inf), np.full((len(names), HIDDEN_SIZE), -np.inf)
    for row in model.tokenize(texts):
        ids, mask = pad_rows([row])
        found = np.concatenate(model.session.run(names, {"pieces": model.look_up(ids), "mask": mask}))
        low, high = np.minimum(low, found.min(axis=1)), np.maximum(high, found.max(axis=1))
    return np.stack([low, high], axis=1).astype(np.float32)
