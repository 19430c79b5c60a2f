"""Embed texts with all-MiniLM-L6-v2 on onnxruntime, without a key or a network."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import structlog

from engine.llm.minilm.graphs import (
    EXACT_GRAPH,
    FAST_GRAPH,
    WORD_TABLE,
    is_precise,
    load_check_vectors,
    open_session,
    share_array,
)
from engine.llm.minilm.local_embedder import LocalEmbedder, batch_by_length, pad_rows
from engine.llm.minilm.weights import WEIGHTS_FILE, WeightsFile, check_weights, find_weights_dir

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import numpy as np
    from tokenizers import Tokenizer

log = structlog.get_logger(__name__)

UNKNOWN_PIECE = 100
MIN_FAST_PIECES = 6  # different word pieces of a text, its two markers included, that is embedded with integers
MAX_WORD_PIECES = 256  # word pieces that the model accepts, its two markers included; the rest is cut off


@dataclass(frozen=True)
class MiniLMModel:
    """The loaded model: its tokenizer, and an onnxruntime session of each graph that some text has needed.

    `words`: the table of word pieces that both sessions read; they do not keep it alive. A session takes 45 MB and 0.2
    s: one text, such as a question, needs one of them. Used by one thread at a time.
    """

    tokenizer: Tokenizer
    words: Any
    folder: Path
    threads: int

    @cached_property
    def exact(self) -> Any:
        """The session that computes with floating-point numbers."""
        return self._open(EXACT_GRAPH)

    @cached_property
    def fast(self) -> Any:
        """The session that computes with integers, or the exact one if this processor computes integers badly."""
        session = self._open(FAST_GRAPH)
        if is_precise(load_check_vectors(), session):
            return session
        log.info("embedder.integers_not_used")
        return self.exact

    def _open(self, graph: Path) -> Any:
        return open_session(graph, self.folder, {WORD_TABLE: self.words}, self.threads)

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """The word piece ids of each text, at most 256."""
        return [self.tokenizer.encode(text).ids for text in texts]

    def batch(self, rows: Sequence[Sequence[int]]) -> Iterator[list[int]]:
        """Positions of the rows of each run, which all need the same graph."""
        return batch_by_graph(rows)

    def run(self, rows: Sequence[Sequence[int]]) -> np.ndarray:
        """One vector per row of word pieces; shorter rows are padded. All rows need the same graph."""
        ids, mask = pad_rows(rows)
        session = self.exact if needs_exact_graph(rows[0]) else self.fast
        vectors: np.ndarray = session.run(["vectors"], {"ids": ids, "mask": mask})[0]
        return vectors


def needs_exact_graph(row: Sequence[int]) -> bool:
    """Whether the errors of integers would not average out: few different word pieces, or unknown ones."""
    return UNKNOWN_PIECE in row or len(set(row)) < MIN_FAST_PIECES


class MiniLMEmbedder(LocalEmbedder[MiniLMModel]):
    """Built-in embedder: 384 dimensions; loaded on first use.

    Most texts are embedded with products of 8-bit integers: their vectors have a cosine of 0.999 with the exact ones.

    `max_tokens` counts o200k_base tokens, the model counts word pieces (254): English and code need at most 1.5 word
    pieces per token, other languages in Latin letters, Chinese and Japanese at most 2. In languages that the model was
    not trained on (Russian, Arabic: 3) the end of a text of that length is cut off.
    """

    name = "all-minilm-l6-v2@384"
    max_tokens = 128

    @classmethod
    def find_weights(cls) -> Path:
        return find_weights_dir() / WEIGHTS_FILE

    def open_model(self) -> MiniLMModel:
        return load_minilm(self.find_weights().parent, self.threads)


def load_minilm(folder: Path, threads: int) -> MiniLMModel:
    """The model with the weights of a folder. Raises EngineError if they are damaged."""
    check_weights(folder / WEIGHTS_FILE)
    words = share_array(WeightsFile.open(folder / WEIGHTS_FILE).map(WORD_TABLE))
    return MiniLMModel(load_tokenizer(folder), words, folder, threads)


def batch_by_graph(rows: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Positions of the rows of each run, which all need the same graph."""
    for exact in (True, False):
        chosen = [index for index, row in enumerate(rows) if needs_exact_graph(row) is exact]
        for batch in batch_by_length([len(rows[index]) for index in chosen]):
            yield [chosen[index] for index in batch]


def load_tokenizer(folder: Path) -> Tokenizer:
    """The word piece tokenizer, with the length limit for sentences instead of its default."""
    from tokenizers import Tokenizer  # noqa: PLC0415  - needed for embedding only

    cutter = Tokenizer.from_file(str(folder / "tokenizer.json"))
    cutter.enable_truncation(MAX_WORD_PIECES)
    cutter.no_padding()
    return cutter
