from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from engine.storage.column_arrays import MAX_TABLE, is_member

NUMBERS = st.lists(st.one_of(st.integers(0, 9), st.sampled_from([-3, MAX_TABLE, MAX_TABLE + 1, 2**62])), max_size=12)


@given(NUMBERS, NUMBERS)
@example([MAX_TABLE], [MAX_TABLE, -1])
@example([5], [MAX_TABLE, -1, 2**62])
@example([], [1])
@example([-3, 5], [0])
@example([9], [2, -1])
def test_members_are_found_among_small_numbers_and_large_ones(numbers: list[int], members: list[int]) -> None:
    found = is_member(np.array(numbers, np.int64), members)
    assert found.tolist() == [number in members for number in numbers]
