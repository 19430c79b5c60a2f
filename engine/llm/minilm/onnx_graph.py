"""The ONNX graph of all-MiniLM-L6-v2, built from its weights: a BERT of six layers, mean pooling, length one.

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

OPSET = 20  # the first with Gelu
LAYERS = 6
HEADS = 12
WIDTH = 384
EPSILON = 1e-12
MASKED = -1e9  # added to the score of a padded position: its share of the attention becomes 0


@dataclass(slots=True)
class Sheet:
    """Collects nodes and constants; a value is known by its name."""

    weights: Mapping[str, np.ndarray]
    nodes: list[Any] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)

    def node(self, op: str, *inputs: str, outputs: int = 1, **attributes: Any) -> str:
        """The name of the (first) output of one more operation; further ones have .1, .2 and so on appended."""
        name = f"{op}.{len(self.nodes)}"
        names = [name, *(f"{name}.{index}" for index in range(1, outputs))]
        self.nodes.append(helper.make_node(op, list(inputs), names, **attributes))
        return name

    def constant(self, name: str, value: np.ndarray) -> str:
        """The name under which an array stands in the graph, once."""
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def weight(self, name: str) -> str:
        """A vector of the weights, as it is."""
        return self.constant(name, self.weights[name])

    def numbers(self, *values: int) -> str:
        """A constant list of whole numbers: shapes, axes, indices."""
        return self.constant("numbers." + ".".join(map(str, values)), np.array(values, dtype=np.int64))

    def scalar(self, value: float) -> str:
        """A constant number."""
        return self.constant(f"scalar.{value}", np.array(value, dtype=np.float32))

    def norm(self, value: str, layer: str) -> str:
        """Layer normalisation over the width."""
        scale, bias = self.weight(f"{layer}.weight"), self.weight(f"{layer}.bias")
        return self.node("LayerNormalization", value, scale, bias, axis=-1, epsilon=EPSILON)

    def dense(self, value: str, *layers: str) -> str:
        """A linear layer; several are laid side by side, so that one multiplication does them all."""
        matrix = np.concatenate([self.weights[f"{layer}.weight"].T for layer in layers], axis=1)
        bias = np.concatenate([self.weights[f"{layer}.bias"] for layer in layers])
        product = self.node("MatMul", value, self.constant(f"{layers[0]}.matrix", matrix))
        return self.node("Add", product, self.constant(f"{layers[0]}.offset", bias))


def build(weights: Mapping[str, np.ndarray]) -> bytes:
    """The serialised model: `ids` and `mask`, int64 of shape (batch, length), to `vectors`, float32 (batch, 384)."""
    sheet = Sheet(weights)
    hidden = embeddings(sheet)
    mask = sheet.node("Cast", "mask", to=TensorProto.FLOAT)
    present = sheet.node("Unsqueeze", mask, sheet.numbers(1, 2))
    penalty = sheet.node("Mul", sheet.node("Sub", sheet.scalar(1.0), present), sheet.scalar(MASKED))
    for layer in range(LAYERS):
        hidden = transform(sheet, hidden, penalty, f"encoder.layer.{layer}")
    pool(sheet, hidden, mask)
    grid = ["batch", "length"]
    graph = helper.make_graph(
        sheet.nodes,
        "all-minilm-l6-v2",
        [helper.make_tensor_value_info(name, TensorProto.INT64, grid) for name in ("ids", "mask")],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", WIDTH])],
        initializer=list(sheet.constants.values()),
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    onnx.checker.check_model(model)
    serialised: bytes = model.SerializeToString()
    return serialised


def embeddings(sheet: Sheet) -> str:
    """Words plus positions plus the first (and only) segment, normalised."""
    table = sheet.weights["embeddings.position_embeddings.weight"]
    segment = sheet.weights["embeddings.token_type_embeddings.weight"][0]
    length = sheet.node("Shape", "ids", start=1, end=2)
    positions = sheet.node("Slice", sheet.constant("positions", table + segment), sheet.numbers(0), length)
    words = sheet.node("Gather", sheet.weight("embeddings.word_embeddings.weight"), "ids")
    return sheet.norm(sheet.node("Add", words, positions), "embeddings.LayerNorm")


def transform(sheet: Sheet, hidden: str, penalty: str, layer: str) -> str:
    """One layer: attention, then the two-step perceptron, each added to its input and normalised."""
    seen = sheet.dense(attend(sheet, hidden, penalty, f"{layer}.attention.self"), f"{layer}.attention.output.dense")
    hidden = sheet.norm(sheet.node("Add", seen, hidden), f"{layer}.attention.output.LayerNorm")
    wide = sheet.node("Gelu", sheet.dense(hidden, f"{layer}.intermediate.dense"))
    narrow = sheet.dense(wide, f"{layer}.output.dense")
    return sheet.norm(sheet.node("Add", narrow, hidden), f"{layer}.output.LayerNorm")


def attend(sheet: Sheet, hidden: str, penalty: str, layer: str) -> str:
    """Scaled dot-product attention of all heads at once, padded positions left out."""
    both = sheet.dense(hidden, f"{layer}.query", f"{layer}.key", f"{layer}.value")
    heads = sheet.node("Reshape", both, sheet.numbers(0, 0, 3, HEADS, WIDTH // HEADS))
    parted = sheet.node("Split", sheet.node("Transpose", heads, perm=[2, 0, 3, 1, 4]), outputs=3, axis=0, num_outputs=3)
    query, key, value = (
        sheet.node("Squeeze", part, sheet.numbers(0)) for part in (parted, f"{parted}.1", f"{parted}.2")
    )
    scores = sheet.node("MatMul", query, sheet.node("Transpose", key, perm=[0, 1, 3, 2]))
    scores = sheet.node("Mul", scores, sheet.scalar((WIDTH // HEADS) ** -0.5))
    shares = sheet.node("Softmax", sheet.node("Add", scores, penalty), axis=-1)
    mixed = sheet.node("Transpose", sheet.node("MatMul", shares, value), perm=[0, 2, 1, 3])
    return sheet.node("Reshape", mixed, sheet.numbers(0, 0, WIDTH))


def pool(sheet: Sheet, hidden: str, mask: str) -> None:
    """The mean over the positions that are not padding, brought to length one: the output `vectors`."""
    kept = sheet.node("Mul", hidden, sheet.node("Unsqueeze", mask, sheet.numbers(-1)))
    total = sheet.node("ReduceSum", kept, sheet.numbers(1), keepdims=0)
    count = sheet.node("ReduceSum", mask, sheet.numbers(1), keepdims=1)
    mean = sheet.node("Div", total, count)
    sheet.nodes.append(helper.make_node("LpNormalization", [mean], ["vectors"], axis=-1, p=2))
