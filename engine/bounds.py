"""Numbers that a question or an engine may be given, from the least to the most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import OutOfRange

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.models import Question
    from engine.options import EngineOptions

MAX_RESULTS = 1_000
MAX_TOKENS = 10_000_000
MAX_SECONDS = 10 * 365 * 86_400.0  # seconds

QUESTION_BOUNDS: Mapping[str, tuple[float, float]] = {
    "top_k": (1, MAX_RESULTS),
    "chunk_top_k": (1, MAX_RESULTS),
    "max_entity_tokens": (0, MAX_TOKENS),
    "max_relation_tokens": (0, MAX_TOKENS),
    "max_total_tokens": (1, MAX_TOKENS),
    "threshold": (-1.0, 1.0),
}
OPTION_BOUNDS: Mapping[str, tuple[float, float]] = {
    "extraction_concurrency": (1, 1_000),
    "embed_batch_size": (1, 100_000),
    "projection_batch_size": (1, 1_000_000),
    "extraction_linger": (0.0, MAX_SECONDS),
    "summary_cooldown": (0.0, MAX_SECONDS),
    "compaction_delay": (0.01, MAX_SECONDS),
    "max_attempts": (1, 1_000),
    "vector_weight": (0.0, 1_000.0),
    "fulltext_weight": (0.0, 1_000.0),
    "min_rerank_score": (-1e9, 1e9),
}


def check_number(name: str, number: object, least: float, most: float) -> None:
    """Raise OutOfRange unless the number is between both, inclusive; counts (bounds that are whole) must be whole."""
    whole = isinstance(least, int)
    wanted = int if whole else (int, float)
    if not isinstance(number, wanted) or isinstance(number, bool) or not least <= number <= most:
        kind = "a whole number" if whole else "a number"
        raise OutOfRange(f"{name} must be {kind} from {least:,} to {most:,}, not {number!r:.40}.")


def check_numbers(given: Question | EngineOptions, bounds: Mapping[str, tuple[float, float]]) -> None:
    """Raise OutOfRange, naming the first number that is not within its bounds."""
    for name, (least, most) in bounds.items():
        check_number(name, getattr(given, name), least, most)
