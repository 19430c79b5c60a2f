"""The weights of multilingual-e5-small by their names in its two graphs.

One graph multiplies the blocks of 4-bit integers of the file as they are. The other multiplies columns of 8-bit
integers, which takes a third of the time, on processors that compute such products precisely.

Source: Xiao et al. 2023 (SmoothQuant), for moving the range of an input into the weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.llm.e5.weights import ZERO

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from engine.llm.e5.weights import BlockWeights

LAYERS, HIDDEN_SIZE, INNER_SIZE, POSITIONS = 12, 384, 1536, 512
TABLE = "embeddings.positions"  # the vectors of the positions, with that of the only segment
# The linear layers of a layer, by their names in the graph; their parts, by those in the file; and their inputs.
ATTENTION, PERCEPTRON = "attention.self.query", "intermediate.dense"  # their inputs are normalized
LINEAR = (
    (ATTENTION, ("q", "k", "v"), HIDDEN_SIZE),
    ("attention.output.dense", ("ao",), HIDDEN_SIZE),
    (PERCEPTRON, ("fi",), HIDDEN_SIZE),
    ("output.dense", ("fo",), INNER_SIZE),
)
NORMS = (("attention.output.LayerNorm", "aln"), ("output.LayerNorm", "oln"))
SMOOTHING = 0.8  # share of an input's range that its weights take over
RANGE_MARGIN = 1.1  # an input may exceed the measured range by this factor
INPUT_LEVELS = WEIGHT_LEVELS = 127  # the largest integers

Tensors = tuple[str, np.ndarray]


def list_block_weights(weights: BlockWeights) -> Iterator[Tensors]:
    """The weights of the graph of blocks."""
    yield from _list_embeddings(weights)
    for layer in range(LAYERS):
        yield from _list_norms(weights, layer)
        for name, parts, columns in LINEAR:
            yield from _list_blocks(weights, f"encoder.layer.{layer}.{name}", name_parts(layer, parts), columns)


def list_integer_weights(weights: BlockWeights, ranges: np.ndarray) -> Iterator[Tensors]:
    """The weights of the graph of columns.

    `ranges`: the lowest and the highest number of each column of the normalized inputs, float32 (24, 2, 384): of
    attention and perceptron, layer by layer.
    """
    yield from _list_embeddings(weights)
    for layer in range(LAYERS):
        yield from _list_norms(weights, layer)
        measured = dict(zip((ATTENTION, PERCEPTRON), ranges[2 * layer :], strict=False))
        before = {ATTENTION: f"l{layer - 1}.oln" if layer else "emb.ln", PERCEPTRON: f"l{layer}.aln"}
        for name, parts, columns in LINEAR:
            full, shorts = f"encoder.layer.{layer}.{name}", name_parts(layer, parts)
            matrix, offset = _read_matrix(weights, shorts, columns), _read_bias(weights, shorts)
            if name in measured:
                lowest, highest = measured[name]
                center, factors = smoothing_factors(lowest, highest, matrix)
                yield from _list_smooth_norm(weights, full, before[name], (center, factors))
                yield f"{full}.input_scale", find_input_scale(lowest, highest, factors)
                offset, matrix = offset + center @ matrix, matrix * factors[:, None]
            scales = column_scales(matrix)
            yield f"{full}.integers", np.ascontiguousarray(round_columns(matrix, scales))
            yield f"{full}.scales", scales
            yield f"{full}.offset", offset


def name_parts(layer: int, parts: Sequence[str]) -> list[str]:
    """The names of parts in the file."""
    return [f"l{layer}.{part}" for part in parts]


def smoothing_factors(lowest: np.ndarray, highest: np.ndarray, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The middle of each column of the inputs, and the factor by which its range is divided."""
    spread, weight = (highest - lowest) / 2 + 1e-3, np.abs(matrix).max(axis=1) + 1e-6
    factors = spread**SMOOTHING / weight ** (1 - SMOOTHING)
    return (highest + lowest) / 2, (factors / np.exp(np.log(factors).mean())).astype(np.float32)


def find_input_scale(lowest: np.ndarray, highest: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """What one integer of the inputs stands for, once their columns are divided by the factors; float32, no axis."""
    return np.array(((highest - lowest) / 2 / factors).max() * RANGE_MARGIN / INPUT_LEVELS, np.float32)


def column_scales(matrix: np.ndarray) -> np.ndarray:
    """The scale of each output, float32: its largest weight becomes the largest integer."""
    scales: np.ndarray = (np.abs(matrix).max(axis=0) / WEIGHT_LEVELS).astype(np.float32)
    return scales


def round_columns(matrix: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """The nearest integers, int8 of the shape of the matrix (inputs, outputs)."""
    rounded: np.ndarray = np.clip(np.round(matrix / scales), -WEIGHT_LEVELS, WEIGHT_LEVELS).astype(np.int8)
    return rounded


def _list_embeddings(weights: BlockWeights) -> Iterator[Tensors]:
    segment = weights.read_numbers("emb.type")[:HIDDEN_SIZE]
    yield TABLE, weights.read_numbers("emb.pos").reshape(POSITIONS, HIDDEN_SIZE) + segment
    yield from _list_norm(weights, "embeddings.LayerNorm", "emb.ln")


def _list_norms(weights: BlockWeights, layer: int) -> Iterator[Tensors]:
    for name, short in NORMS:
        yield from _list_norm(weights, f"encoder.layer.{layer}.{name}", f"l{layer}.{short}")


def _list_norm(weights: BlockWeights, name: str, short: str) -> Iterator[Tensors]:
    yield f"{name}.weight", weights.read_numbers(f"{short}.w")
    yield f"{name}.bias", weights.read_numbers(f"{short}.b")


def _list_smooth_norm(
    weights: BlockWeights, name: str, short: str, smoothing: tuple[np.ndarray, np.ndarray]
) -> Iterator[Tensors]:
    """The normalization whose columns are equally wide."""
    center, factors = smoothing
    yield f"{name}.smooth_scale", weights.read_numbers(f"{short}.w") / factors
    yield f"{name}.smooth_bias", (weights.read_numbers(f"{short}.b") - center) / factors


def _list_blocks(weights: BlockWeights, name: str, parts: Sequence[str], columns: int) -> Iterator[Tensors]:
    """The parts side by side; onnxruntime wants neighbors of a block in one byte."""
    blocks = [weights.read_blocks(f"{part}.w", columns) for part in parts]
    integers = np.concatenate([each for _, each in blocks])
    scales = np.concatenate([each for each, _ in blocks])
    yield f"{name}.integers", integers[..., 0::2] | integers[..., 1::2] << 4
    yield f"{name}.scales", scales.astype(np.float32).reshape(-1)
    yield f"{name}.bias", _read_bias(weights, parts)


def _read_matrix(weights: BlockWeights, parts: Sequence[str], columns: int) -> np.ndarray:
    """The parts side by side, float32 (inputs, outputs)."""
    read = [weights.read_blocks(f"{part}.w", columns) for part in parts]
    rows = [(integers.astype(np.float32) - ZERO) * scales[..., None].astype(np.float32) for scales, integers in read]
    return np.concatenate([each.reshape(-1, columns) for each in rows]).T


def _read_bias(weights: BlockWeights, parts: Sequence[str]) -> np.ndarray:
    return np.concatenate([weights.read_numbers(f"{part}.b") for part in parts])
