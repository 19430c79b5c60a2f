"""Order, picking, budget and numbers between what was found and what a model is shown."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.retrieval.sources import (
    MAX_SOURCE_NUMBERS,
    apply_rerank,
    cosine,
    deduplicate_items,
    join_overlapping,
    number_sources,
    pick_by_vector,
    pick_by_weight,
    relation_score,
    round_robin,
    tokens_for_sources,
    truncate_to_budget,
)
from engine.storage.ledger.queries.lookup import ChunkText, PieceText

if TYPE_CHECKING:
    from collections.abc import Sequence

ITEMS = st.lists(st.lists(st.integers(0, 30), max_size=12), max_size=8)


class Letters:
    """One character is one token."""

    def encode(self, text: str) -> list[int]:
        return [ord(character) for character in text]

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(map(chr, tokens))

    def count(self, text: str) -> int:
        return len(text)


def items_of(*sizes: int) -> list[list[str]]:
    return [[f"e{item}c{chunk}" for chunk in range(size)] for item, size in enumerate(sizes)]


def test_rr_two_legs_are_dealt_in_turn_and_nothing_twice() -> None:
    assert round_robin(["L1", "L2", "L3"], ["G1", "L1"]) == ["L1", "G1", "L2", "L3"]
    assert round_robin([("a", "b"), ("c", "d")], [("c", "d")]) == [("a", "b"), ("c", "d")]
    assert round_robin() == round_robin([], []) == []


@given(ITEMS)
def test_rr_deals_everything_once(hands: list[list[int]]) -> None:
    dealt = round_robin(*hands)
    assert sorted(dealt) == sorted({key for hand in hands for key in hand})


def test_w1_three_items_of_ten_give_five_three_and_one() -> None:
    items = items_of(10, 10, 10)
    assert pick_by_weight(items) == items[0][:5] + items[1][:3] + items[2][:1]


def test_w2_five_items_of_ten_give_five_to_one() -> None:
    items = items_of(10, 10, 10, 10, 10)
    assert pick_by_weight(items) == [
        key for item, wanted in zip(items, (5, 4, 3, 2, 1), strict=True) for key in item[:wanted]
    ]


def test_w4_what_some_items_cannot_give_comes_from_the_first_that_can() -> None:
    assert pick_by_weight(items_of(2, 0, 9), 4) == ["e0c0", "e0c1", "e2c0", "e2c1", "e2c2", "e2c3", "e2c4"]


def test_w5_one_item_gives_what_is_wanted_and_nothing_gives_nothing() -> None:
    assert pick_by_weight(items_of(3), 2) == ["e0c0", "e0c1"]
    assert pick_by_weight(items_of(3), 0) == pick_by_weight(items_of(3), -1) == pick_by_weight([], 5) == []


@given(ITEMS, st.integers(1, 6))
def test_picking_by_weight_gives_as_many_as_wanted_if_they_are_there(items: list[list[int]], m: int) -> None:
    spreaded = deduplicate_items(items)
    picked = pick_by_weight(spreaded, m)
    wanted = sum(round(m - index / max(1, len(items) - 1) * (m - 1)) for index in range(len(items)))
    assert len(picked) == len(set(picked)) == min(wanted, sum(map(len, spreaded)))


def test_a_chunk_stays_with_its_first_item_and_often_used_ones_come_first() -> None:
    assert deduplicate_items([["a", "b", "c"], ["c", "d"], ["d", "c", "b", "e"]]) == [["c", "b", "a"], ["d"], ["e"]]


@given(ITEMS)
def test_spreading_loses_nothing(items: list[list[int]]) -> None:
    found = deduplicate_items(items)
    assert len(found) == len(items)
    assert sorted(key for item in found for key in item) == sorted({key for item in items for key in item})


def test_v1_candidates_without_a_vector_are_left_out() -> None:
    vectors = {"c0": np.array([1.0, 0, 0]), "c1": np.array([0.9, 0.1, 0])}
    assert pick_by_vector(["c1", "c2", "c0"], vectors, np.array([1.0, 0, 0]), 5) == ["c0", "c1"]
    assert pick_by_vector(["c1", "c0"], vectors, np.array([1.0, 0, 0]), 1) == ["c0"]
    assert pick_by_vector(["c2"], vectors, np.array([1.0, 0, 0]), 5) == []


def test_the_best_part_of_a_chunk_counts() -> None:
    vectors = {1: np.array([[0.0, 1.0], [0.6, 0.8]]), 2: np.array([[0.5, 0.9]])}
    assert pick_by_vector([2, 1], vectors, np.array([1.0, 0.0]), 2) == [1, 2]


@pytest.mark.parametrize("bad", [[0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0], [-math.inf, 0.0]])
def test_v2_the_cosine_with_zero_nan_or_inf_is_zero(bad: list[float]) -> None:
    good = np.array([3.0, 4.0], dtype=np.float32)
    assert cosine(np.array(bad, dtype=np.float32), good) == cosine(good, np.array(bad, dtype=np.float32)) == 0.0
    assert cosine(good, good * np.float32(1e30)) == pytest.approx(1.0)


@pytest.mark.parametrize(("budget", "kept"), [(10, 2), (9, 2), (8, 1), (3, 0)])
def test_t1_the_longest_prefix_that_fits_is_kept(budget: int, kept: int) -> None:
    assert truncate_to_budget([1, 2, 3], ["aaaa", "bbbb", "cccc"], budget, Letters()) == [1, 2, 3][:kept]


def test_t2_a_relation_known_in_one_direction_survives_and_is_found_in_the_other() -> None:
    merged = round_robin([tuple(sorted(("D", "C")))], [("A", "B"), tuple(sorted(("C", "D")))])
    assert truncate_to_budget(merged, ["x"] * len(merged), 10, Letters()) == [("C", "D"), ("A", "B")]


def test_the_room_for_sources_is_what_is_left_and_history_counts() -> None:
    assert tokens_for_sources(30000, 4020, 14000) == 11780
    assert tokens_for_sources(1000, 1000, 0) == 0


def test_k9_the_best_scores_come_first() -> None:
    assert apply_rerank(["a", "b", "c"], [0.1, 0.9, 0.5], 2) == ["b", "c"]


def test_k9_what_has_no_score_is_absent_and_ties_keep_their_order() -> None:
    assert apply_rerank(["a", "b", "c", "d"], [None, 0.5, math.nan, 0.5], 9) == ["b", "d"]


@pytest.mark.parametrize("scores", [[], [None, None, None], [0.5], [math.nan, math.inf, None], [1.0, 2.0, 3.0, 4.0]])
def test_k9_bad_scores_leave_the_order_as_it_was(scores: list[float | None]) -> None:
    assert apply_rerank(["a", "b", "c"], scores, 2) == ["a", "b"]


def test_k9_a_least_score_counts_only_if_it_is_positive() -> None:
    assert apply_rerank(["a", "b"], [-1.0, 0.4], 5, 0.0) == ["b", "a"]
    assert apply_rerank(["a", "b", "c"], [0.5, 0.4, 0.6], 5, 0.5) == ["c", "a"]
    assert apply_rerank(["a", "b"], [0.1, 0.2], 5, 0.5) == []


@given(st.floats(-1, 1), st.integers(0, 10**6), st.floats(0, 1e6))
def test_similarity_outweighs_all_hubs(similarity: float, degree: int, weight: float) -> None:
    assert relation_score(similarity, degree, weight) < relation_score(similarity + 0.25, 0, 0.0) + 1e-12
    assert relation_score(similarity, degree, weight) <= relation_score(similarity, degree + 1, weight + 1)


def piece(passage: str, text: str, document: str = "d") -> PieceText:
    time = datetime(2026, 11, 20, tzinfo=UTC)
    return PieceText(passage, document, "Title", "p. 1", "https://x", "Ada", time, text, "space", "room")


def chunk(id_: int, *pieces: PieceText, text: str = "") -> ChunkText:
    whole = text or "\n".join(piece.text for piece in pieces)
    return ChunkText(id_, f"key{id_}", pieces[0].document, whole, pieces)


def test_passages_are_numbered_from_one_in_the_order_of_the_chunks() -> None:
    sources = number_sources([chunk(7, piece("b", "B"), piece("c", "C")), chunk(3, piece("a", "A"))]).sources
    assert [(source.number, source.passage, source.chunk) for source in sources] == [
        (1, "b", "key7"),
        (2, "c", "key7"),
        (3, "a", "key3"),
    ]
    assert sources[0].label == "p. 1"
    assert number_sources([]).sources == ()


def test_one_passage_of_one_document_has_one_number() -> None:
    chunks = [chunk(1, piece("a", "one", "d")), chunk(2, piece("a", "two", "e")), chunk(3, piece("a", "three", "d"))]
    numbered = number_sources(chunks)
    assert [(source.document, source.text) for source in numbered.sources] == [("d", "one\n…\nthree"), ("e", "two")]
    assert numbered.find_supporting([3], ["three"]) == (1,)


def test_windows_of_a_passage_are_joined_where_they_overlap() -> None:
    text = "".join(f"This is sentence {number} of the passage. " for number in range(9))
    assert join_overlapping(text[:200], text[150:]) == join_overlapping(text[150:], text[:200]) == text
    assert join_overlapping(text, text[30:90]) == join_overlapping(text[30:90], text) == text
    assert join_overlapping("It ends", "Another") == "It ends\n…\nAnother"


@given(st.text(alphabet="ab ", min_size=60, max_size=120), st.integers(0, 60), st.integers(20, 40))
def test_what_two_windows_share_stands_once(text: str, start: int, shared: int) -> None:
    whole = text + "".join(chr(0x4E00 + index) for index in range(60)) + text[::-1]
    middle = len(text) + 5
    assert join_overlapping(whole[: middle + shared], whole[middle:]) == whole
    assert whole[start:].startswith(join_overlapping(whole[start : middle + shared], whole[start : middle + shared]))


def test_equal_texts_are_recalled_once_and_support_alike() -> None:
    numbered = number_sources(
        [chunk(1, piece("a", "The boat is red.", "d")), chunk(2, piece("a", "The boat is red.", "e"))]
    )
    assert [source.document for source in numbered.sources] == ["d"]
    assert numbered.find_supporting([2], ["boat"]) == (1,)


def test_a_row_is_supported_by_the_passages_that_name_it() -> None:
    numbered = number_sources(
        [chunk(1, *(piece(key, text) for key, text in enumerated("ADA sails", "Bob", "ada and bob", "x")))]
    )
    assert numbered.find_supporting([1], ["Ada"]) == (1, 3)
    assert numbered.find_supporting([1], ["Ada", "Bob"]) == (3,)
    assert numbered.find_supporting([1], ["Bob", "Cleo"]) == (2, 3)
    assert numbered.find_supporting([1], ["Cleo"]) == (1, 2, 3)
    assert numbered.find_supporting([9], ["Ada"]) == ()


def test_a_row_shows_a_few_numbers_at_most_those_of_the_first_evidence() -> None:
    numbered = number_sources(chunk(id_, piece(str(id_), f"Ada {id_}")) for id_ in range(1, 21))
    assert numbered.find_supporting(range(20, 0, -1), ["Ada"]) == tuple(range(13, 21))
    assert len(numbered.find_supporting(range(1, 21), ["Ada"])) == MAX_SOURCE_NUMBERS


def enumerated(*texts: str) -> list[tuple[str, str]]:
    return [(str(index), text) for index, text in enumerate(texts)]
