from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.retrieval.ranking import reciprocal_rank_fusion

RANKINGS = st.lists(st.tuples(st.sampled_from([0.5, 1.0]), st.lists(st.integers(0, 9), max_size=6)), max_size=3)


def test_what_stands_high_in_both_rankings_comes_first() -> None:
    assert reciprocal_rank_fusion((1.0, ["a", "b", "c"]), (1.0, ["b", "d"])) == ["b", "a", "d", "c"]


def test_a_heavier_ranking_counts_more() -> None:
    assert reciprocal_rank_fusion((1.0, ["a"]), (2.0, ["b"])) == ["b", "a"]


def test_a_key_given_twice_in_a_ranking_counts_at_its_best_place() -> None:
    assert reciprocal_rank_fusion((1.0, ["a", "a", "b"]), (1.0, ["b"])) == ["b", "a"]


@given(RANKINGS)
def test_every_key_comes_once(rankings: list[tuple[float, list[int]]]) -> None:
    made = reciprocal_rank_fusion(*rankings)
    assert sorted(made) == sorted({key for _, keys in rankings for key in keys})


def test_one_ranking_is_left_as_it_is() -> None:
    assert reciprocal_rank_fusion((0.7, [3, 1, 2])) == [3, 1, 2]
    assert reciprocal_rank_fusion() == []
