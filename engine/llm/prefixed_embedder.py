"""Embeddings of models that expect other words, or another parameter, with a question than with a stored text."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.llm.embedder import LiteLLMEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from engine.llm.client.client import ModelClient
    from engine.llm.config import ModelConfig
    from engine.llm.traits.prefixes import EmbeddingPrefixes
    from engine.usage import UsageMeter


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
