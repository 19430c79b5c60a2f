"""Which rows are nearest: few of many, also if similarities are rounded."""

from __future__ import annotations

import numpy as np
import pytest

from engine.storage.vector_columns import MARGIN_STEPS, MAX_INTEGER, ExactColumns, RoundedColumns
from engine.storage.vectors.in_memory.nearest import NearRows, list_new


@pytest.mark.parametrize("seed", range(5))
def test_new_places_are_those_that_are_not_known(seed: int) -> None:
    chance = np.random.default_rng(seed)
    known = np.unique(chance.integers(0, 50, 10 * seed))
    places = [chance.integers(0, 50, size) for size in (0, 7, 7 * seed)]
    assert list_new(places, known).tolist() == sorted(set(np.concatenate(places).tolist()) - set(known.tolist()))


def test_rows_that_are_as_near_within_the_margin_are_kept() -> None:
    near = NearRows(np.arange(5), np.array([0.5, 0.9, 0.79, 0.8, 0.7]))
    assert near.drop_far(2, 0.0).places.tolist() == [1, 3]
    assert near.drop_far(2, 0.02).places.tolist() == [1, 2, 3]
    assert sorted(near.select_nearest(2).places.tolist()) == [1, 3]
    for count in (5, 9):
        assert near.drop_far(count, 0.0) == near.select_nearest(count) == near


@pytest.mark.parametrize("largest", [0.2, 0.9])  # of the query's numbers; of a row's it is 0.5
def test_the_margin_is_that_of_the_coarsest_rounding(largest: float) -> None:
    query, row = (
        np.array([each, np.sqrt(1 - each**2) / 24**0.5], np.float32)[[0] + [1] * 24] for each in (largest, 0.5)
    )
    columns, exact = RoundedColumns(25, is_refined=True), ExactColumns(25)
    steps = {name: columns.encode(np.stack([row, query * 0]))[name] for name in columns.steps}
    expected = MARGIN_STEPS * max(largest, 0.5) / float(MAX_INTEGER)
    assert columns.find_margin(steps, query) == pytest.approx(expected, rel=0.02)
    assert (exact.steps, exact.find_margin({}, query)) == ((), 0.0)
