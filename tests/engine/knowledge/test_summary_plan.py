"""One character is one token here; a call takes 100 tokens, and a join has less than 50."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.knowledge.merge import Fragment, description_hash
from engine.knowledge.summary_plan import group_fragments, join_newest, needs_model, select_newest
from engine.options import SummaryLimits

SMALL = SummaryLimits(call_tokens=100, join_tokens=50)
NO_CUT = 1  # a hash that ends no group


def rows(*sizes: int) -> list[Fragment]:
    return [Fragment(at, NO_CUT, chr(ord("a") + at % 26) * size) for at, size in enumerate(sizes)]


def said(at: int) -> Fragment:
    text = f"Ada did the thing number {at} on that day."
    return Fragment(at, description_hash(text), text)


def test_groups_end_at_a_hash_at_their_greatest_length_and_where_a_call_is_full() -> None:
    limits = SummaryLimits(call_tokens=10, group_size=3)
    assert group_fragments([1, 8, 1, 1, 1, 1], [1] * 6, limits) == [range(2), range(2, 5), range(5, 6)]
    assert group_fragments([1, 1, 1], [6, 6, 6], limits) == [range(1), range(1, 2), range(2, 3)]
    assert group_fragments([], [], limits) == []


HASHES = st.lists(st.integers(0, 63), min_size=1, max_size=120)


@given(HASHES, st.integers(0, 63), st.data())
def test_groups_are_stable_under_insertion(hashes: list[int], value: int, data: st.DataObject) -> None:
    """From the first cut by content after the place of the insertion on, and before it, all groups are the same."""
    at = data.draw(st.integers(0, len(hashes)))
    marks = list(range(len(hashes)))

    def content(hashes: list[int], marks: list[int]) -> set[tuple[int, ...]]:
        return {tuple(marks[i] for i in group) for group in group_fragments(hashes, [1] * len(hashes), SummaryLimits())}

    before = content(hashes, marks)
    after = content([*hashes[:at], value, *hashes[at:]], [*marks[:at], -1, *marks[at:]])
    cut = next((i for i in range(at, len(hashes)) if hashes[i] % 8 == 0), len(hashes))
    start = max((i + 1 for i in range(at) if hashes[i] % 8 == 0), default=0)
    changed = {each for group in before ^ after for each in group} - {-1}
    assert changed <= set(range(start, cut + 1))


@given(HASHES, st.integers(0, 63))
def test_an_appended_row_changes_the_last_group_only(hashes: list[int], value: int) -> None:
    limits = SummaryLimits()
    before = group_fragments(hashes, [1] * len(hashes), limits)
    after = group_fragments([*hashes, value], [1] * (len(hashes) + 1), limits)
    assert after[: len(before) - 1] == before[:-1]


@given(st.integers(1, 700))
@settings(max_examples=40, deadline=None)
def test_the_newest_fragments_are_an_end_of_all_of_them(number: int) -> None:
    fragments = [said(at) for at in range(number)]
    kept = list(select_newest(fragments, SummaryLimits()))
    assert kept == fragments[len(fragments) - len(kept) :]
    assert len(kept) >= min(number, 24)


def test_whether_a_model_is_needed_is_told_without_counting_short_texts() -> None:
    def never(text: str) -> int:
        raise AssertionError(text)

    assert not needs_model(["a" * 10, "b" * 10], never, SMALL)
    assert needs_model(["a"] * 8, never, SMALL)
    assert not needs_model(["a" * 500], never, SMALL)


def test_a_join_holds_the_newest_that_fit_in_their_order() -> None:
    assert join_newest(rows(20, 20, 20), len, SMALL) == "b" * 20 + "\n" + "c" * 20
    assert join_newest(rows(500), len, SMALL) == "a" * 500
