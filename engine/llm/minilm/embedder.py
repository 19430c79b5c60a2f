"""Embed texts with all-MiniLM-L6-v2 on onnxruntime, without a key or a network."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import structlog

from engine.llm.client.limiter import PrioritySemaphore, embedding_rank
from engine.llm.minilm.graphs import (
    EXACT_GRAPH,
    FAST_GRAPH,
    WORD_TABLE,
    is_precise,
    load_check_vectors,
    open_session,
    share_word_table,
)
from engine.llm.minilm.telemetry import remove_telemetry_files
from engine.llm.minilm.weights import WEIGHTS_FILE, WeightsFile, check_weights, find_weights_dir
from engine.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tokenizers import Tokenizer

    from engine.usage import UsageMeter

T = TypeVar("T")

log = structlog.get_logger(__name__)

UNKNOWN_PIECE = 100
MIN_FAST_PIECES = 6  # different word pieces of a text, its two markers included, that is embedded with integers
MAX_WORD_PIECES = 256  # word pieces that the model accepts, its two markers included; the rest is cut off
QUESTION_CALL_GAP = (
    0.3  # seconds after a text of a question in which no background work starts: the question will ask again
)
MAX_BATCH_TEXTS = 64  # in one run
MAX_BATCH_PIECES = (
    512  # word pieces in one run, padding included: larger runs are slower, and a question waits behind one
)


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
        return open_session(graph.read_bytes(), self.folder, self.words, self.threads)

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """The word piece ids of each text, at most 256."""
        return [self.tokenizer.encode(text).ids for text in texts]

    def run(self, rows: Sequence[Sequence[int]]) -> np.ndarray:
        """One vector per row of word pieces; shorter rows are padded. All rows need the same graph."""
        ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for index, row in enumerate(rows):
            ids[index, : len(row)] = row
            mask[index, : len(row)] = 1
        session = self.exact if needs_exact_graph(rows[0]) else self.fast
        vectors: np.ndarray = session.run(["vectors"], {"ids": ids, "mask": mask})[0]
        return vectors


def needs_exact_graph(row: Sequence[int]) -> bool:
    """Whether the errors of integers would not average out: few different word pieces, or unknown ones."""
    return UNKNOWN_PIECE in row or len(set(row)) < MIN_FAST_PIECES


class MiniLMEmbedder:
    """Built-in embedder: 384 dimensions; loaded on first use.

    Most texts are embedded with products of 8-bit integers: their vectors have a cosine of 0.999 with the exact ones.

    `max_tokens` counts o200k_base tokens, the model counts word pieces (254): English and code need at most 1.5 word
    pieces per token, other languages in Latin letters, Chinese and Japanese at most 2. In languages that the model was
    not trained on (Russian, Arabic: 3) the end of a text of that length is cut off.
    """

    name = "all-minilm-l6-v2@384"
    dim = 384
    max_tokens = 128

    def __init__(self, *, threads: int = 2) -> None:
        self.threads = threads
        self.model: MiniLMModel | None = None
        self.semaphore = PrioritySemaphore(1, question_gap=QUESTION_CALL_GAP)
        self.executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="minilm")

    @classmethod
    async def open(cls, *, threads: int = 2) -> MiniLMEmbedder:
        """A loaded embedder. Raises EngineError if its weights are not installed, or damaged."""
        embedder = cls(threads=threads)
        await embedder.run_in_thread(embedder.load_model)
        return embedder

    async def embed(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        """The vectors as float32 of shape (len(texts), 384), rows of length one; errors as for `open`."""
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        if not texts:
            return vectors
        rank = embedding_rank(len(texts))
        if (model := self.model) is None:
            model = await self.run_in_thread(self.load_model)
        rows = await self.run_by_rank(rank, model.tokenize, texts)
        for batch in batch_by_graph(rows):
            # Only one run at a time is queued, so that a question waits for one run of an ingest, not for all.
            vectors[batch] = await self.run_by_rank(rank, model.run, [rows[index] for index in batch])
        meter.record(Usage("embed", self.name, input_tokens=sum(map(len, rows))))
        return vectors

    async def run_by_rank(self, rank: int, work: Callable[..., T], *arguments: Any) -> T:
        """Run as `run_in_thread`, but waiting calls run by rank, 0 first."""
        async with self.semaphore.acquire(rank):
            return await self.run_in_thread(work, *arguments)

    async def run_in_thread(self, work: Callable[..., T], *arguments: Any) -> T:
        """Run `work` in the one thread that owns the model."""
        return await asyncio.get_running_loop().run_in_executor(self.executor, work, *arguments)

    def load_model(self) -> MiniLMModel:
        """The model, read from disk the first time."""
        if self.model is None:
            remove_telemetry_files()
            self.model = load_minilm(find_weights_dir(), self.threads)
        return self.model

    def close(self) -> None:
        """Release the model and end its thread."""
        self.executor.shutdown()
        self.model = None


def load_minilm(folder: Path, threads: int) -> MiniLMModel:
    """The model with the weights of a folder. Raises EngineError if they are damaged."""
    check_weights(folder / WEIGHTS_FILE)
    words = share_word_table(WeightsFile.open(folder / WEIGHTS_FILE).map(WORD_TABLE))
    return MiniLMModel(load_tokenizer(folder), words, folder, threads)


def batch_by_graph(rows: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Positions of the rows of each run, which all need the same graph."""
    for exact in (True, False):
        chosen = [index for index, row in enumerate(rows) if needs_exact_graph(row) is exact]
        for batch in batch_by_length([len(rows[index]) for index in chosen]):
            yield [chosen[index] for index in batch]


def batch_by_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Positions of the rows of each run: of similar length, so that there is little padding."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: lengths[index]):
        if len(batch) == MAX_BATCH_TEXTS or (len(batch) + 1) * lengths[index] > MAX_BATCH_PIECES:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def load_tokenizer(folder: Path) -> Tokenizer:
    """The word piece tokenizer, with the length limit for sentences instead of its default."""
    from tokenizers import Tokenizer  # noqa: PLC0415  - needed for embedding only

    cutter = Tokenizer.from_file(str(folder / "tokenizer.json"))
    cutter.enable_truncation(MAX_WORD_PIECES)
    cutter.no_padding()
    return cutter
