"""Bounds: the lowest and highest accepted value of each number in a question and in the options of an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import OutOfRange

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.models import Question
    from engine.options import EngineOptions, RankingOptions

MAX_RESULTS = 1_000
MAX_TOKENS = 10_000_000
MAX_SECONDS = 10 * 365 * 86_400.0  # ten years
MAX_WEIGHT = 1_000.0

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
}
RANKING_BOUNDS: Mapping[str, tuple[float, float]] = {
    "vector_weight": (0.0, MAX_WEIGHT),
    "fulltext_weight": (0.0, MAX_WEIGHT),
    "fulltext_overfetch": (1, 100),
    "rrf_damping": (0, 100_000),
    "entity_vector_weight": (0.0, MAX_WEIGHT),
    "entity_fulltext_weight": (0.0, MAX_WEIGHT),
    "entity_fulltext_share": (0.0, 100.0),
    "max_entity_overfetch": (1, 100),
    "max_neighbor_edges": (0, 100_000),
    "relation_similarity_share": (0.0, MAX_WEIGHT),
    "relation_degree_share": (0.0, MAX_WEIGHT),
    "relation_weight_share": (0.0, MAX_WEIGHT),
    "relation_degree_saturation": (0.001, MAX_WEIGHT),
    "relation_weight_saturation": (0.001, MAX_WEIGHT),
    "graph_token_share": (0.0, 1.0),
    "max_evidence_chunks": (1, 10_000),
    "max_vector_candidates": (0, 100_000),
    "chunks_per_item": (0, 1_000),
    "max_seed_facts": (0, 10_000),
    "chunk_seed_weight": (0.0, MAX_WEIGHT),
    "restart_probability": (0.0, 1.0),
    "pagerank_iterations": (0, 1_000),
    "text_overfetch": (1, 100),
    "min_rerank_score": (-1e9, 1e9),
}


def check_number(name: str, number: object, least: float, most: float) -> None:
    """Raise OutOfRange unless the number is between the bounds, inclusive; whole bounds require a whole number."""
    whole = isinstance(least, int)
    types = int if whole else (int, float)
    if not isinstance(number, types) or isinstance(number, bool) or not least <= number <= most:
        kind = "a whole number" if whole else "a number"
        raise OutOfRange(f"{name} must be {kind} from {least:,} to {most:,}, not {number!r:.40}.")


def check_numbers(record: Question | EngineOptions | RankingOptions, bounds: Mapping[str, tuple[float, float]]) -> None:
    """Raise OutOfRange for the first field of the record that is outside its bounds."""
    for name, (least, most) in bounds.items():
        check_number(name, getattr(record, name), least, most)


def check_options(options: EngineOptions) -> None:
    """Raise OutOfRange for the first option that is outside its bounds."""
    check_numbers(options, OPTION_BOUNDS)
    check_numbers(options.ranking, RANKING_BOUNDS)
