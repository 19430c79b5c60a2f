"""Split long documents for a reranker and aggregate the scores of the pieces (pure)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engine.text.windows import Tokenizer

PIECE_TOKENS = 480
PIECE_OVERLAP = 32

Strategy = Literal["max", "mean", "first"]


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
        for owner, whole in enumerate(documents)
        for text in split_into_windows(whole, tokenizer, size, overlap)
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
