"""Embed texts with a model of this process, in one thread that owns it; questions come before the work of an ingest."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from engine.llm.client.limiter import PrioritySemaphore, embedding_rank
from engine.llm.minilm.telemetry import remove_telemetry_files
from engine.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from typing import Self

    from engine.usage import UsageMeter

T = TypeVar("T")

# Seconds after a text of a question in which no background work starts: the question will ask again.
QUESTION_CALL_GAP = 0.3
MAX_BATCH_TEXTS = 64  # in one run
# Word pieces in one run, padding included: larger runs are slower, and a question waits behind one.
MAX_BATCH_PIECES = 512


class LocalModel(Protocol):
    """A loaded model, used by one thread at a time."""

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """The word piece ids of each text."""

    def batch(self, rows: Sequence[Sequence[int]]) -> Iterator[list[int]]:
        """Positions of the rows of each run."""

    def run(self, rows: Sequence[Sequence[int]]) -> np.ndarray:
        """One vector per row of word pieces, of length one."""


Model = TypeVar("Model", bound=LocalModel)


class LocalEmbedder(ABC, Generic[Model]):
    """Base of embedders with 384 dimensions that need no network; `open_model` loads the model on first use."""

    name = ""
    dim = 384
    max_tokens = 0

    def __init__(self, *, threads: int = 2) -> None:
        self.threads = threads
        self.model: Model | None = None
        self.semaphore = PrioritySemaphore(1, question_gap=QUESTION_CALL_GAP)
        self.executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")

    @classmethod
    async def open(cls, *, threads: int = 2) -> Self:
        """A loaded embedder. Raises EngineError if its weights are not installed, or damaged."""
        embedder = cls(threads=threads)
        await embedder.run_in_thread(embedder.load_model)
        return embedder

    async def embed(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        """float32 of shape (len(texts), 384), rows of length one; errors as for `open`."""
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        if not texts:
            return vectors
        rank = embedding_rank(len(texts))
        if (model := self.model) is None:
            model = await self.run_in_thread(self.load_model)
        rows = await self.run_by_rank(rank, model.tokenize, texts)
        for batch in model.batch(rows):
            # Only one run at a time is queued, so that a question waits for one run of an ingest, not for all.
            vectors[batch] = await self.run_by_rank(rank, model.run, [rows[index] for index in batch])
        meter.record(Usage("embed", self.name, input_tokens=sum(map(len, rows))))
        return vectors

    async def run_by_rank(self, rank: int, work: Callable[..., T], *arguments: Any) -> T:
        """As `run_in_thread`, but waiting calls run by rank, 0 first."""
        async with self.semaphore.acquire(rank):
            return await self.run_in_thread(work, *arguments)

    async def run_in_thread(self, work: Callable[..., T], *arguments: Any) -> T:
        """Run `work` in the one thread that owns the model."""
        return await asyncio.get_running_loop().run_in_executor(self.executor, work, *arguments)

    def load_model(self) -> Model:
        """The model, read from disk the first time."""
        if self.model is None:
            remove_telemetry_files()
            self.model = self.open_model()
        return self.model

    @classmethod
    @abstractmethod
    def find_weights(cls) -> Path:
        """The file of the installed weights. Raises ModelNotInstalled."""

    @abstractmethod
    def open_model(self) -> Model:
        """The model, read from disk. Raises EngineError."""

    def close(self) -> None:
        """Release the model and end its thread."""
        self.executor.shutdown()
        self.model = None


def pad_rows(rows: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Rows of word pieces as an array with zeros at the ends of shorter rows, and 1 where a row has word pieces."""
    ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    mask = np.zeros_like(ids)
    for index, row in enumerate(rows):
        ids[index, : len(row)] = row
        mask[index, : len(row)] = 1
    return ids, mask


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
