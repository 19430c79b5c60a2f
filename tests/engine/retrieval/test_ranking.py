"""Every decision about the order of search results."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.options import RankingOptions
from engine.retrieval.ranking import (
    EntityNode,
    FactEdge,
    apply_rerank,
    build_edges,
    build_seed_weights,
    deduplicate_items,
    deduplicate_sides,
    fuse_chunks,
    pick_by_vector,
    pick_by_weight,
    pick_chunks,
    rank_chunks_by_pagerank,
    rank_entities,
    reciprocal_rank_fusion,
    relation_score,
    round_robin,
    sort_key,
    vector_candidates,
)

RANKING = RankingOptions()
RANKINGS = st.lists(st.tuples(st.sampled_from([0.5, 1.0]), st.lists(st.integers(0, 9), max_size=6)), max_size=3)


def test_what_stands_high_in_both_rankings_comes_first() -> None:
    assert reciprocal_rank_fusion((1.0, ["a", "b", "c"]), (1.0, ["b", "d"]), damping=20) == ["b", "a", "d", "c"]


def test_a_heavier_ranking_counts_more() -> None:
    assert reciprocal_rank_fusion((1.0, ["a"]), (2.0, ["b"]), damping=20) == ["b", "a"]


def test_a_key_given_twice_in_a_ranking_counts_at_its_best_place() -> None:
    assert reciprocal_rank_fusion((1.0, ["a", "a", "b"]), (1.0, ["b"]), damping=20) == ["b", "a"]


@given(RANKINGS)
def test_every_key_comes_once(rankings: list[tuple[float, list[int]]]) -> None:
    made = reciprocal_rank_fusion(*rankings, damping=20)
    assert sorted(made) == sorted({key for _, keys in rankings for key in keys})


def test_one_ranking_is_left_as_it_is() -> None:
    assert reciprocal_rank_fusion((0.7, [3, 1, 2]), damping=20) == [3, 1, 2]
    assert reciprocal_rank_fusion(damping=20) == []


ITEMS = st.lists(st.lists(st.integers(0, 30), max_size=12), max_size=8)


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
    assert pick_by_weight(items, 5) == items[0][:5] + items[1][:3] + items[2][:1]


def test_w2_five_items_of_ten_give_five_to_one() -> None:
    items = items_of(10, 10, 10, 10, 10)
    assert pick_by_weight(items, 5) == [
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
    vectors = {"c0": np.array([[1.0, 0, 0]]), "c1": np.array([[0.9, 0.1, 0]])}
    assert pick_by_vector(["c1", "c2", "c0"], vectors, np.array([1.0, 0, 0]), 5) == ["c0", "c1"]
    assert pick_by_vector(["c1", "c0"], vectors, np.array([1.0, 0, 0]), 1) == ["c0"]
    assert pick_by_vector(["c2"], vectors, np.array([1.0, 0, 0]), 5) == []


def test_the_best_part_of_a_chunk_counts() -> None:
    vectors = {1: np.array([[0.0, 1.0], [0.6, 0.8]]), 2: np.array([[0.5, 0.9]])}
    assert pick_by_vector([2, 1], vectors, np.array([1.0, 0.0]), 2) == [1, 2]


def test_exact_names_come_before_entities_of_both_searches() -> None:
    assert rank_entities(["x"], ["a", "b"], ["b", "x", "c"], RANKING) == ["x", "b", "a", "c"]


def test_the_weights_of_both_chunk_searches_are_options() -> None:
    assert fuse_chunks(["a", "b"], ["c", "d"], RANKING) == ["a", "b", "c", "d"]
    assert fuse_chunks(["a", "b"], ["c", "d"], RankingOptions(vector_weight=0.1)) == ["c", "d", "a", "b"]


def test_scores_that_differ_after_six_digits_are_equal() -> None:
    assert sort_key(0.12345649) == sort_key(0.1234561) != sort_key(0.1234570)
    assert sort_key(0.9) < sort_key(0.1)


def test_each_side_gives_an_equal_number_of_vector_candidates() -> None:
    options = RankingOptions(max_vector_candidates=4)
    assert vector_candidates(options, [[1, 2], [2, 3]], [[9]]) == [1, 2, 9]


def test_a_chunk_of_an_entity_is_not_one_of_a_relation_too() -> None:
    assert deduplicate_sides([[1, 2]], [[2, 3], [3]]) == ([[1, 2]], [[3], []])


def test_without_vectors_chunks_are_picked_by_weight() -> None:
    query = np.array([0.0, 1.0])
    vectors = {1: np.array([[1.0, 0.0]]), 2: np.array([[0.0, 1.0]])}
    assert pick_chunks([[1, 2]], vectors, query, RANKING) == [2, 1]
    assert pick_chunks([[1, 2]], {}, query, RANKING) == pick_chunks([[1, 2]], vectors, None, RANKING) == [1, 2]
    assert pick_chunks([[1, 2]], vectors, query, RankingOptions(chunk_selection="weight")) == [1, 2]


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
    score = relation_score(similarity, degree, weight, RANKING)
    assert score < relation_score(similarity + 0.25, 0, 0.0, RANKING) + 1e-12
    assert score <= relation_score(similarity, degree + 1, weight + 1, RANKING)


PUBLISHED = FactEdge(("association", "journal"), 1.0, 0.8, [1])
LED = FactEdge(("association", "hall"), 1.0, 0.3, [2])
OTHER = FactEdge(("lake", "river"), 1.0, 0.1, [3])
NAMES = [
    EntityNode("journal", 1, [1]),
    EntityNode("association", 2, [1, 2]),
    EntityNode("hall", 1, [2]),
    EntityNode("lake", 1, [3]),
]


def test_a_chunk_two_steps_away_comes_before_one_that_is_not_joined() -> None:
    many = [
        FactEdge((f"a{number}", f"b{number}"), 1.0, 0.5, [10 + number]) for number in range(RANKING.max_seed_facts - 1)
    ]
    order = rank_chunks_by_pagerank(NAMES, [PUBLISHED, LED, OTHER, *many], {}, RANKING)
    assert order.index(1) < order.index(2) < order.index(3)


def test_the_chunk_that_states_the_best_fact_comes_first() -> None:
    assert rank_chunks_by_pagerank(NAMES, [OTHER, LED, PUBLISHED], {}, RANKING)[0] == 1


def test_without_facts_the_order_is_that_of_similarity() -> None:
    assert rank_chunks_by_pagerank([], [], {5: 0.1, 6: 0.9, 7: 0.4}, RANKING) == [6, 7, 5]


def test_without_anything_there_is_nothing() -> None:
    assert rank_chunks_by_pagerank([], [], {}, RANKING) == []


def test_without_a_start_the_order_stays() -> None:
    assert rank_chunks_by_pagerank([EntityNode("a", 1, [4, 3])], [], {}, RANKING) == [4, 3]


def test_chunks_only_found_by_similarity_are_there_too() -> None:
    assert set(rank_chunks_by_pagerank(NAMES, [PUBLISHED], {99: 0.2}, RANKING)) == {1, 2, 3, 99}


def test_only_the_best_facts_are_starts() -> None:
    facts = [FactEdge((f"a{number}", f"b{number}"), 1.0, 1.0 - number / 20, []) for number in range(12)]
    assert set(build_seed_weights([], facts, {}, RANKING)) == {
        f"{side}{number}" for side in "ab" for number in range(RANKING.max_seed_facts)
    }


def test_facts_unlike_the_question_are_no_start() -> None:
    facts = [FactEdge(("a", "b"), 1.0, 0.0, [1]), FactEdge(("c", "d"), 1.0, -0.2, [1])]
    assert build_seed_weights([], facts, {}, RANKING) == {}


def test_a_start_is_the_rarer_the_more_often_its_name_is_mentioned() -> None:
    found = build_seed_weights(
        [EntityNode("hub", 100, []), EntityNode("rare", 2, [])], [FactEdge(("hub", "rare"), 1.0, 0.6, [])], {}, RANKING
    )
    assert found == {"hub": pytest.approx(0.006), "rare": pytest.approx(0.3)}


def test_similarities_of_chunks_are_stretched_between_nothing_and_their_share() -> None:
    assert build_seed_weights([], [], {1: 0.2, 2: 0.6, 3: 0.4}, RANKING) == {
        1: 0.0,
        2: RANKING.chunk_seed_weight,
        3: pytest.approx(RANKING.chunk_seed_weight / 2),
    }


def test_a_name_and_a_chunk_are_joined_once_however_many_facts_join_them() -> None:
    edges = build_edges(
        [EntityNode("a", 1, [1])], [FactEdge(("a", "b"), 3.0, 0.5, [1]), FactEdge(("a", "c"), 1.0, 0.5, [1])]
    )
    assert edges == {("a", 1): 1.0, ("a", "b"): 3.0, ("b", 1): 1.0, ("a", "c"): 1.0, ("c", 1): 1.0}


def test_equals_are_equal_and_keep_their_order() -> None:
    assert rank_chunks_by_pagerank([EntityNode("a", 2, [2, 1])], [FactEdge(("a", "b"), 1.0, 0.5, [])], {}, RANKING) == [
        2,
        1,
    ]


@given(
    st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(1, 9), st.lists(st.integers(1, 20), max_size=4))),
    st.lists(
        st.tuples(
            st.sampled_from("abc"), st.sampled_from("def"), st.integers(1, 5), st.floats(-1, 1), st.integers(1, 20)
        )
    ),
    st.dictionaries(st.integers(1, 30), st.floats(-1, 1)),
)
def test_every_chunk_comes_once(
    names: list[tuple[str, int, list[int]]],
    facts: list[tuple[str, str, int, float, int]],
    similarity: dict[int, float],
) -> None:
    told = [EntityNode(*each) for each in names]
    said = [FactEdge((a, b), float(weight), like, [chunk]) for a, b, weight, like, chunk in facts]
    order = rank_chunks_by_pagerank(told, said, similarity, RANKING)
    expected = {chunk for each in told for chunk in each.chunks} | {fact.chunks[0] for fact in said} | set(similarity)
    assert sorted(order) == sorted(expected)
