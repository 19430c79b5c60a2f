from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.storage.graph.kuzu_queries import Ties, bucket_reaching, lightest

GROUPS = [Ties(1.0, 10, 0, 99), Ties(3.0, 2, 5, 6), Ties(2.0, 4, 7, 20)]


def test_the_weight_in_which_the_wanted_number_is_reached_is_found_with_what_is_missing() -> None:
    assert lightest(GROUPS, 1) == (GROUPS[1], 1)
    assert lightest(GROUPS, 3) == (GROUPS[2], 1)
    assert lightest(GROUPS, 7) == (GROUPS[0], 1)


def test_if_all_are_fewer_than_wanted_all_of_the_lightest_are_taken() -> None:
    assert lightest(GROUPS, 99) == (GROUPS[0], 99)
    assert lightest([], 5) is None


@given(st.dictionaries(st.integers(0, 50), st.integers(1, 9), min_size=1), st.integers(1, 100))
def test_the_buckets_up_to_the_one_found_hold_the_wanted_and_no_fewer_do(counts: dict[int, int], wanted: int) -> None:
    found = bucket_reaching(list(counts.items()), wanted)
    held = sum(count for number, count in counts.items() if number <= found)
    assert held >= min(wanted, sum(counts.values()))
    assert held - counts[found] < wanted
