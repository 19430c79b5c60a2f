"""Build the ONNX graph of multilingual-e5-small: twelve BERT layers whose weights are blocks of 4-bit integers.

The graph has no weights: they are given to the session by their names. Its input is a vector for each word piece, since
a table of 250,000 would take 384 MB as numbers.

Source: Wang et al. 2024 (multilingual E5); Dettmers et al. 2022 (integers in blocks).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx import TensorProto, helper

from engine.llm.e5.embedder import HIDDEN_SIZE, INNER_SIZE, LAYERS, POSITIONS, TABLE
from engine.llm.e5.weights import BLOCK, WEIGHTS_FILE
from scripts.minilm.onnx_graph import (
    EPSILON,
    MASK_PENALTY,
    ONNXRUNTIME_DOMAIN,
    OPSET,
    GraphBuilder,
    add_mean_pooling,
    add_transformer_layer,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

INTEGER_INPUTS = 4  # MatMulNBits rounds the numbers that it multiplies to 8-bit integers


@dataclass(slots=True)
class BlockGraphBuilder(GraphBuilder):
    """Builds linear layers of 4-bit integers; all weights are declared alone."""

    def declare(self, name: str, shape: Sequence[int], kind: int = TensorProto.FLOAT) -> str:
        """Refer to a tensor that the session is given; returns its name."""
        tensor = TensorProto(name=name, data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value=WEIGHTS_FILE)
        self.constants[name] = tensor
        return name

    def add_layer_norm(self, value: str, layer: str) -> str:
        """Add layer normalization over the hidden size."""
        scale, bias = (self.declare(f"{layer}.{part}", (HIDDEN_SIZE,)) for part in ("weight", "bias"))
        return self.add_node("LayerNormalization", value, scale, bias, axis=-1, epsilon=EPSILON)

    def add_linear(self, value: str, *layers: str) -> str:
        """Add a linear layer; several are side by side under the name of the first."""
        name, inner = layers[0], "intermediate" in layers[0]
        rows = INNER_SIZE if inner else len(layers) * HIDDEN_SIZE
        columns = HIDDEN_SIZE if inner or "attention" in name else INNER_SIZE
        blocks = columns // BLOCK
        integers = self.declare(f"{name}.integers", (rows, blocks, BLOCK // 2), TensorProto.UINT8)
        scales = self.declare(f"{name}.scales", (rows * blocks,))
        bias = self.declare(f"{name}.bias", (rows,))
        inputs = value, integers, scales, "", "", bias
        sizes = {"K": columns, "N": rows, "bits": 4, "block_size": BLOCK, "accuracy_level": INTEGER_INPUTS}
        return self.add_node("MatMulNBits", *inputs, domain=ONNXRUNTIME_DOMAIN, **sizes)


def build_block_model(builder: BlockGraphBuilder) -> bytes:
    """Serialized model: `pieces`, float32 (batch, length, 384), and `mask`, int64, to `vectors`, (batch, 384)."""
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
    graph = helper.make_graph(
        builder.nodes,
        "multilingual-e5-small",
        [
            helper.make_tensor_value_info("pieces", TensorProto.FLOAT, ["batch", "length", HIDDEN_SIZE]),
            helper.make_tensor_value_info("mask", TensorProto.INT64, ["batch", "length"]),
        ],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", HIDDEN_SIZE])],
        initializer=list(builder.constants.values()),
    )
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(ONNXRUNTIME_DOMAIN, 1)]
    serialized: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()
    return serialized
