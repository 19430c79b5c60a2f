"""Every decision about the order of search results."""

from __future__ import annotations

import math
from typing import Any

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


@pytest.mark.parametrize(
    ("rankings", "fused"),
    [
        pytest.param([(1.0, "abc"), (1.0, "bd")], "badc", id="high in both rankings"),
        pytest.param([(1.0, "a"), (2.0, "b")], "ba", id="a heavier ranking counts more"),
        pytest.param([(1.0, "aab"), (1.0, "b")], "ba", id="a repeated key counts at its best place"),
        pytest.param([(0.7, "cab")], "cab", id="one ranking is unchanged"),
        pytest.param([], "", id="nothing"),
    ],
)
def test_rankings_are_fused(rankings: list[tuple[float, str]], fused: str) -> None:
    assert reciprocal_rank_fusion(*rankings, damping=20) == list(fused)


@pytest.mark.parametrize(
    ("hands", "dealt"),
    [
        pytest.param([["L1", "L2", "L3"], ["G1", "L1"]], ["L1", "G1", "L2", "L3"], id="in turn"),
        pytest.param([["ab", "cd"], ["cd"]], ["ab", "cd"], id="nothing twice"),
        pytest.param([[], []], [], id="two empty ones"),
        pytest.param([], [], id="nothing"),
    ],
)
def test_rr_searches_are_dealt_in_turn(hands: list[list[str]], dealt: list[str]) -> None:
    assert round_robin(*hands) == dealt


ITEMS = st.lists(st.lists(st.integers(0, 30), max_size=12), max_size=8)


@given(ITEMS, st.lists(st.sampled_from([0.5, 1.0]), min_size=8, max_size=8), st.integers(1, 6))
def test_nothing_is_lost_or_repeated(items: list[list[int]], weights: list[float], limit: int) -> None:
    keys = sorted({key for item in items for key in item})
    assert sorted(reciprocal_rank_fusion(*zip(weights, items, strict=False), damping=20)) == keys
    assert sorted(round_robin(*items)) == keys
    unique = deduplicate_items(items)
    assert (len(unique), sorted(key for item in unique for key in item)) == (len(items), keys)
    picked = pick_by_weight(unique, limit)
    quota = sum(round(limit - index / max(1, len(items) - 1) * (limit - 1)) for index in range(len(items)))
    assert len(picked) == len(set(picked)) == min(quota, sum(map(len, unique)))


@pytest.mark.parametrize(
    ("sizes", "limit", "counts"),
    [
        pytest.param((10, 10, 10), 5, (5, 3, 1), id="w1 three items"),
        pytest.param((10, 10, 10, 10, 10), 5, (5, 4, 3, 2, 1), id="w2 five items"),
        pytest.param((2, 0, 9), 4, (2, 0, 5), id="w4 the first that can makes up for the others"),
        pytest.param((3,), 2, (2,), id="w5 one item"),
        pytest.param((3,), 0, (0,), id="w5 none requested"),
        pytest.param((3,), -1, (0,), id="w5 a negative number"),
        pytest.param((), 5, (), id="w5 no items"),
    ],
)
def test_items_give_chunks_by_their_rank(sizes: tuple[int, ...], limit: int, counts: tuple[int, ...]) -> None:
    items = [[f"item {item} chunk {chunk}" for chunk in range(size)] for item, size in enumerate(sizes)]
    expected = [chunk for item, count in zip(items, counts, strict=True) for chunk in item[:count]]
    assert pick_by_weight(items, limit) == expected


def test_a_chunk_stays_with_its_first_item_and_frequent_ones_come_first() -> None:
    items = [["a", "b", "c"], ["c", "d"], ["d", "c", "b", "e"]]
    assert deduplicate_items(items) == [["c", "b", "a"], ["d"], ["e"]]


C0, C1 = {"c0": np.array([[1.0, 0]])}, {"c1": np.array([[0.9, 0.1]])}
TWO_PARTS = {"two": np.array([[0.0, 1.0], [0.6, 0.8]]), "one": np.array([[0.5, 0.9]])}


@pytest.mark.parametrize(
    ("candidates", "vectors", "limit", "picked"),
    [
        pytest.param(["c1", "c2", "c0"], C0 | C1, 5, ["c0", "c1"], id="v1 none without a vector"),
        pytest.param(["c1", "c0"], C0 | C1, 1, ["c0"], id="the limit"),
        pytest.param(["c2"], C0 | C1, 5, [], id="no vector at all"),
        pytest.param(["one", "two"], TWO_PARTS, 2, ["two", "one"], id="the best part of a chunk counts"),
    ],
)
def test_chunks_are_picked_by_vector(
    candidates: list[str], vectors: dict[str, np.ndarray], limit: int, picked: list[str]
) -> None:
    assert pick_by_vector(candidates, vectors, np.array([1.0, 0]), limit) == picked


def test_exact_names_come_before_entities_of_both_searches() -> None:
    assert rank_entities(["x"], ["a", "b"], ["b", "x", "c"], RANKING) == ["x", "b", "a", "c"]


def test_the_weights_of_both_chunk_searches_are_options() -> None:
    assert fuse_chunks(["a", "b"], ["c", "d"], RANKING) == ["a", "b", "c", "d"]
    assert fuse_chunks(["a", "b"], ["c", "d"], RankingOptions(vector_weight=0.1)) == ["c", "d", "a", "b"]


def test_scores_that_differ_after_six_digits_are_equal() -> None:
    assert sort_key(0.12345649) == sort_key(0.1234561) != sort_key(0.1234570)
    assert sort_key(0.9) < sort_key(0.1)


def test_each_side_gives_an_equal_number_of_vector_candidates() -> None:
    assert vector_candidates(RankingOptions(max_vector_candidates=4), [[1, 2], [2, 3]], [[9]]) == [1, 2, 9]


def test_a_chunk_of_an_entity_is_not_one_of_a_relation_too() -> None:
    assert deduplicate_sides([[1, 2]], [[2, 3], [3]]) == ([[1, 2]], [[3], []])


def test_without_vectors_chunks_are_picked_by_weight() -> None:
    vectors, query = {1: np.array([[1.0, 0.0]]), 2: np.array([[0.0, 1.0]])}, np.array([0.0, 1.0])
    assert pick_chunks([[1, 2]], vectors, query, RANKING) == [2, 1]
    assert pick_chunks([[1, 2]], {}, query, RANKING) == pick_chunks([[1, 2]], vectors, None, RANKING) == [1, 2]
    assert pick_chunks([[1, 2]], vectors, query, RankingOptions(chunk_selection="weight")) == [1, 2]


BAD_SCORES = [[], [None] * 3, [0.5], [math.nan, math.inf, None], [1.0, 2.0, 3.0, 4.0]]


@pytest.mark.parametrize(
    ("scores", "limit", "minimum", "kept"),
    [
        pytest.param([0.1, 0.9, 0.5], 2, 0.0, "bc", id="the best first"),
        pytest.param([None, 0.5, 0.5], 9, 0.0, "bc", id="none without a score, ties in order"),
        pytest.param([math.nan, 0.1, 0.5], 9, 0.0, "cb", id="none with NaN"),
        *(pytest.param(scores, 2, 0.0, "ab", id=f"bad scores {scores}") for scores in BAD_SCORES),
        pytest.param([-1.0, 0.4, -2.0], 5, 0.0, "bac", id="no minimum"),
        pytest.param([0.5, 0.4, 0.6], 5, 0.5, "ca", id="a minimum"),
        pytest.param([0.1, 0.2, 0.3], 5, 0.5, "", id="all below the minimum"),
    ],
)
def test_k9_a_reranker_orders_items(scores: list[float | None], limit: int, minimum: float, kept: str) -> None:
    assert apply_rerank(["a", "b", "c"], scores, limit, minimum) == list(kept)


@given(st.floats(-1, 1), st.integers(0, 10**6), st.floats(0, 1e6))
def test_similarity_outweighs_all_hubs(similarity: float, degree: int, weight: float) -> None:
    score = relation_score(similarity, degree, weight, RANKING)
    assert score < relation_score(similarity + 0.25, 0, 0.0, RANKING) + 1e-12
    assert score <= relation_score(similarity, degree + 1, weight + 1, RANKING)


PUBLISHED = FactEdge(("association", "journal"), 1.0, 0.8, [1])
LED = FactEdge(("association", "hall"), 1.0, 0.3, [2])
OTHER = FactEdge(("lake", "river"), 1.0, 0.1, [3])
NAMES = [
    *(EntityNode("journal", 1, [1]), EntityNode("association", 2, [1, 2])),
    *(EntityNode("hall", 1, [2]), EntityNode("lake", 1, [3])),
]


@pytest.mark.parametrize(
    ("names", "facts", "similarity", "order"),
    [
        pytest.param([], [], {5: 0.1, 6: 0.9, 7: 0.4}, [6, 7, 5], id="without facts by similarity"),
        pytest.param([], [], {}, [], id="nothing"),
        pytest.param([EntityNode("a", 1, [4, 3])], [], {}, [4, 3], id="without a seed unchanged"),
        pytest.param(
            [EntityNode("a", 2, [2, 1])], [FactEdge(("a", "b"), 1.0, 0.5, [])], {}, [2, 1], id="ties in order"
        ),
    ],
)
def test_chunks_are_ranked_by_pagerank(
    names: list[EntityNode], facts: list[FactEdge], similarity: dict[int, float], order: list[int]
) -> None:
    assert rank_chunks_by_pagerank(names, facts, similarity, RANKING) == order


def test_a_chunk_two_steps_away_comes_before_an_unconnected_one() -> None:
    many = [FactEdge((f"a{n}", f"b{n}"), 1.0, 0.5, [10 + n]) for n in range(RANKING.max_seed_facts - 1)]
    order = rank_chunks_by_pagerank(NAMES, [PUBLISHED, LED, OTHER, *many], {}, RANKING)
    assert order.index(1) < order.index(2) < order.index(3)


def test_the_chunk_that_states_the_best_fact_comes_first_and_similar_ones_are_added() -> None:
    order = rank_chunks_by_pagerank(NAMES, [OTHER, LED, PUBLISHED], {99: 0.2}, RANKING)
    assert (order[0], set(order)) == (1, {1, 2, 3, 99})


MANY_FACTS = [FactEdge((f"a{number}", f"b{number}"), 1.0, 1.0 - number / 20, []) for number in range(12)]
UNLIKE_FACTS = [FactEdge(("a", "b"), 1.0, 0.0, [1]), FactEdge(("c", "d"), 1.0, -0.2, [1])]


def test_only_the_best_facts_are_seeds() -> None:
    best = {f"{side}{number}" for side in "ab" for number in range(RANKING.max_seed_facts)}
    assert set(build_seed_weights([], MANY_FACTS, {}, RANKING)) == best
    assert build_seed_weights([], UNLIKE_FACTS, {}, RANKING) == {}


def test_a_seed_weighs_less_the_more_often_its_name_is_mentioned() -> None:
    names = [EntityNode("hub", 100, []), EntityNode("rare", 2, [])]
    weights = build_seed_weights(names, [FactEdge(("hub", "rare"), 1.0, 0.6, [])], {}, RANKING)
    assert weights == {"hub": pytest.approx(0.006), "rare": pytest.approx(0.3)}


def test_similarities_of_chunks_are_stretched_between_zero_and_their_share() -> None:
    share = RANKING.chunk_seed_weight
    weights = build_seed_weights([], [], {1: 0.2, 2: 0.6, 3: 0.4}, RANKING)
    assert weights == {1: 0.0, 2: share, 3: pytest.approx(share / 2)}


def test_a_name_and_a_chunk_have_one_edge_however_many_facts_connect_them() -> None:
    facts = [FactEdge(("a", "b"), 3.0, 0.5, [1]), FactEdge(("a", "c"), 1.0, 0.5, [1])]
    edges = build_edges([EntityNode("a", 1, [1])], facts)
    assert edges == {("a", 1): 1.0, ("a", "b"): 3.0, ("b", 1): 1.0, ("a", "c"): 1.0, ("c", 1): 1.0}


CHUNKS = st.integers(1, 20)
NODES = st.builds(EntityNode, st.sampled_from("abcdef"), st.integers(1, 9), st.lists(CHUNKS, max_size=4))
PAIRS = st.tuples(st.sampled_from("abc"), st.sampled_from("def"))
FACTS = st.builds(FactEdge, PAIRS, st.sampled_from([1.0, 5.0]), st.floats(-1, 1), CHUNKS.map(lambda chunk: [chunk]))


@given(st.lists(NODES), st.lists(FACTS), st.dictionaries(st.integers(1, 30), st.floats(-1, 1)))
def test_every_chunk_is_ranked_once(
    names: list[EntityNode], facts: list[FactEdge], similarity: dict[int, float]
) -> None:
    items: list[Any] = [*names, *facts]
    expected = {chunk for item in items for chunk in item.chunks} | set(similarity)
    assert sorted(rank_chunks_by_pagerank(names, facts, similarity, RANKING)) == sorted(expected)
