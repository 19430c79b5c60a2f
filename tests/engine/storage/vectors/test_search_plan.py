from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.storage.vectors.base import Area
from engine.storage.vectors.search_plan import EXACT_ROWS, Plan, condition, plan, upper_bound


def test_few_rows_in_the_area_are_read_exactly() -> None:
    assert plan(EXACT_ROWS, 10**6, 20) == Plan(exact=True)


def test_a_thin_area_probes_more_of_the_index_than_a_dense_one() -> None:
    thin, dense = plan(10_000, 400_000, 20), plan(200_000, 400_000, 20)
    assert not thin.exact
    assert thin.probes == 100
    assert dense.probes == 25


@given(st.integers(EXACT_ROWS + 1, 10**6), st.integers(1, 2000))
def test_enough_candidates_are_compared_exactly_however_few_are_wanted(rows: int, k: int) -> None:
    assert plan(rows, 2 * rows, k).refine * k >= 240


def test_the_filter_says_spaces_or_rooms_and_ids() -> None:
    assert condition(Area(frozenset({2, 1}))) == "space IN (1,2)"
    assert condition(Area(frozenset(), frozenset({3}))) == "room IN (3)"
    area = Area(frozenset({1}), frozenset({3}), ids=frozenset({9}))
    assert condition(area) == "(space IN (1) OR room IN (3)) AND id IN (9)"


def test_an_area_that_can_hold_nothing_has_no_filter() -> None:
    assert condition(Area(frozenset())) is None
    assert condition(Area(frozenset({1}), ids=frozenset())) is None


def test_what_is_known_of_the_population_bounds_the_rows_of_the_area() -> None:
    area = Area(frozenset({1, 2}), population={1: 5, 2: 7, 3: 100})
    assert upper_bound(area) == 12
    assert upper_bound(Area(frozenset({1}), population={1: 5}, ids=frozenset({1, 2}))) == 2
    assert upper_bound(Area(frozenset({1}), ids=frozenset({1, 2, 3}))) == 3


def test_rooms_and_an_unknown_population_bound_nothing() -> None:
    assert upper_bound(Area(frozenset({1}))) is None
    assert upper_bound(Area(frozenset({1}), frozenset({2}), population={1: 5})) is None
