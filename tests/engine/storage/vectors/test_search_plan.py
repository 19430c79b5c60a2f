from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.storage.vectors.base import VectorFilter
from engine.storage.vectors.search_plan import (
    EXACT_ROWS,
    SearchPlan,
    build_filter,
    excludes_rows,
    max_matching_rows,
    plan_search,
)


def test_few_rows_are_searched_exactly_and_a_sparse_area_probes_more_of_the_index() -> None:
    assert plan_search(EXACT_ROWS, 10**6, 20) == SearchPlan(exact=True)
    sparse, dense = plan_search(10_000, 400_000, 20), plan_search(200_000, 400_000, 20)
    assert (sparse.exact, sparse.probes, dense.probes) == (False, 100, 25)


@given(st.integers(EXACT_ROWS + 1, 10**6), st.integers(1, 2000))
def test_enough_candidates_are_compared_exactly_however_few_are_wanted(rows: int, k: int) -> None:
    compared = plan_search(rows, 2 * rows, k).refine * k
    assert max(240, 5 * k) <= compared < max(240 + k, 5 * k + 1)


ONE = frozenset({1})


@pytest.mark.parametrize(
    ("area", "condition"),
    [
        (VectorFilter(frozenset({2, 1})), "space IN (1,2)"),
        (VectorFilter(frozenset(), frozenset({3})), "room IN (3)"),
        (VectorFilter(ONE, frozenset({3}), ids=frozenset({9})), "(space IN (1) OR room IN (3)) AND id IN (9)"),
        (VectorFilter(frozenset()), None),
        (VectorFilter(ONE, ids=frozenset()), None),
    ],
)
def test_the_filter_names_spaces_or_rooms_and_ids(area: VectorFilter, condition: str | None) -> None:
    assert build_filter(area) == condition


@pytest.mark.parametrize(
    ("area", "rows"),
    [
        (VectorFilter(frozenset({1, 2}), rows_by_space={1: 5, 2: 7, 3: 100}), 12),
        (VectorFilter(ONE, rows_by_space={1: 5}, ids=frozenset({1, 2})), 2),
        (VectorFilter(ONE, ids=frozenset({1, 2, 3})), 3),
        (VectorFilter(ONE), None),
        (VectorFilter(ONE, frozenset({2}), rows_by_space={1: 5}), None),
    ],
)
def test_the_rows_of_an_area_are_bounded_by_what_is_known_of_it(area: VectorFilter, rows: int | None) -> None:
    assert max_matching_rows(area) == rows


@pytest.mark.parametrize(
    ("area", "excludes"),
    [
        (VectorFilter(frozenset({1, 2, 3}), rows_by_space={1: 5, 2: 7}), False),
        (VectorFilter(frozenset({1}), rows_by_space={1: 5, 2: 7}), True),
        (VectorFilter(frozenset({1})), True),
        (VectorFilter(frozenset({1}), rows_by_space={1: 5}, ids=frozenset({1})), True),
        (VectorFilter(frozenset(), frozenset({2}), rows_by_space={1: 5}), True),
    ],
)
def test_a_filter_of_all_spaces_with_rows_excludes_nothing(area: VectorFilter, *, excludes: bool) -> None:
    assert excludes_rows(area) == excludes
