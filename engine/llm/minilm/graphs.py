"""Open the ONNX graphs of all-MiniLM-L6-v2 that this package carries, and check that the processor computes them well.

`python -m scripts.build_model` builds them, and the vectors by which integers are checked. Both refer to the file of
weights, by offsets: the exact graph for all of its numbers, the one with 8-bit integers for the table of word pieces.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EXACT_GRAPH, FAST_GRAPH = (Path(__file__).with_name(name) for name in ("exact.onnx", "fast.onnx"))
# The rows that are compared, and their vectors by the exact graph.
CHECK_ROWS, CHECK_VECTORS = (Path(__file__).with_name(name) for name in ("check_rows.npy", "check_vectors.npy"))
WORD_TABLE = "embeddings.word_embeddings.weight"
FOLDER_ENTRY = "session.model_external_initializers_file_folder_path"

MIN_MEAN_COSINE = 0.999  # of the vectors of random rows; those of real texts are closer
FIRST_MARKER, LAST_MARKER = 101, 102  # word pieces at the ends of every text
# Ranges of ids and their shares: unknown, characters, colon to period, words by frequency.
PIECES = ((100, 101, 0.02), (999, 1996, 0.08), (1006, 1013, 0.15), (1996, 3500, 0.4), (3500, 29_000, 0.35))
ROW_LENGTHS = (8, 60)
COMPARED_ROWS = 10


def share_array(array: np.ndarray) -> Any:
    """Numbers for sessions, such as the table of word pieces, half of the model; the memory is that of the array."""
    import onnxruntime  # noqa: PLC0415  - takes 0.2 seconds, needed for embedding only

    return onnxruntime.OrtValue.ortvalue_from_numpy(array)


def open_session(graph: bytes | Path, weights_dir: Path, shared: Mapping[str, Any], threads: int) -> Any:
    """An onnxruntime session for a serialized graph, on the CPU. `shared`: arrays of `share_array` by their names.

    The session keeps a graph that is given as bytes.
    """
    import onnxruntime  # noqa: PLC0415  - takes 0.2 seconds, needed for embedding only

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    for name, value in shared.items():
        options.add_initializer(name, value)
    options.add_session_config_entry(FOLDER_ENTRY, str(weights_dir))
    # Waiting threads sleep: spinning threads would take CPU time from the event loop.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(
        graph if isinstance(graph, bytes) else str(graph), options, providers=["CPUExecutionProvider"]
    )


def is_precise(exact: np.ndarray, fast: Any) -> bool:
    """Whether this processor computes the graph with integers well; some saturate products of integers.

    `exact`: the vectors of the compared rows by the exact graph.
    """
    return mean_cosine(exact, compute_check_vectors(fast)) >= MIN_MEAN_COSINE


def compute_check_vectors(session: Any) -> np.ndarray:
    """The vectors of the compared rows."""
    return run_rows(session, load_check_rows())


def load_check_rows() -> list[list[int]]:
    """The compared rows as they were drawn when the graphs were built; drawing them again imports numpy.random."""
    return [[piece for piece in row if piece] for row in np.load(CHECK_ROWS).tolist()]


def draw_check_rows() -> list[list[int]]:
    """Draw the compared rows."""
    return random_rows(COMPARED_ROWS, seed=1)


def load_check_vectors() -> np.ndarray:
    """Those of the exact graph, as they were computed when the graphs were built."""
    vectors: np.ndarray = np.load(CHECK_VECTORS)
    return vectors


def mean_cosine(one: np.ndarray, other: np.ndarray) -> float:
    """The mean cosine of the unit vectors in two arrays of shape (rows, dim), row by row."""
    return float(np.mean(np.sum(one * other, axis=1)))


def run_rows(session: Any, rows: Sequence[Sequence[int]]) -> np.ndarray:
    """The vector of each row of word pieces, one run each."""
    return np.concatenate([session.run(["vectors"], build_feed(row))[0] for row in rows])


def build_feed(row: Sequence[int]) -> dict[str, np.ndarray]:
    """The inputs of a graph for a single row."""
    ids = np.array([row], dtype=np.int64)
    return {"ids": ids, "mask": np.ones_like(ids)}


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
