"""Build the ONNX graph of all-MiniLM-L6-v2 from its weights: six BERT layers, mean pooling, normalization.

Source: Devlin et al. 2019 (BERT); Wang et al. 2020 (MiniLM); Reimers and Gurevych 2019 (pooling).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from engine.llm.minilm.graphs import WORD_TABLE
from engine.llm.minilm.weights import WEIGHTS_FILE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.llm.minilm.weights import WeightsFile

OPSET = 20  # the first opset with Gelu
ONNXRUNTIME_DOMAIN = "com.microsoft"  # operations of onnxruntime that are not part of ONNX
LAYERS = 6
ATTENTION_HEADS = 12
HIDDEN_SIZE = 384
EPSILON = 1e-12
MASK_PENALTY = -1e9  # added to the score of a padded position, so that its attention is 0


@dataclass(slots=True)
class GraphBuilder:
    """Collects nodes and constants; values are referred to by name.

    `linear_inputs`: the input of each linear layer, by the name of its first weights.
    """

    weights: WeightsFile
    nodes: list[Any] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)
    linear_inputs: dict[str, str] = field(default_factory=dict)

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
        """Refer to a tensor of the file of weights; returns its name."""
        if name not in self.constants:
            place = self.weights.places[name]
            tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=place.shape)
            tensor.data_location = TensorProto.EXTERNAL
            for key, value in (("location", WEIGHTS_FILE), ("offset", place.offset), ("length", place.length)):
                tensor.external_data.add(key=key, value=str(value))
            self.constants[name] = tensor
        return name

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
        self.linear_inputs[layers[0]] = value
        matrices = [self.add_node("Transpose", self.add_weight(f"{layer}.weight"), perm=[1, 0]) for layer in layers]
        product = self.add_node("MatMul", value, self.add_joined(matrices, axis=1))
        return self.add_node(
            "Add", product, self.add_joined([self.add_weight(f"{layer}.bias") for layer in layers], axis=0)
        )

    def add_joined(self, values: Sequence[str], axis: int) -> str:
        """Concatenate values along an axis; returns the name of the result."""
        return self.add_node("Concat", *values, axis=axis) if len(values) > 1 else values[0]


def build_onnx_model(builder: GraphBuilder, *, with_linear_inputs: bool = False) -> bytes:
    """Serialized model: `ids` and `mask`, int64 of shape (batch, length), to `vectors`, float32 (batch, 384).

    `with_linear_inputs` adds the inputs of the linear layers as outputs, to measure their ranges.
    """
    hidden = add_embeddings(builder)
    mask = builder.add_node("Cast", "mask", to=TensorProto.FLOAT)
    present = builder.add_node("Unsqueeze", mask, builder.add_integers(1, 2))
    penalty = builder.add_node(
        "Mul", builder.add_node("Sub", builder.add_scalar(1.0), present), builder.add_scalar(MASK_PENALTY)
    )
    for layer in range(LAYERS):
        hidden = add_transformer_layer(builder, hidden, penalty, f"encoder.layer.{layer}")
    add_mean_pooling(builder, hidden, mask)
    grid = ["batch", "length"]
    taps = dict.fromkeys(builder.linear_inputs.values()) if with_linear_inputs else {}
    graph = helper.make_graph(
        builder.nodes,
        "all-minilm-l6-v2",
        [helper.make_tensor_value_info(name, TensorProto.INT64, grid) for name in ("ids", "mask")],
        [
            helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", HIDDEN_SIZE]),
            *(helper.make_tensor_value_info(name, TensorProto.FLOAT, [*grid, None]) for name in taps),
        ],
        initializer=list(builder.constants.values()),
    )
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(ONNXRUNTIME_DOMAIN, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    serialized: bytes = model.SerializeToString()
    return serialized


def add_embeddings(builder: GraphBuilder) -> str:
    """Add word, position and segment embeddings (one segment only), normalized."""
    segments = builder.add_weight("embeddings.token_type_embeddings.weight")
    segment = builder.add_node("Gather", segments, builder.add_integers(0))
    table = builder.add_node("Add", builder.add_weight("embeddings.position_embeddings.weight"), segment)
    length = builder.add_node("Shape", "ids", start=1, end=2)
    positions = builder.add_node("Slice", table, builder.add_integers(0), length)
    words = builder.add_node("Gather", builder.add_weight(WORD_TABLE), "ids")
    return builder.add_layer_norm(builder.add_node("Add", words, positions), "embeddings.LayerNorm")


def add_transformer_layer(builder: GraphBuilder, hidden: str, penalty: str, layer: str) -> str:
    """Add one layer: attention, then the two-step perceptron, each added to its input and normalized."""
    seen = builder.add_linear(
        add_attention(builder, hidden, penalty, f"{layer}.attention.self"), f"{layer}.attention.output.dense"
    )
    hidden = builder.add_layer_norm(builder.add_node("Add", seen, hidden), f"{layer}.attention.output.LayerNorm")
    wide = builder.add_node("Gelu", builder.add_linear(hidden, f"{layer}.intermediate.dense"))
    narrow = builder.add_linear(wide, f"{layer}.output.dense")
    return builder.add_layer_norm(builder.add_node("Add", narrow, hidden), f"{layer}.output.LayerNorm")


def add_attention(builder: GraphBuilder, hidden: str, penalty: str, layer: str) -> str:
    """Add scaled dot-product attention of all heads at once, with padded positions masked."""
    both = builder.add_linear(hidden, f"{layer}.query", f"{layer}.key", f"{layer}.value")
    heads = builder.add_node(
        "Reshape", both, builder.add_integers(0, 0, 3, ATTENTION_HEADS, HIDDEN_SIZE // ATTENTION_HEADS)
    )
    parted = builder.add_node(
        "Split", builder.add_node("Transpose", heads, perm=[2, 0, 3, 1, 4]), outputs=3, axis=0, num_outputs=3
    )
    query, key, value = (
        builder.add_node("Squeeze", part, builder.add_integers(0)) for part in (parted, f"{parted}.1", f"{parted}.2")
    )
    scores = builder.add_node("MatMul", query, builder.add_node("Transpose", key, perm=[0, 1, 3, 2]))
    scores = builder.add_node("Mul", scores, builder.add_scalar((HIDDEN_SIZE // ATTENTION_HEADS) ** -0.5))
    shares = builder.add_node("Softmax", builder.add_node("Add", scores, penalty), axis=-1)
    mixed = builder.add_node("Transpose", builder.add_node("MatMul", shares, value), perm=[0, 2, 1, 3])
    return builder.add_node("Reshape", mixed, builder.add_integers(0, 0, HIDDEN_SIZE))


def add_mean_pooling(builder: GraphBuilder, hidden: str, mask: str) -> None:
    """Add the output `vectors`: the mean over positions that are not padding, normalized to length one."""
    kept = builder.add_node("Mul", hidden, builder.add_node("Unsqueeze", mask, builder.add_integers(-1)))
    total = builder.add_node("ReduceSum", kept, builder.add_integers(1), keepdims=0)
    count = builder.add_node("ReduceSum", mask, builder.add_integers(1), keepdims=1)
    mean = builder.add_node("Div", total, count)
    builder.nodes.append(helper.make_node("LpNormalization", [mean], ["vectors"], axis=-1, p=2))
