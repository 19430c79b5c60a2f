"""Build the ONNX graph of all-MiniLM-L6-v2 from its weights: six BERT layers, mean pooling, normalization.

Source: Devlin et al. 2019 (BERT); Wang et al. 2020 (MiniLM); Reimers and Gurevych 2019 (pooling).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

if TYPE_CHECKING:
    from collections.abc import Mapping

OPSET = 20  # the first opset with Gelu
LAYERS = 6
ATTENTION_HEADS = 12
HIDDEN_SIZE = 384
EPSILON = 1e-12
MASK_PENALTY = -1e9  # added to the score of a padded position, so that its attention is 0


@dataclass(slots=True)
class GraphBuilder:
    """Collects nodes and constants; values are referred to by name."""

    weights: Mapping[str, np.ndarray]
    nodes: list[Any] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)

    def add_node(self, op: str, *inputs: str, outputs: int = 1, **attributes: Any) -> str:
        """Add an operation; returns the name of its first output. Further outputs append .1, .2 and so on."""
        name = f"{op}.{len(self.nodes)}"
        names = [name, *(f"{name}.{index}" for index in range(1, outputs))]
        self.nodes.append(helper.make_node(op, list(inputs), names, **attributes))
        return name

    def add_constant(self, name: str, value: np.ndarray) -> str:
        """Add an array to the graph once; returns its name."""
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def add_weight(self, name: str) -> str:
        """Add a vector of the weights unchanged."""
        return self.add_constant(name, self.weights[name])

    def add_integers(self, *values: int) -> str:
        """Add a constant list of integers: shapes, axes, indices."""
        return self.add_constant("numbers." + ".".join(map(str, values)), np.array(values, dtype=np.int64))

    def add_scalar(self, value: float) -> str:
        """Add a constant number."""
        return self.add_constant(f"scalar.{value}", np.array(value, dtype=np.float32))

    def add_layer_norm(self, value: str, layer: str) -> str:
        """Add layer normalization over the hidden size."""
        scale, bias = self.add_weight(f"{layer}.weight"), self.add_weight(f"{layer}.bias")
        return self.add_node("LayerNormalization", value, scale, bias, axis=-1, epsilon=EPSILON)

    def add_linear(self, value: str, *layers: str) -> str:
        """Add a linear layer; several are concatenated, so that one multiplication computes them all."""
        matrix = np.concatenate([self.weights[f"{layer}.weight"].T for layer in layers], axis=1)
        bias = np.concatenate([self.weights[f"{layer}.bias"] for layer in layers])
        product = self.add_node("MatMul", value, self.add_constant(f"{layers[0]}.matrix", matrix))
        return self.add_node("Add", product, self.add_constant(f"{layers[0]}.offset", bias))


def build_onnx_model(weights: Mapping[str, np.ndarray]) -> bytes:
    """Serialized model: `ids` and `mask`, int64 of shape (batch, length), to `vectors`, float32 (batch, 384)."""
    sheet = GraphBuilder(weights)
    hidden = add_embeddings(sheet)
    mask = sheet.add_node("Cast", "mask", to=TensorProto.FLOAT)
    present = sheet.add_node("Unsqueeze", mask, sheet.add_integers(1, 2))
    penalty = sheet.add_node(
        "Mul", sheet.add_node("Sub", sheet.add_scalar(1.0), present), sheet.add_scalar(MASK_PENALTY)
    )
    for layer in range(LAYERS):
        hidden = add_transformer_layer(sheet, hidden, penalty, f"encoder.layer.{layer}")
    add_mean_pooling(sheet, hidden, mask)
    grid = ["batch", "length"]
    graph = helper.make_graph(
        sheet.nodes,
        "all-minilm-l6-v2",
        [helper.make_tensor_value_info(name, TensorProto.INT64, grid) for name in ("ids", "mask")],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", HIDDEN_SIZE])],
        initializer=list(sheet.constants.values()),
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    onnx.checker.check_model(model)
    serialised: bytes = model.SerializeToString()
    return serialised


def add_embeddings(sheet: GraphBuilder) -> str:
    """Add word, position and segment embeddings (one segment only), normalized."""
    table = sheet.weights["embeddings.position_embeddings.weight"]
    segment = sheet.weights["embeddings.token_type_embeddings.weight"][0]
    length = sheet.add_node("Shape", "ids", start=1, end=2)
    positions = sheet.add_node("Slice", sheet.add_constant("positions", table + segment), sheet.add_integers(0), length)
    words = sheet.add_node("Gather", sheet.add_weight("embeddings.word_embeddings.weight"), "ids")
    return sheet.add_layer_norm(sheet.add_node("Add", words, positions), "embeddings.LayerNorm")


def add_transformer_layer(sheet: GraphBuilder, hidden: str, penalty: str, layer: str) -> str:
    """Add one layer: attention, then the two-step perceptron, each added to its input and normalized."""
    seen = sheet.add_linear(
        add_attention(sheet, hidden, penalty, f"{layer}.attention.self"), f"{layer}.attention.output.dense"
    )
    hidden = sheet.add_layer_norm(sheet.add_node("Add", seen, hidden), f"{layer}.attention.output.LayerNorm")
    wide = sheet.add_node("Gelu", sheet.add_linear(hidden, f"{layer}.intermediate.dense"))
    narrow = sheet.add_linear(wide, f"{layer}.output.dense")
    return sheet.add_layer_norm(sheet.add_node("Add", narrow, hidden), f"{layer}.output.LayerNorm")


def add_attention(sheet: GraphBuilder, hidden: str, penalty: str, layer: str) -> str:
    """Add scaled dot-product attention of all heads at once, with padded positions masked."""
    both = sheet.add_linear(hidden, f"{layer}.query", f"{layer}.key", f"{layer}.value")
    heads = sheet.add_node(
        "Reshape", both, sheet.add_integers(0, 0, 3, ATTENTION_HEADS, HIDDEN_SIZE // ATTENTION_HEADS)
    )
    parted = sheet.add_node(
        "Split", sheet.add_node("Transpose", heads, perm=[2, 0, 3, 1, 4]), outputs=3, axis=0, num_outputs=3
    )
    query, key, value = (
        sheet.add_node("Squeeze", part, sheet.add_integers(0)) for part in (parted, f"{parted}.1", f"{parted}.2")
    )
    scores = sheet.add_node("MatMul", query, sheet.add_node("Transpose", key, perm=[0, 1, 3, 2]))
    scores = sheet.add_node("Mul", scores, sheet.add_scalar((HIDDEN_SIZE // ATTENTION_HEADS) ** -0.5))
    shares = sheet.add_node("Softmax", sheet.add_node("Add", scores, penalty), axis=-1)
    mixed = sheet.add_node("Transpose", sheet.add_node("MatMul", shares, value), perm=[0, 2, 1, 3])
    return sheet.add_node("Reshape", mixed, sheet.add_integers(0, 0, HIDDEN_SIZE))


def add_mean_pooling(sheet: GraphBuilder, hidden: str, mask: str) -> None:
    """Add the output `vectors`: the mean over positions that are not padding, normalized to length one."""
    kept = sheet.add_node("Mul", hidden, sheet.add_node("Unsqueeze", mask, sheet.add_integers(-1)))
    total = sheet.add_node("ReduceSum", kept, sheet.add_integers(1), keepdims=0)
    count = sheet.add_node("ReduceSum", mask, sheet.add_integers(1), keepdims=1)
    mean = sheet.add_node("Div", total, count)
    sheet.nodes.append(helper.make_node("LpNormalization", [mean], ["vectors"], axis=-1, p=2))
