"""Summaries. The limits of the first tests are a call of 100 tokens, a join below 50 tokens and 8 fragments.

One character is one token there. What differs from upstream on purpose: groups end where the content says so (a row
whose hash is 0 modulo 8) and not only where a call is full, joins are separated by a line break, and not the whole
history of a key is described but its newest groups.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.describing import Describer, Limits, grouped, joined, needs_model, newest
from engine.errors import Unavailable
from engine.fold import Fragment, row_hash
from engine.ledger import work
from engine.projecting import RETRY_SUMMARY
from engine.records import Bill
from tests.fakes.engines import HERE, canonical, doc, light_engine
from tests.fakes.language import ToyLanguage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SMALL = Limits(call_tokens=100, join_tokens=50)
NO_CUT = 1  # a hash that ends no group


@dataclass(slots=True)
class Remembered:
    """Summaries in a dict."""

    known: dict[bytes, str] = field(default_factory=dict)

    async def recall_summary(self, key: bytes) -> str | None:
        return self.known.get(key)

    async def keep_summary(self, key: bytes, text: str) -> None:
        self.known[key] = text


class Numbered(ToyLanguage):
    """Says SUM1, SUM2, ... in order of being asked; `length` pads them."""

    length = 0

    async def summarise(self, name: str, fragments: Sequence[str], bill: Bill) -> str:
        await super().summarise(name, fragments, bill)
        return f"SUM{self.calls['summarise']}".ljust(self.length, ".")


def rows(*sizes: int) -> list[Fragment]:
    return [Fragment(at, NO_CUT, chr(ord("a") + at % 26) * size) for at, size in enumerate(sizes)]


async def described(*sizes: int) -> tuple[str, int]:
    """The description of fragments of these sizes, and the number of calls that it took."""
    language = Numbered()
    made = await Describer(language, Remembered(), len, SMALL).describe("Ada", rows(*sizes), Bill())
    assert made.complete
    return made.text, language.calls["summarise"]


async def test_k7_nothing_is_described_by_nothing() -> None:
    assert await described() == ("", 0)


async def test_k7_one_text_is_itself_however_long() -> None:
    assert await described(500) == ("a" * 500, 0)


@pytest.mark.parametrize("number", [2, 7])
async def test_k7_few_short_texts_are_joined_by_a_line_break_without_a_call(number: int) -> None:
    assert await described(*[1] * number) == ("\n".join("abcdefg"[:number]), 0)


async def test_k7_eight_short_texts_take_one_call() -> None:
    assert await described(*[1] * 8) == ("SUM1", 1)


async def test_k7_fifty_tokens_take_a_call_and_forty_nine_none() -> None:
    assert (await described(25, 25))[1] == 1
    assert (await described(25, 24))[1] == 0


async def test_k7_five_of_forty_tokens_take_two_calls_and_the_fifth_stands_as_it_is() -> None:
    assert await described(40, 40, 40, 40, 40) == ("SUM1\nSUM2\n" + "e" * 40, 2)


async def test_k7_two_texts_are_one_call_even_if_they_do_not_fit_into_it() -> None:
    assert (await described(80, 80))[1] == 1


async def test_texts_none_of_which_fits_with_another_are_taken_two_at_a_time_and_it_ends() -> None:
    text, calls = await described(90, 90, 90, 90, 90)
    assert calls == 3  # two of two; then both summaries with the fifth
    assert text == "SUM3"


async def test_what_is_larger_than_a_call_is_cut_by_content_where_upstream_fills_calls() -> None:
    language = Numbered()
    limits = Limits(call_tokens=50, join_tokens=40, group=4)
    many = [Fragment(at, 8 if at == 1 else NO_CUT, f"text {at}") for at in range(9)]
    await Describer(language, Remembered(), len, limits).describe("Ada", many, Bill())
    assert [len(each) for each in language.summarised[:2]] == [2, 4]


def test_groups_end_at_a_hash_at_their_greatest_length_and_where_a_call_is_full() -> None:
    limits = Limits(call_tokens=10, group=3)
    assert grouped([1, 8, 1, 1, 1, 1], [1] * 6, limits) == [range(2), range(2, 5), range(5, 6)]
    assert grouped([1, 1, 1], [6, 6, 6], limits) == [range(1), range(1, 2), range(2, 3)]
    assert grouped([], [], limits) == []


HASHES = st.lists(st.integers(0, 63), min_size=1, max_size=120)


@given(HASHES, st.integers(0, 63), st.data())
def test_groups_are_stable_under_insertion(hashes: list[int], value: int, data: st.DataObject) -> None:
    """From the first cut by content after the place of the insertion on, and before it, all groups are the same."""
    at = data.draw(st.integers(0, len(hashes)))
    marks = list(range(len(hashes)))

    def content(hashes: list[int], marks: list[int]) -> set[tuple[int, ...]]:
        return {tuple(marks[i] for i in group) for group in grouped(hashes, [1] * len(hashes), Limits())}

    before = content(hashes, marks)
    after = content([*hashes[:at], value, *hashes[at:]], [*marks[:at], -1, *marks[at:]])
    cut = next((i for i in range(at, len(hashes)) if hashes[i] % 8 == 0), len(hashes))
    start = max((i + 1 for i in range(at) if hashes[i] % 8 == 0), default=0)
    changed = {each for group in before ^ after for each in group} - {-1}
    assert changed <= set(range(start, cut + 1))


@given(HASHES, st.integers(0, 63))
def test_an_appended_row_changes_the_last_group_only(hashes: list[int], value: int) -> None:
    limits = Limits()
    before = grouped(hashes, [1] * len(hashes), limits)
    after = grouped([*hashes, value], [1] * (len(hashes) + 1), limits)
    assert after[: len(before) - 1] == before[:-1]


def said(at: int) -> Fragment:
    text = f"Ada did the thing number {at} on that day."
    return Fragment(at, row_hash(text), text)


@pytest.mark.parametrize("length", [0, 60, 600, 3000])
async def test_one_more_mention_of_a_name_with_two_thousand_costs_one_call_a_level_and_three_in_all(
    length: int,
) -> None:
    """`length`: tokens of each summary; from 500 on, the summaries of all groups do not fit into one call."""
    language, memo = Numbered(), Remembered()
    language.length = length
    describer = Describer(language, memo, len)
    fragments = [said(at) for at in range(2000)]
    await describer.describe("Ada", fragments, Bill())
    for at in range(2000, 2100):
        fragments.append(said(at))
        language.calls.clear()
        await describer.describe("Ada", fragments, Bill())
        assert language.calls["summarise"] <= 3, at


async def test_one_deleted_mention_costs_three_calls_at_most_on_average() -> None:
    language, memo = Numbered(), Remembered()
    language.length = 60
    describer = Describer(language, memo, len)
    fragments = [said(at) for at in range(2000)]
    await describer.describe("Ada", fragments, Bill())
    language.calls.clear()
    for at in range(1990, 1890, -5):
        del fragments[at]
        await describer.describe("Ada", fragments, Bill())
    assert language.calls["summarise"] <= 3 * 20


@given(st.integers(1, 700))
@settings(max_examples=40, deadline=None)
def test_the_newest_fragments_are_an_end_of_all_of_them(number: int) -> None:
    fragments = [said(at) for at in range(number)]
    kept = list(newest(fragments, Limits()))
    assert kept == fragments[len(fragments) - len(kept) :]
    assert len(kept) >= min(number, 24)


def test_whether_a_model_is_needed_is_told_without_counting_short_texts() -> None:
    def never(text: str) -> int:
        raise AssertionError(text)

    assert not needs_model(rows(10, 10), never, SMALL)
    assert needs_model(rows(*[1] * 8), never, SMALL)
    assert not needs_model(rows(500), never, SMALL)


def test_a_join_holds_the_newest_that_fit_in_their_order() -> None:
    assert joined(rows(20, 20, 20), len, SMALL) == "b" * 20 + "\n" + "c" * 20
    assert joined(rows(500), len, SMALL) == "a" * 500


async def test_a_failed_summary_becomes_a_join_and_says_so() -> None:
    language = ToyLanguage()
    language.failing["summarise", "b"] = Unavailable("no model")
    made = await Describer(language, Remembered(), len, SMALL).describe("Ada", rows(25, 25), Bill())
    assert (made.text, made.complete) == ("b" * 25, False)


async def test_the_summaries_that_were_made_before_one_failed_are_not_made_again() -> None:
    language, memo = Numbered(), Remembered()
    describer = Describer(language, memo, len, SMALL)
    language.failing["summarise", "c"] = Unavailable("no model")
    assert not (await describer.describe("Ada", rows(40, 40, 40, 40, 40), Bill())).complete
    language.failing.clear()
    language.calls.clear()
    assert (await describer.describe("Ada", rows(40, 40, 40, 40, 40), Bill())).complete
    assert language.calls["summarise"] == 1


async def test_the_same_fragments_are_summarised_once() -> None:
    language, memo = Numbered(), Remembered()
    describer = Describer(language, memo, len, SMALL)
    first = await describer.describe("Ada", rows(*[9] * 40), Bill())
    calls = language.calls["summarise"]
    assert await describer.describe("Ada", rows(*[9] * 40), Bill()) == first
    assert language.calls["summarise"] == calls
    assert first.memos <= set(memo.known)


def mentions(key: str, number: int, start: int = 0) -> list[str]:
    return [f"Ada did the thing number {at} of {key}." for at in range(start, start + number)]


async def test_through_the_engine_one_more_mention_costs_one_call_a_level_and_a_rebuild_none(tmp_path: Path) -> None:
    language = ToyLanguage()
    async with light_engine(tmp_path, language) as engine:
        await engine.add(doc("diary", *mentions("old", 300)))
        await engine.settled()
        language.summarised.clear()
        await engine.add(doc("note", *mentions("new", 1)))
        await engine.settled()
        assert Counter(map(len, language.summarised)).total() <= 3
        before = await canonical(engine)
        language.calls.clear()
        await engine.rebuild()
        assert language.calls == Counter()
        assert await canonical(engine) == before


async def test_a_failed_summary_is_tried_again_and_heals(tmp_path: Path) -> None:
    async with light_engine(tmp_path / "undisturbed") as engine:
        await engine.add(doc("diary", "\n".join(mentions("old", 12))))
        await engine.settled()
        undisturbed = await canonical(engine)
    language = ToyLanguage()
    language.failing["summarise", "thing"] = Unavailable("no model")
    async with light_engine(tmp_path / "failing", language) as engine:
        await engine.add(doc("diary", "\n".join(mentions("old", 12))))
        await engine.settled()
        ada = await engine.entity("Ada", HERE)
        assert ada is not None
        assert 1 < len(ada.description.splitlines()) < 12
        language.failing.clear()
        assert await engine._ledger.write(work.due_summaries, time.time()) == 0
        assert await engine._ledger.write(work.due_summaries, time.time() + RETRY_SUMMARY) == 1
        await engine.settled()
        assert await canonical(engine) == undisturbed
