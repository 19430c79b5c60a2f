from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.storage.graph.kuzu_queries import WeightGroup, find_cutoff_bucket, find_cutoff_group

GROUPS = [WeightGroup(1.0, 10, 0, 99), WeightGroup(3.0, 2, 5, 6), WeightGroup(2.0, 4, 7, 20)]


@pytest.mark.parametrize(("limit", "group", "missing"), [(1, 1, 1), (3, 2, 1), (7, 0, 1), (99, 0, 99)])
def test_the_weight_at_which_the_limit_is_reached_is_found(limit: int, group: int, missing: int) -> None:
    assert find_cutoff_group(GROUPS, limit) == (GROUPS[group], missing)
    assert find_cutoff_group([], limit) is None


@given(st.dictionaries(st.integers(0, 50), st.integers(1, 9), min_size=1), st.integers(1, 100))
def test_the_buckets_up_to_the_one_found_hold_the_limit_and_no_fewer_do(counts: dict[int, int], limit: int) -> None:
    found = find_cutoff_bucket(list(counts.items()), limit)
    held = sum(count for number, count in counts.items() if number <= found)
    assert held >= min(limit, sum(counts.values()))
    assert held - counts[found] < limit
