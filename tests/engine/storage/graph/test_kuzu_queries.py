from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.storage.graph.kuzu_queries import WeightGroup, find_cutoff_bucket, find_cutoff_group

GROUPS = [WeightGroup(1.0, 10, 0, 99), WeightGroup(3.0, 2, 5, 6), WeightGroup(2.0, 4, 7, 20)]


def test_the_weight_in_which_the_wanted_number_is_reached_is_found_with_what_is_missing() -> None:
    assert find_cutoff_group(GROUPS, 1) == (GROUPS[1], 1)
    assert find_cutoff_group(GROUPS, 3) == (GROUPS[2], 1)
    assert find_cutoff_group(GROUPS, 7) == (GROUPS[0], 1)


def test_if_all_are_fewer_than_wanted_all_of_the_lightest_are_taken() -> None:
    assert find_cutoff_group(GROUPS, 99) == (GROUPS[0], 99)
    assert find_cutoff_group([], 5) is None


@given(st.dictionaries(st.integers(0, 50), st.integers(1, 9), min_size=1), st.integers(1, 100))
def test_the_buckets_up_to_the_one_found_hold_the_wanted_and_no_fewer_do(counts: dict[int, int], wanted: int) -> None:
    found = find_cutoff_bucket(list(counts.items()), wanted)
    held = sum(count for number, count in counts.items() if number <= found)
    assert held >= min(wanted, sum(counts.values()))
    assert held - counts[found] < wanted
