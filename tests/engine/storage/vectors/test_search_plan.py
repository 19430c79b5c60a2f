from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.storage.vectors.base import VectorFilter
from engine.storage.vectors.search_plan import EXACT_ROWS, SearchPlan, build_filter, max_matching_rows, plan_search


def test_few_rows_in_the_area_are_read_exactly() -> None:
    assert plan_search(EXACT_ROWS, 10**6, 20) == SearchPlan(exact=True)


def test_a_thin_area_probes_more_of_the_index_than_a_dense_one() -> None:
    thin, dense = plan_search(10_000, 400_000, 20), plan_search(200_000, 400_000, 20)
    assert not thin.exact
    assert thin.probes == 100
    assert dense.probes == 25


@given(st.integers(EXACT_ROWS + 1, 10**6), st.integers(1, 2000))
def test_enough_candidates_are_compared_exactly_however_few_are_wanted(rows: int, k: int) -> None:
    assert plan_search(rows, 2 * rows, k).refine * k >= 240


def test_the_filter_says_spaces_or_rooms_and_ids() -> None:
    assert build_filter(VectorFilter(frozenset({2, 1}))) == "space IN (1,2)"
    assert build_filter(VectorFilter(frozenset(), frozenset({3}))) == "room IN (3)"
    area = VectorFilter(frozenset({1}), frozenset({3}), ids=frozenset({9}))
    assert build_filter(area) == "(space IN (1) OR room IN (3)) AND id IN (9)"


def test_an_area_that_can_hold_nothing_has_no_filter() -> None:
    assert build_filter(VectorFilter(frozenset())) is None
    assert build_filter(VectorFilter(frozenset({1}), ids=frozenset())) is None


def test_what_is_known_of_the_population_bounds_the_rows_of_the_area() -> None:
    area = VectorFilter(frozenset({1, 2}), rows_by_space={1: 5, 2: 7, 3: 100})
    assert max_matching_rows(area) == 12
    assert max_matching_rows(VectorFilter(frozenset({1}), rows_by_space={1: 5}, ids=frozenset({1, 2}))) == 2
    assert max_matching_rows(VectorFilter(frozenset({1}), ids=frozenset({1, 2, 3}))) == 3


def test_rooms_and_an_unknown_population_bound_nothing() -> None:
    assert max_matching_rows(VectorFilter(frozenset({1}))) is None
    assert max_matching_rows(VectorFilter(frozenset({1}), frozenset({2}), rows_by_space={1: 5})) is None
