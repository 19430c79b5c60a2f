from __future__ import annotations

import math

import pytest

from engine.options import RankingOptions
from engine.retrieval.ranking.fusion import (
    add_neighbors,
    apply_rerank,
    fuse_scores,
    order_mix,
    rank_by_score,
    rank_entities,
    reciprocal_rank_fusion,
    round_robin,
    sort_key,
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


def test_exact_names_come_before_entities_of_both_searches() -> None:
    assert rank_entities(["x"], ["a", "b"], ["b", "x", "c"], RANKING) == ["x", "b", "a", "c"]


def test_scores_that_differ_after_six_digits_are_equal() -> None:
    assert sort_key(0.12345649) == sort_key(0.1234561) != sort_key(0.1234570)
    assert sort_key(0.9) < sort_key(0.1)


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


@pytest.mark.parametrize(
    ("similarity", "bm25", "order"),
    [
        pytest.param({"a": 0.6, "b": 0.5}, {}, "ab", id="vectors alone"),
        pytest.param({}, {"a": 3.0, "b": 9.0}, "ba", id="words alone"),
        pytest.param({"a": 0.6, "b": 0.5}, {"b": 4.0}, "ba", id="a chunk of both searches wins"),
        pytest.param({"a": 0.6, "b": 0.1}, {"b": 4.0}, "ab", id="unless it is far less similar"),
        pytest.param({"a": 0.6, "b": 0.5}, {"c": 4.0}, "cab", id="found by words alone"),
        pytest.param({"a": 0.6, "b": 0.05}, {"c": 4.0}, "acb", id="its similarity is below all that are known"),
    ],
)
def test_chunks_are_ranked_by_both_scores(similarity: dict[str, float], bm25: dict[str, float], order: str) -> None:
    assert rank_by_score(fuse_scores(similarity, bm25, 100, RANKING), {}) == list(order)


def test_a_similarity_below_that_of_unrelated_texts_counts_nothing() -> None:
    similarity, bm25 = {"near": 0.5, "far": -0.4, "farther": -0.6}, {"farther": 1.0, "far": 1.0}
    scores = fuse_scores(similarity, bm25, 100, RANKING)
    assert scores["far"] == scores["farther"] == RANKING.fulltext_weight


@pytest.mark.parametrize(
    ("fetched", "place"),
    [pytest.param(10, 1, id="of many that hardly match"), pytest.param(10_000, -1, id="of the few that match")],
)
def test_a_chunk_without_words_does_not_fall_behind_one_that_hardly_has_any(fetched: int, place: int) -> None:
    similarity, bm25 = {"near": 0.6, "unnamed": 0.5}, {"near": 10.0} | dict.fromkeys("abcdefghi", 4.0)
    assert rank_by_score(fuse_scores(similarity, bm25, fetched, RANKING), {})[place] == "unnamed"


@pytest.mark.parametrize(
    ("known", "order"),
    [
        pytest.param(1.0, ["named", "near"], id="all words known"),
        pytest.param(RANKING.known_words_share, ["named", "near"], id="almost all"),
        pytest.param(0.2, ["near", "named"], id="a single name of a question in another language"),
        pytest.param(0.0, ["near", "named"], id="none"),
    ],
)
def test_words_weigh_less_if_the_texts_know_few_words_of_the_question(known: float, order: list[str]) -> None:
    similarity, bm25 = {"near": 0.5, "named": 0.3}, {"named": 4.0}
    assert rank_by_score(fuse_scores(similarity, bm25, 100, RANKING, known), {}) == order


def test_a_message_gains_a_share_of_its_best_neighbor() -> None:
    pairs = [("a", "b"), ("b", "c"), ("c", "elsewhere")]
    assert add_neighbors({"a": 1.0, "b": 0.1, "c": 0.2}, pairs, 0.5) == {"a": 1.05, "b": 0.6, "c": 0.25}


def test_equal_scores_are_ordered_by_content() -> None:
    assert rank_by_score({1: 0.5, 2: 0.5000000001}, {1: ("b", "", ""), 2: ("a", "", "")}) == [2, 1]


@pytest.mark.parametrize(
    ("walk", "order"),
    [
        pytest.param("wb", "awbcg", id="the best of the search, the walk, the others"),
        pytest.param("", "abcg", id="without a walk as naive"),
    ],
)
def test_mix_is_the_best_hit_then_the_walk(walk: str, order: str) -> None:
    assert order_mix("abc", walk, "gw"[:1]) == list(order)
