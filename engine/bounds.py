"""Numbers that a question or an engine may be given, from the least to the most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import OutOfRange

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.models import Question
    from engine.options import Options

MOST_RESULTS = 1_000
MOST_TOKENS = 10_000_000
LONG = 10 * 365 * 86_400.0  # seconds

QUESTION: Mapping[str, tuple[float, float]] = {
    "top_k": (1, MOST_RESULTS),
    "chunk_top_k": (1, MOST_RESULTS),
    "max_entity_tokens": (0, MOST_TOKENS),
    "max_relation_tokens": (0, MOST_TOKENS),
    "max_total_tokens": (1, MOST_TOKENS),
    "threshold": (-1.0, 1.0),
}
OPTIONS: Mapping[str, tuple[float, float]] = {
    "readers": (1, 1_000),
    "embed_batch": (1, 100_000),
    "project_batch": (1, 1_000_000),
    "linger": (0.0, LONG),
    "quiet": (0.0, LONG),
    "compact_after": (0.01, LONG),
    "attempts": (1, 1_000),
    "vector_weight": (0.0, 1_000.0),
    "word_weight": (0.0, 1_000.0),
    "min_rerank_score": (-1e9, 1e9),
}


def check_number(name: str, number: object, least: float, most: float) -> None:
    """Raise OutOfRange unless the number is between both, inclusive; counts (bounds that are whole) must be whole."""
    whole = isinstance(least, int)
    wanted = int if whole else (int, float)
    if not isinstance(number, wanted) or isinstance(number, bool) or not least <= number <= most:
        kind = "a whole number" if whole else "a number"
        raise OutOfRange(f"{name} must be {kind} from {least:,} to {most:,}, not {number!r:.40}.")


def check_numbers(given: Question | Options, bounds: Mapping[str, tuple[float, float]]) -> None:
    """Raise OutOfRange, naming the first number that is not within its bounds."""
    for name, (least, most) in bounds.items():
        check_number(name, getattr(given, name), least, most)
