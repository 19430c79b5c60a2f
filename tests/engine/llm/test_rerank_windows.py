from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.rerank_windows import aggregate_scores, parse_scores, split_documents, split_into_windows

if TYPE_CHECKING:
    from collections.abc import Sequence


class Characters:
    """One character is one token."""

    def encode(self, text: str) -> list[int]:
        return [ord(char) for char in text]

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(map(chr, tokens))

    def count(self, text: str) -> int:
        return len(text)


def rows(*scores: Any) -> list[dict[str, Any]]:
    return [{"index": index, "relevance_score": score} for index, score in enumerate(scores)]


def test_the_best_piece_speaks_for_its_document() -> None:
    scores = parse_scores(rows(0.5, 0.8, 0.6, 0.7, 0.4), 5)
    assert aggregate_scores(scores, [0, 0, 0, 1, 1], 2) == [(0, 0.8), (1, 0.7)]


@pytest.mark.parametrize(("strategy", "first"), [("mean", 0.7), ("first", 0.6), ("max", 0.8), ("no such", 0.8)])
def test_other_ways_to_speak_for_a_document(strategy: str, first: float) -> None:
    scores = parse_scores(rows(0.6, 0.8, 0.4), 3)
    together = aggregate_scores(scores, [0, 0, 1], 2, strategy)
    assert [document for document, _ in together] == [0, 1]
    assert [score for _, score in together] == pytest.approx([first, 0.4])


@pytest.mark.parametrize(
    "row",
    [
        None,
        "x",
        {"index": True, "relevance_score": 0.5},
        {"index": "1", "relevance_score": 0.5},
        {"relevance_score": 0.5},
        {"index": 1, "relevance_score": "not-a-score"},
        {"index": 1, "relevance_score": float("nan")},
        {"index": 1, "relevance_score": float("inf")},
        {"index": 1, "relevance_score": None},
        {"index": 1, "relevance_score": True},
        {"index": 1},
        {"index": 2, "relevance_score": 0.5},
        {"index": -1, "relevance_score": 0.5},
    ],
)
def test_a_bad_row_is_dropped_and_the_others_stay(row: Any) -> None:
    assert parse_scores([row, {"index": 0, "relevance_score": 0.3}], 2) == {0: 0.3}


def test_a_score_written_as_text_is_accepted() -> None:
    assert parse_scores(rows("0.8"), 1) == {0: 0.8}


def test_documents_without_a_score_are_absent() -> None:
    assert aggregate_scores({0: 0.1}, [0, 1], 2) == [(0, 0.1)]


def test_nothing_gives_nothing() -> None:
    assert aggregate_scores({}, [], 0) == []
    assert parse_scores([], 3) == {}
    assert split_documents([], Characters()).texts == ()


def test_owners_out_of_range_are_ignored() -> None:
    assert aggregate_scores({0: 0.9, 1: 0.5, 2: 0.4, 9: 0.3}, [7, 0, -1], 1) == [(0, 0.5)]


def test_top_n_counts_documents_after_aggregation() -> None:
    scores = parse_scores(rows(0.9, 0.8, 0.7, 0.6, 0.1), 5)
    assert aggregate_scores(scores, [0, 0, 0, 1, 2], 3, top_n=2) == [(0, 0.9), (1, 0.6)]


def test_equal_scores_keep_the_order_of_the_documents() -> None:
    assert aggregate_scores({0: 0.5, 1: 0.5, 2: 0.5}, [2, 0, 1], 3) == [(0, 0.5), (1, 0.5), (2, 0.5)]


def test_a_short_document_is_one_piece() -> None:
    assert split_into_windows("abc", Characters(), 3, 1) == ["abc"]


def test_long_documents_are_cut_into_overlapping_pieces_with_their_owner() -> None:
    pieces = split_documents(["ab", "abcdefgh"], Characters(), 4, 1)
    assert pieces.texts == ("ab", "abcd", "defg", "gh")
    assert pieces.document_indexes == (0, 1, 1, 1)


@pytest.mark.parametrize("size", [0, -3])
def test_a_piece_of_no_token_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match=str(size)):
        split_into_windows("abc", Characters(), size)


@given(text=st.text(alphabet="abcdef", min_size=1, max_size=80), size=st.integers(1, 20), overlap=st.integers(0, 40))
def test_any_overlap_ends_and_loses_nothing(text: str, size: int, overlap: int) -> None:
    pieces = split_into_windows(text, Characters(), size, overlap)
    kept = overlap if overlap < size else size // 2
    assert all(0 < len(piece) <= size for piece in pieces)
    assert pieces[0] + "".join(piece[kept:] for piece in pieces[1:]) == text
