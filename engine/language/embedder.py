"""Vectors from a provider, through litellm."""

from __future__ import annotations

import asyncio
import base64
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import Refused, Unavailable
from engine.records import Bill, Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.language.calls import Calls
    from engine.language.models import ModelSettings

MAX_TOKENS = 8000
BATCH = 64

# A question brings its own text and two lists of keywords; what brings more is work in the background.
QUESTION_TEXTS = 3


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
        rank = 0 if len(texts) <= QUESTION_TEXTS else 1
        starts = range(0, len(texts), self._batch)
        calls = (self._call(texts[at : at + self._batch], rank, bill) for at in starts)
        made = [_told(outcome) for outcome in await asyncio.gather(*calls, return_exceptions=True)]
        return np.concatenate(made) if made else np.empty((0, self.dim), np.float32)

    async def _call(self, texts: Sequence[str], rank: int, bill: Bill) -> np.ndarray:
        sent = [text if text.strip() else "-" for text in texts]  # providers refuse texts of nothing

        async def call(litellm: Any) -> np.ndarray:
            reply = await litellm.aembedding(input=sent, **self._model.address(), **self._calls.limits())
            vectors = _vectors(reply.data, len(sent), self._model.model)
            if self.dim and vectors.shape[1] != self.dim:
                raise Refused(f"{self._model.model} gave {vectors.shape[1]} dimensions, not {self.dim}.")
            tokens = getattr(reply.usage, "prompt_tokens", 0) or 0
            cost = reply._hidden_params.get("response_cost") or 0.0  # noqa: SLF001  - litellm documents it there
            bill.add(Usage("embed", self._model.model, tokens, cost=float(cost)))
            return vectors

        return await self._calls.run(self._model, rank, call)


def _told(outcome: np.ndarray | BaseException) -> np.ndarray:
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def _vectors(rows: Sequence[Any], count: int, model: str) -> np.ndarray:
    """float32 of shape (count, dim), by the rows' own index, of length one."""
    given = {row["index"]: _vector(row["embedding"]) for row in rows}
    if set(given) != set(range(count)) or len({len(vector) for vector in given.values()}) != 1:
        raise Unavailable(f"{model} gave {len(given)} vectors for {count} texts.")
    vectors = np.stack([given[index] for index in range(count)])
    if not np.isfinite(vectors).all():
        raise Unavailable(f"{model} gave a vector that is not finite.")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def _vector(given: Any) -> np.ndarray:
    """A vector as numbers, or as the bytes of them in base64."""
    if isinstance(given, str):
        return np.frombuffer(base64.b64decode(given), dtype="<f4")
    return np.asarray(given, dtype=np.float32)
