"""Build the graph with 8-bit integers and keep it only if its vectors stay close to those of the exact graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import structlog

from engine.llm.minilm.onnx_graph import GraphBuilder, build_onnx_model
from engine.llm.minilm.quantized_graph import QuantizedGraphBuilder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

log = structlog.get_logger(__name__)

MIN_MEAN_COSINE = 0.999  # of the vectors of random rows; those of real texts are closer
FIRST_MARKER, LAST_MARKER = 101, 102  # word pieces at the ends of every text
# Ranges of ids and their shares: unknown, characters, colon to period, words by frequency.
PIECES = ((100, 101, 0.02), (999, 1996, 0.08), (1006, 1013, 0.15), (1996, 3500, 0.4), (3500, 29_000, 0.35))
MEASURED_ROWS, COMPARED_ROWS = 120, 40
ROW_LENGTHS = (8, 60)


def build_fast_model(weights: Mapping[str, np.ndarray]) -> bytes:
    """The serialized graph with integers, or the exact one where integers are not precise enough.

    Processors without instructions for products of integers may saturate them.
    """
    exact = build_onnx_model(GraphBuilder(weights))
    inputs = measure_linear_inputs(weights, random_rows(MEASURED_ROWS, seed=0))
    fast = build_onnx_model(QuantizedGraphBuilder(weights, inputs=inputs))
    rows = random_rows(COMPARED_ROWS, seed=1)
    cosine = float(np.mean(np.sum(run_model(exact, rows) * run_model(fast, rows), axis=1)))
    if cosine < MIN_MEAN_COSINE:
        log.info("embedder.integers_not_used", cosine=round(cosine, 5))
        return exact
    return fast


def random_rows(count: int, seed: int) -> list[list[int]]:
    """Rows of random word pieces between the markers; some repeat one or two, some are short.

    The ranges that inputs of linear layers take hardly depend on the text: real sentences gave no better weights.
    """
    random = np.random.default_rng(seed)
    rows = []
    for number, length in enumerate(random.integers(*ROW_LENGTHS, size=count)):
        size = number % 8 if number % 4 == 3 else length
        kinds = random.choice(len(PIECES), size=size, p=[share for *_, share in PIECES])
        words = [int(random.integers(*PIECES[kind][:2])) for kind in kinds]
        if number % 8 == 1:
            words = words[: number % 3 + 1] * int(length)
        rows.append([FIRST_MARKER, *words, LAST_MARKER])
    return rows


def measure_linear_inputs(weights: Mapping[str, np.ndarray], rows: Sequence[Sequence[int]]) -> dict[str, np.ndarray]:
    """The input of each linear layer for these rows, float32 (tokens, inputs), by the name of its first weights."""
    builder = GraphBuilder(weights)
    session = open_session(build_onnx_model(builder, with_linear_inputs=True))
    names = list(dict.fromkeys(builder.linear_inputs.values()))
    found = [session.run(names, as_feed(row)) for row in rows]
    by_name = {name: np.concatenate([values[index][0] for values in found]) for index, name in enumerate(names)}
    return {layer: by_name[name] for layer, name in builder.linear_inputs.items()}


def run_model(model: bytes, rows: Sequence[Sequence[int]]) -> np.ndarray:
    """The vector of each row, one run each."""
    session = open_session(model)
    return np.concatenate([session.run(["vectors"], as_feed(row))[0] for row in rows])


def open_session(model: bytes) -> Any:
    """An onnxruntime session for a serialized graph."""
    import onnxruntime  # noqa: PLC0415  - takes 0.2 seconds, needed for building only

    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def as_feed(row: Sequence[int]) -> dict[str, np.ndarray]:
    """The inputs of the graph for a single row."""
    ids = np.array([row], dtype=np.int64)
    return {"ids": ids, "mask": np.ones_like(ids)}
