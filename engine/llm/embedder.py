"""Vectors from a provider, through litellm."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import numpy as np

from engine.errors import Unavailable
from engine.llm.client.limiter import embedding_rank
from engine.usage import Bill

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.llm.client.client import Calls
    from engine.llm.config import ModelSettings

MAX_TOKENS = 8000
BATCH = 64


class LiteLLMEmbedder:
    """Implements `Embedder`; `open` it where the dimension is not known."""

    def __init__(
        self, model: ModelSettings, calls: Calls, dim: int, *, max_tokens: int = MAX_TOKENS, batch: int = BATCH
    ) -> None:
        self._model = model
        self._calls = calls
        self._batch = batch
        self.dim = dim
        self.max_tokens = max_tokens

    @classmethod
    async def open(
        cls, model: ModelSettings, calls: Calls, *, max_tokens: int = MAX_TOKENS, batch: int = BATCH
    ) -> LiteLLMEmbedder:
        """An embedder whose dimension is learnt from one call. Raises LanguageError."""
        embedder = cls(model, calls, 0, max_tokens=max_tokens, batch=batch)
        embedder.dim = (await embedder._call(["dimension"], 0, Bill())).shape[1]
        return embedder

    @property
    def name(self) -> str:
        return f"{self._model.model}@{self.dim}"

    async def embed(self, texts: Sequence[str], bill: Bill) -> np.ndarray:
        rank = embedding_rank(len(texts))
        starts = range(0, len(texts), self._batch)
        calls = (self._call(texts[at : at + self._batch], rank, bill) for at in starts)
        made = [_told(outcome) for outcome in await asyncio.gather(*calls, return_exceptions=True)]
        return np.concatenate(made) if made else np.empty((0, self.dim), np.float32)

    async def _call(self, texts: Sequence[str], rank: int, bill: Bill) -> np.ndarray:
        sent = [text if text.strip() else "-" for text in texts]  # providers refuse texts of nothing
        vectors = await self._calls.embed(self._model, sent, rank, bill)
        if self.dim and vectors.shape[1] != self.dim:
            raise Unavailable(f"{self._model.model} gave {vectors.shape[1]} dimensions, not {self.dim}.")
        return _of_length_one(vectors)


def _told(outcome: np.ndarray | BaseException) -> np.ndarray:
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def _of_length_one(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)
