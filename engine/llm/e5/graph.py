"""Give the graph of multilingual-e5-small its weights, in the form in which onnxruntime multiplies them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.llm.minilm.graphs import open_session, share_array

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from engine.llm.e5.weights import BlockWeights

GRAPH = Path(__file__).with_name("graph.onnx")
LAYERS, HIDDEN_SIZE, INNER_SIZE, POSITIONS = 12, 384, 1536, 512
TABLE = "embeddings.positions"  # the vectors of the positions, with that of the only segment
PIECE_TABLE = "emb.word"
# The linear layers of a layer, by their names in the graph; their parts, by those in the file; and their inputs.
LINEAR = (
    ("attention.self.query", ("q", "k", "v"), HIDDEN_SIZE),
    ("attention.output.dense", ("ao",), HIDDEN_SIZE),
    ("intermediate.dense", ("fi",), HIDDEN_SIZE),
    ("output.dense", ("fo",), INNER_SIZE),
)
NORMS = (("attention.output.LayerNorm", "aln"), ("output.LayerNorm", "oln"))


def open_graph(weights: BlockWeights, folder: Path, threads: int) -> tuple[Any, Mapping[str, Any]]:
    """An onnxruntime session on the CPU, and the values that must live as long as it.

    `folder`: of the file that the graph names, though it reads nothing of it.
    """
    values = {name: share_array(array) for name, array in list_weights(weights)}
    return open_session(GRAPH.read_bytes(), folder, values, threads), values


def list_weights(weights: BlockWeights) -> Iterator[tuple[str, np.ndarray]]:
    """The weights of the graph by name."""
    segment = weights.read_numbers("emb.type")[:HIDDEN_SIZE]
    yield TABLE, weights.read_numbers("emb.pos").reshape(POSITIONS, HIDDEN_SIZE) + segment
    yield from _list_norm(weights, "embeddings.LayerNorm", "emb.ln")
    for layer in range(LAYERS):
        for name, short in NORMS:
            yield from _list_norm(weights, f"encoder.layer.{layer}.{name}", f"l{layer}.{short}")
        for name, parts, columns in LINEAR:
            shorts = [f"l{layer}.{part}" for part in parts]
            yield from _list_linear(weights, f"encoder.layer.{layer}.{name}", shorts, columns)


def _list_norm(weights: BlockWeights, name: str, short: str) -> Iterator[tuple[str, np.ndarray]]:
    yield f"{name}.weight", weights.read_numbers(f"{short}.w")
    yield f"{name}.bias", weights.read_numbers(f"{short}.b")


def _list_linear(
    weights: BlockWeights, name: str, parts: Sequence[str], columns: int
) -> Iterator[tuple[str, np.ndarray]]:
    """The parts side by side; onnxruntime wants neighbors of a block in one byte."""
    blocks = [weights.read_blocks(f"{part}.w", columns) for part in parts]
    integers = np.concatenate([each for _, each in blocks])
    scales = np.concatenate([each for each, _ in blocks])
    yield f"{name}.integers", integers[..., 0::2] | integers[..., 1::2] << 4
    yield f"{name}.scales", scales.astype(np.float32).reshape(-1)
    yield f"{name}.bias", np.concatenate([weights.read_numbers(f"{part}.b") for part in parts])
