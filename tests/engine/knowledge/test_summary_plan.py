"""One character is one token here; a call takes 100 tokens, and a join has less than 50."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.knowledge.merge import Fragment, description_hash, group_fragments, join_newest, needs_model, select_newest
from engine.options import SummaryLimits

SMALL = SummaryLimits(call_tokens=100, join_tokens=50)
HASHES = st.lists(st.integers(0, 63), min_size=1, max_size=120)


@pytest.mark.parametrize(
    ("hashes", "tokens", "groups"),
    [
        ([1, 8, 1, 1, 1, 1], [1] * 6, [(0, 2), (2, 5), (5, 6)]),
        ([1] * 3, [6] * 3, [(0, 1), (1, 2), (2, 3)]),
        ([], [], []),
    ],
    ids=["at a hash and at their greatest length", "where a call is full", "nothing"],
)
def test_groups_end(hashes: list[int], tokens: list[int], groups: list[tuple[int, int]]) -> None:
    limits = SummaryLimits(call_tokens=10, group_size=3)
    assert group_fragments(hashes, tokens, limits) == [range(*group) for group in groups]


def grouped(hashes: list[int], marks: list[int]) -> list[tuple[int, ...]]:
    """The groups, as the marks of their rows."""
    return [tuple(marks[at] for at in group) for group in group_fragments(hashes, [1] * len(hashes), SummaryLimits())]


@given(HASHES, st.integers(0, 63), st.data())
def test_an_inserted_row_changes_the_groups_between_two_cuts(
    hashes: list[int], value: int, data: st.DataObject
) -> None:
    at, marks = data.draw(st.integers(0, len(hashes))), list(range(len(hashes)))
    before = grouped(hashes, marks)
    after = grouped([*hashes[:at], value, *hashes[at:]], [*marks[:at], -1, *marks[at:]])
    cut = next((n for n in range(at, len(hashes)) if hashes[n] % 8 == 0), len(hashes))
    start = max((n + 1 for n in range(at) if hashes[n] % 8 == 0), default=0)
    changed = {mark for group in set(before) ^ set(after) for mark in group} - {-1}
    assert changed <= set(range(start, cut + 1))
    assert grouped([*hashes, value], [*marks, -1])[: len(before) - 1] == before[:-1]


@given(st.integers(1, 700))
@settings(max_examples=40)
def test_the_newest_fragments_are_an_end_of_all_of_them(number: int) -> None:
    texts = [f"Ada did the thing number {at} on that day." for at in range(number)]
    fragments = [Fragment(at, description_hash(text), text) for at, text in enumerate(texts)]
    kept = list(select_newest(fragments, SummaryLimits()))
    assert kept == fragments[len(fragments) - len(kept) :]
    assert len(kept) >= min(number, 24)


@pytest.mark.parametrize(("texts", "needed"), [(["a" * 10, "b" * 10], False), (["a"] * 8, True), (["a" * 500], False)])
def test_whether_a_model_is_needed_is_known_without_counting_short_texts(texts: list[str], *, needed: bool) -> None:
    def fail(text: str) -> int:
        raise AssertionError(text)

    assert needs_model(texts, fail, SMALL) is needed


@pytest.mark.parametrize(("texts", "kept"), [(["a" * 20, "b" * 20, "c" * 20], 2), (["a" * 500], 1)])
def test_a_join_holds_the_newest_that_fit_in_their_order(texts: list[str], kept: int) -> None:
    fragments = [Fragment(at, 1, text) for at, text in enumerate(texts)]
    assert join_newest(fragments, len, SMALL) == "\n".join(texts[-kept:])
