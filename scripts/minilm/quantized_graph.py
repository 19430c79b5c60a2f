"""ONNX graphs with linear layers in 8-bit integers: two to three times as fast, at a cosine of 0.999.

Source: Xiao et al. 2023 (SmoothQuant), for moving the range of an input into the weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from engine.llm.e5.tensors import column_scales, find_input_scale, round_columns, smoothing_factors
from scripts.minilm.gptq import round_weights
from scripts.minilm.onnx_graph import EPSILON, ONNXRUNTIME_DOMAIN, GraphBuilder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SYMMETRIC_ZERO = 128  # the integer of 0 in inputs of both signs
GELU_ZERO = 16  # the integer of 0 in outputs of Gelu, which are never below its minimum
GELU_MINIMUM = 0.171
SMALLEST_SCALE = 1e-9


@dataclass(slots=True)
class IntegerGraphBuilder(GraphBuilder, ABC):
    """Builds linear layers of integers; where their tensors come from, subclasses know.

    A normalized input has one scale, since its range is known. Any other gets a scale per token, so that a vector does
    not depend on the other texts of its run. `norms`: the input and the weights of each layer normalization.
    `grid`: the input of the graph whose shape is (batch, length).
    """

    norms: dict[str, tuple[str, str]] = field(default_factory=dict)
    grid: str = "ids"

    @abstractmethod
    def count_sizes(self, layers: Sequence[str]) -> tuple[int, int]:
        """The inputs and outputs of linear layers side by side."""

    @abstractmethod
    def add_smooth_norm(self, layers: Sequence[str], norm: str) -> tuple[str, str]:
        """Scale and bias of a normalization to a range that is equal in all columns of the inputs."""

    @abstractmethod
    def add_input_scale(self, layers: Sequence[str]) -> str:
        """What one integer of such an input stands for."""

    @abstractmethod
    def add_offset(self, layers: Sequence[str]) -> str:
        """What is added to the product."""

    @abstractmethod
    def add_weights(self, layers: Sequence[str], zero: int) -> list[tuple[str, str]]:
        """Matrices of integers and their scales per column, whose products are added up."""

    def add_layer_norm(self, value: str, layer: str) -> str:
        """Add layer normalization, and remember its input for the linear layers that follow."""
        name = GraphBuilder.add_layer_norm(self, value, layer)
        self.norms[name] = value, layer
        return name

    def add_linear(self, value: str, *layers: str) -> str:
        """Add a linear layer of 8-bit integers."""
        if value in self.norms:
            return self._add_normalized_linear(value, layers)
        flat = self.add_node("Reshape", value, self.add_integers(-1, self.count_sizes(layers)[0]))
        scale, zero = self._add_gelu_scale(flat) if "attention" not in layers[0] else self._add_symmetric_scale(flat)
        return self._add_row_scaled_linear(flat, scale, zero, layers)

    def _add_normalized_linear(self, value: str, layers: Sequence[str]) -> str:
        """A linear layer whose input is normalized again to a range that is equal in all its columns."""
        source, norm = self.norms[value]
        wide = self.add_smooth_norm(layers, norm)
        smooth = self.add_node("LayerNormalization", source, *wide, axis=-1, epsilon=EPSILON)
        scale = self.add_input_scale(layers)
        integers = self.add_node("QuantizeLinear", smooth, scale, self._add_zero(SYMMETRIC_ZERO))
        offset = self.add_offset(layers)
        [weights] = self.add_weights(layers, SYMMETRIC_ZERO)
        return self._add_product(integers, weights, scale, SYMMETRIC_ZERO, offset)

    def _add_row_scaled_linear(self, flat: str, scale: str, zero: int, layers: Sequence[str]) -> str:
        """A linear layer whose input, of shape (tokens, inputs), has a scale per token, of shape (tokens, 1)."""
        row_scale = self.add_node("Squeeze", scale, self.add_integers(-1))
        zeros = self.add_node("Expand", self._add_zero(zero), self.add_node("Shape", row_scale))
        integers = self.add_node("QuantizeLinear", flat, row_scale, zeros, axis=0)
        one = self.add_scalar(1.0)
        products = [self._add_product(integers, each, one, zero) for each in self.add_weights(layers, zero)]
        product = self.add_node("Add", *products) if len(products) > 1 else products[0]
        outputs = self.add_integers(self.count_sizes(layers)[1])
        grid = self.add_node("Concat", self.add_node("Shape", self.grid), outputs, axis=0)
        shaped = self.add_node("Reshape", self.add_node("Mul", product, scale), grid)
        return self.add_node("Add", shaped, self.add_offset(layers))

    def _add_symmetric_scale(self, flat: str) -> tuple[str, int]:
        """The scale of each row by its largest number, and the integer of 0."""
        largest = self.add_node("ReduceMax", self.add_node("Abs", flat), self.add_integers(-1), keepdims=1)
        scale = self.add_node("Mul", largest, self.add_scalar(1 / (SYMMETRIC_ZERO - 1)))
        return self.add_node("Max", scale, self.add_scalar(SMALLEST_SCALE)), SYMMETRIC_ZERO

    def _add_gelu_scale(self, flat: str) -> tuple[str, int]:
        """As the symmetric scale, for outputs of Gelu: few integers are for negative numbers."""
        largest = self.add_node("ReduceMax", flat, self.add_integers(-1), keepdims=1)
        scale = self.add_node("Mul", largest, self.add_scalar(1 / (255 - GELU_ZERO)))
        return self.add_node("Max", scale, self.add_scalar(GELU_MINIMUM / GELU_ZERO)), GELU_ZERO

    def _add_zero(self, zero: int) -> str:
        return self.add_constant(f"zero.{zero}", np.array(zero, dtype=np.uint8))

    def _add_product(self, integers: str, weights: tuple[str, str], scale: str, zero: int, offset: str = "") -> str:
        """The product of integers, as float32."""
        ends = ["", offset] if offset else []
        return self.add_node(
            "MatMulIntegerToFloat",
            *(integers, weights[0], scale, weights[1], self._add_zero(zero), *ends),
            domain=ONNXRUNTIME_DOMAIN,
        )


@dataclass(slots=True)
class QuantizedGraphBuilder(IntegerGraphBuilder):
    """Rounds the weights of MiniLM. `inputs`: measured inputs of each linear layer, float32 (tokens, inputs)."""

    inputs: Mapping[str, np.ndarray] = field(default_factory=dict)

    def count_sizes(self, layers: Sequence[str]) -> tuple[int, int]:
        inputs, outputs = self._read_matrix(layers).shape
        return inputs, outputs

    def add_smooth_norm(self, layers: Sequence[str], norm: str) -> tuple[str, str]:
        center, factors = self._find_smoothing(layers)
        return (
            self.add_constant(f"{layers[0]}.smooth_scale", self.weights.read(f"{norm}.weight") / factors),
            self.add_constant(f"{layers[0]}.smooth_bias", (self.weights.read(f"{norm}.bias") - center) / factors),
        )

    def add_input_scale(self, layers: Sequence[str]) -> str:
        measured = self.inputs[layers[0]]
        _, factors = self._find_smoothing(layers)
        return self.add_scalar(float(find_input_scale(measured.min(axis=0), measured.max(axis=0), factors)))

    def add_offset(self, layers: Sequence[str]) -> str:
        bias = np.concatenate([self.weights.read(f"{layer}.bias") for layer in layers])
        if self._is_normalized(layers):
            center, _ = self._find_smoothing(layers)
            bias = bias + center @ self._read_matrix(layers)
        return self.add_constant(f"{layers[0]}.offset", bias)

    def add_weights(self, layers: Sequence[str], zero: int) -> list[tuple[str, str]]:
        """Of outputs of Gelu 16 bits: rounded weights, and the rest that rounding left."""
        matrix, inputs, name = self._read_matrix(layers), self.inputs[layers[0]], layers[0]
        if zero == GELU_ZERO:
            return self._add_precise_weights(name, matrix)
        if self._is_normalized(layers):
            center, factors = self._find_smoothing(layers)
            matrix, inputs = matrix * factors[:, None], (inputs - center) / factors
        scales = column_scales(matrix)
        rounded = round_weights(matrix.astype(np.float32), scales, inputs)
        return [(self.add_constant(f"{name}.integers", rounded), self.add_constant(f"{name}.scales", scales))]

    def _add_precise_weights(self, name: str, matrix: np.ndarray) -> list[tuple[str, str]]:
        scales = column_scales(matrix)
        rounded = round_columns(matrix, scales)
        rest = matrix - rounded * scales
        finer = column_scales(rest)
        return [
            (self.add_constant(f"{name}.integers", rounded), self.add_constant(f"{name}.scales", scales)),
            (
                self.add_constant(f"{name}.rest", round_columns(rest, finer)),
                self.add_constant(f"{name}.rest_scales", finer),
            ),
        ]

    def _is_normalized(self, layers: Sequence[str]) -> bool:
        return "output" not in layers[0]

    def _read_matrix(self, layers: Sequence[str]) -> np.ndarray:
        """The matrix (inputs, outputs) of several linear layers side by side."""
        return np.concatenate([self.weights.read(f"{layer}.weight").T for layer in layers], axis=1)

    def _find_smoothing(self, layers: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        measured = self.inputs[layers[0]]
        return smoothing_factors(measured.min(axis=0), measured.max(axis=0), self._read_matrix(layers))
