"""A reranker with scripted scores."""

from __future__ import annotations

from collections.abc import Sequence

from engine.errors import ModelUnavailable
from engine.usage import Usage, UsageMeter


class WordReranker:
    """Scores a text by the first of these words that it holds, or with None.

    `few`: returns fewer scores than texts. `calls` are the texts of every call.
    """

    name = "words"

    def __init__(self, scores: dict[str, float | None], *, few: bool = False) -> None:
        self.scores = scores
        self.few = few
        self.calls: list[list[str]] = []

    async def rerank(self, question: str, texts: Sequence[str], meter: UsageMeter) -> list[float | None]:
        self.calls.append(list(texts))
        meter.record(Usage("rerank", self.name))
        scores = [next((score for word, score in self.scores.items() if word in text), None) for text in texts]
        return scores[1:] if self.few else scores


class FailingReranker:
    """A reranker whose provider is away."""

    name = "failing"

    async def rerank(self, question: str, texts: Sequence[str], meter: UsageMeter) -> list[float | None]:
        raise ModelUnavailable(f"No scores of {len(texts)} texts for “{question}”.")
