"""Rerank scores from a provider, through litellm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.llm.rerank_windows import PIECE_OVERLAP, PIECE_TOKENS, aggregate_scores, parse_scores, split_documents

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.llm.client.client import ModelClient
    from engine.llm.config import ModelConfig
    from engine.llm.rerank_windows import Strategy
    from engine.text.windows import Tokenizer
    from engine.usage import UsageMeter


class LiteLLMReranker:
    """Implements `Reranker`. Documents longer than `max_tokens` are scored in pieces; `top_n` of 0 means all."""

    def __init__(
        self,
        model: ModelConfig,
        calls: ModelClient,
        tokenizer: Tokenizer,
        *,
        max_tokens: int = PIECE_TOKENS,
        strategy: Strategy = "max",
        top_n: int = 0,
    ) -> None:
        self._model = model
        self._client = calls
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens
        self._strategy = strategy
        self._top_n = top_n

    @property
    def name(self) -> str:
        return f"{self._model.name} {self._strategy}/{self._max_tokens}/{self._top_n}"

    async def rerank(self, question: str, texts: Sequence[str], meter: UsageMeter) -> list[float | None]:
        scores: list[float | None] = [None] * len(texts)
        if not texts:
            return scores
        pieces = split_documents(texts, self._tokenizer, self._max_tokens, PIECE_OVERLAP)
        rows = await self._client.rerank(self._model, question, pieces.texts, meter)
        piece_scores = parse_scores(rows, len(pieces.texts))
        for document, score in aggregate_scores(
            piece_scores, pieces.document_indexes, len(texts), self._strategy, self._top_n
        ):
            scores[document] = score
        return scores
