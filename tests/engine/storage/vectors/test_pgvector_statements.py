"""Large spaces are searched by index, small ones exactly beside it, and many small ones by index together."""

from __future__ import annotations

import pytest

from engine.storage.vectors.base import VectorFilter
from engine.storage.vectors.pgvector_statements import SearchStep, plan_counted, plan_steps
from engine.storage.vectors.pgvector_tables import Leaf

ROWS = {0: 500_000, 1: 60_000, 2: 3_000, 3: 200, **dict.fromkeys(range(10, 60), 20_000)}
INDEXED = [Leaf("vectors_0", 600_000, is_indexed=True), Leaf("vectors_1", 900, is_indexed=False)]


def build_filter(*spaces: int) -> VectorFilter:
    return VectorFilter(frozenset(spaces), rows_by_space=ROWS)


@pytest.mark.parametrize(
    ("spaces", "steps"),
    [
        pytest.param([3], [([3], True)], id="a small space"),
        pytest.param([2, 3], [([2, 3], True)], id="small spaces"),
        pytest.param([0], [([0], False)], id="a large space"),
        pytest.param([0, 1], [([0, 1], False)], id="large spaces"),
        pytest.param([0, 2, 3], [([0], False), ([2, 3], True)], id="small ones beside a large one"),
        pytest.param([0, *range(10, 60)], [([0, *range(10, 60)], False)], id="very many beside a large one"),
        pytest.param([*range(10, 16)], [([*range(10, 16)], False)], id="too many rows in small ones"),
    ],
)
def test_steps_of_a_scope(spaces: list[int], steps: list[tuple[list[int], bool]]) -> None:
    expected = [SearchStep(build_filter(*own), exact) for own, exact in steps]
    assert plan_steps(build_filter(*spaces), INDEXED) == expected


def test_without_an_index_all_is_exact() -> None:
    leaves = [leaf._replace(is_indexed=False) for leaf in INDEXED]
    assert plan_steps(build_filter(0, 2), leaves) == [SearchStep(build_filter(0, 2), is_exact=True)]


def test_few_ids_are_exact_and_rows_of_rooms_are_counted() -> None:
    few = VectorFilter(frozenset({0}), rows_by_space=ROWS, ids=frozenset(range(50)))
    assert plan_steps(few, INDEXED) == [SearchStep(few, is_exact=True)]
    rooms = VectorFilter(frozenset({3}), frozenset({7}), rows_by_space=ROWS)
    assert plan_steps(rooms, INDEXED) is None
    assert plan_counted(rooms, INDEXED, 1_000).is_exact
    assert not plan_counted(rooms, INDEXED, 400_000).is_exact
