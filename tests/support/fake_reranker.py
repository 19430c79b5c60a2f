"""A reranker whose scores are written down beforehand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.usage import UsageMeter


class WordReranker:
    """Scores a text by the first of these words that stands in it; a text with none of them is given None.

    `few`: fewer scores than texts come back. `asked` are the texts of every call.
    """

    name = "words"

    def __init__(self, scores: dict[str, float | None], *, few: bool = False) -> None:
        self.scores = scores
        self.few = few
        self.calls: list[list[str]] = []

    async def rerank(self, question: str, texts: Sequence[str], bill: UsageMeter) -> list[float | None]:
        self.calls.append(list(texts))
        bill.record(Usage("rerank", self.name))
        made = [next((score for word, score in self.scores.items() if word in text), None) for text in texts]
        return made[1:] if self.few else made
