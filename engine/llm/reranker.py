"""Rerank scores from a provider, through litellm; long documents are scored in pieces."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from engine.llm.client.reply_limits import MAX_SCORES_PER_TEXT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engine.llm.client.client import ModelClient
    from engine.llm.config import ModelConfig
    from engine.text.tokenizer import Tokenizer
    from engine.usage import UsageMeter

PIECE_TOKENS = 480
PIECE_OVERLAP = 32

Strategy = Literal["max", "mean", "first"]


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
        piece_scores = parse_scores(rows[: MAX_SCORES_PER_TEXT * len(pieces.texts)], len(pieces.texts))
        for document, score in aggregate_scores(
            piece_scores, pieces.document_indexes, len(texts), self._strategy, self._top_n
        ):
            scores[document] = score
        return scores


@dataclass(frozen=True, slots=True)
class DocumentPieces:
    """Texts sent to a reranker; `document_indexes` are the documents (by position) that the pieces come from."""

    texts: tuple[str, ...]
    document_indexes: tuple[int, ...]


def split_documents(
    documents: Sequence[str], tokenizer: Tokenizer, size: int = PIECE_TOKENS, overlap: int = PIECE_OVERLAP
) -> DocumentPieces:
    """Split documents longer than `size` tokens into windows. Raises ValueError if size is below 1."""
    owned = [
        (text, owner)
        for owner, document in enumerate(documents)
        for text in split_into_windows(document, tokenizer, size, overlap)
    ]
    return DocumentPieces(tuple(text for text, _ in owned), tuple(owner for _, owner in owned))


def split_into_windows(
    text: str, tokenizer: Tokenizer, size: int = PIECE_TOKENS, overlap: int = PIECE_OVERLAP
) -> list[str]:
    """Windows of at most `size` tokens; an overlap that leaves no step forward becomes half of the size."""
    if size < 1:
        raise ValueError(f"a piece must have at least 1 token, not {size}")
    tokens = tokenizer.encode(text)
    if len(tokens) <= size:
        return [text]
    step = size - (max(0, overlap) if overlap < size else size // 2)
    starts = range(0, max(1, len(tokens) - (size - step)), step)
    return [tokenizer.decode(tokens[start : start + size]) for start in starts]


def parse_scores(rows: Iterable[Any], count: int) -> dict[int, float]:
    """Scores by piece from a provider's rows {index, relevance_score}; invalid rows are dropped."""
    read = (_parse_score(row, count) for row in rows)
    return dict(score for score in read if score is not None)


def aggregate_scores(
    scores: Mapping[int, float], owners: Sequence[int], documents: int, strategy: str = "max", top_n: int = 0
) -> list[tuple[int, float]]:
    """(document, score), best first; documents without a score are absent.

    `scores` are by piece, `owners` name the document of each piece; an unknown strategy means "max"; `top_n` counts
    documents, 0 means all.
    """
    own: dict[int, list[float]] = {}
    for piece in sorted(scores):
        if 0 <= piece < len(owners) and 0 <= owners[piece] < documents:
            own.setdefault(owners[piece], []).append(scores[piece])
    together = {"mean": _mean, "first": _first}.get(strategy, max)
    ranked = sorted(((owner, together(values)) for owner, values in own.items()), key=lambda pair: (-pair[1], pair[0]))
    return ranked[:top_n] if top_n > 0 else ranked


def _parse_score(row: Any, count: int) -> tuple[int, float] | None:
    if not isinstance(row, dict):
        return None
    index, score = row.get("index"), row.get("relevance_score")
    if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < count:
        return None
    value = _parse_number(score)
    return None if value is None else (index, value)


def _parse_number(value: Any) -> float | None:
    """A finite number, given as a number or as text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _first(values: Sequence[float]) -> float:
    return values[0]
