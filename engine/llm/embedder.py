"""Embeddings from a provider, through litellm; some models expect other words with a question than with a text."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from engine.errors import InvalidReply
from engine.llm.client.limiter import embedding_rank
from engine.usage import UsageMeter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.llm.client.client import ModelClient
    from engine.llm.config import ModelConfig
    from engine.llm.traits.prefixes import EmbeddingPrefixes

MAX_TOKENS = 8000
BATCH_SIZE = 64


class LiteLLMEmbedder:
    """Implements `Embedder`; use `open` if the dimension is not known."""

    def __init__(
        self, model: ModelConfig, calls: ModelClient, dim: int, *, max_tokens: int = MAX_TOKENS, batch: int = BATCH_SIZE
    ) -> None:
        self._model = model
        self._client = calls
        self._batch_size = batch
        self.dim = dim
        self.max_tokens = max_tokens

    @classmethod
    async def open(
        cls, model: ModelConfig, calls: ModelClient, *, max_tokens: int = MAX_TOKENS, batch: int = BATCH_SIZE
    ) -> LiteLLMEmbedder:
        """An embedder whose dimension is found with one call. Raises ModelError."""
        vectors = await cls(model, calls, 0).embed(["dimension"], UsageMeter())
        return cls(model, calls, vectors.shape[1], max_tokens=max_tokens, batch=batch)

    @property
    def name(self) -> str:
        return f"{self._model.model}@{self.dim}"

    async def embed(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        rank = embedding_rank(len(texts))
        starts = range(0, len(texts), self._batch_size)
        calls = (self._embed_batch(texts[at : at + self._batch_size], rank, meter) for at in starts)
        vectors = [_unwrap_result(outcome) for outcome in await asyncio.gather(*calls, return_exceptions=True)]
        return np.concatenate(vectors) if vectors else np.empty((0, self.dim), np.float32)

    async def _embed_batch(self, texts: Sequence[str], rank: int, meter: UsageMeter) -> np.ndarray:
        sent = [text if text.strip() else "-" for text in texts]  # providers reject empty texts
        vectors = await self._client.embed(self._model, sent, rank, meter)
        if self.dim and vectors.shape[1] != self.dim:
            raise InvalidReply(f"{self._model.model} returned {vectors.shape[1]} dimensions, not {self.dim}.")
        return _unit_rows(vectors)


def _unwrap_result(outcome: np.ndarray | BaseException) -> np.ndarray:
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def _unit_rows(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)


class PrefixedEmbedder:
    """Implements `QueryEmbedder` with the prefixes of a model; use `open` if the dimension is not known."""

    def __init__(self, passages: LiteLLMEmbedder, queries: LiteLLMEmbedder, prefixes: EmbeddingPrefixes) -> None:
        self._passages = passages
        self._queries = queries
        self._prefixes = prefixes

    @classmethod
    async def open(
        cls, model: ModelConfig, calls: ModelClient, dim: int, prefixes: EmbeddingPrefixes, *, max_tokens: int
    ) -> PrefixedEmbedder:
        """An embedder of this many dimensions; 0 finds it with one call. Raises ModelError."""
        passage_model = replace(model, extra={**model.extra, **prefixes.passage_parameters})
        query_model = replace(model, extra={**model.extra, **prefixes.query_parameters})
        if not dim:
            dim = (await LiteLLMEmbedder.open(passage_model, calls)).dim
        passages = LiteLLMEmbedder(passage_model, calls, dim, max_tokens=max_tokens)
        return cls(passages, LiteLLMEmbedder(query_model, calls, dim, max_tokens=max_tokens), prefixes)

    @property
    def name(self) -> str:
        """The identity of the stored vectors: the model, and what it is given with each passage."""
        parameters, prefix = self._prefixes.passage_parameters, self._prefixes.passage.strip()
        given = [f"“{prefix}”"] * bool(prefix) + [json.dumps(dict(parameters), sort_keys=True)] * bool(parameters)
        return " ".join((self._passages.name, *given))

    @property
    def dim(self) -> int:
        return self._passages.dim

    @property
    def max_tokens(self) -> int:
        return self._passages.max_tokens

    async def embed(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        return await self._passages.embed([f"{self._prefixes.passage}{text}" for text in texts], meter)

    async def embed_queries(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        return await self._queries.embed([f"{self._prefixes.query}{text}" for text in texts], meter)
