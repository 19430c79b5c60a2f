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

from engine.errors import ModelUnavailable
from engine.knowledge.merge import Fragment, description_hash
from engine.options import SummaryLimits
from engine.projection.profiles import SUMMARY_RETRY_SECONDS
from engine.projection.summaries import Summarizer, Summary, SummaryRequest
from engine.storage.ledger.work import work_queue
from engine.usage import UsageMeter
from tests.support.engine_fixture import HERE, canonical_export, doc, open_memory_engine, sqlite_ledger
from tests.support.toy_language import ToyLanguage

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from engine.models import SummaryInput

SMALL = SummaryLimits(call_tokens=100, join_tokens=50)
NO_CUT = 1  # a hash that ends no group


@dataclass(slots=True)
class Remembered:
    """Summaries in a dict."""

    known: dict[bytes, str] = field(default_factory=dict)

    async def load_summaries(self, keys: Collection[bytes]) -> dict[bytes, str]:
        return {key: self.known[key] for key in keys if key in self.known}

    async def save_summaries(self, made: Mapping[bytes, str]) -> None:
        self.known |= made


class Numbered(ToyLanguage):
    """Says SUM1, SUM2, ... in order of being asked; `length` pads them."""

    length = 0

    def _summary(self, wanted: SummaryInput) -> str:
        super()._summary(wanted)
        return f"SUM{self.calls['summarise']}".ljust(self.length, ".")


async def ada(describer: Summarizer, fragments: Sequence[Fragment]) -> Summary:
    """The description of one name."""
    [made] = await describer.summarize([SummaryRequest(1, "Ada", fragments)], UsageMeter())
    return made


def rows(*sizes: int) -> list[Fragment]:
    return [Fragment(at, NO_CUT, chr(ord("a") + at % 26) * size) for at, size in enumerate(sizes)]


async def described(*sizes: int) -> tuple[str, int]:
    """The description of fragments of these sizes, and the number of calls that it took."""
    language = Numbered()
    made = await ada(Summarizer(language, Remembered(), len, SMALL), rows(*sizes))
    assert made.is_complete
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
    limits = SummaryLimits(call_tokens=50, join_tokens=40, group_size=4)
    many = [Fragment(at, 8 if at == 1 else NO_CUT, f"text {at}") for at in range(9)]
    await ada(Summarizer(language, Remembered(), len, limits), many)
    assert [len(each) for each in language.summarised[:2]] == [2, 4]


def said(at: int) -> Fragment:
    text = f"Ada did the thing number {at} on that day."
    return Fragment(at, description_hash(text), text)


@pytest.mark.parametrize("length", [0, 60, 600, 3000])
async def test_one_more_mention_of_a_name_with_two_thousand_costs_one_call_a_level_and_three_in_all(
    length: int,
) -> None:
    """`length`: tokens of each summary; from 500 on, the summaries of all groups do not fit into one call."""
    language, memo = Numbered(), Remembered()
    language.length = length
    describer = Summarizer(language, memo, len)
    fragments = [said(at) for at in range(2000)]
    await ada(describer, fragments)
    for at in range(2000, 2100):
        fragments.append(said(at))
        language.calls.clear()
        await ada(describer, fragments)
        assert language.calls["summarise"] <= 3, at


async def test_one_deleted_mention_costs_three_calls_at_most_on_average() -> None:
    language, memo = Numbered(), Remembered()
    language.length = 60
    describer = Summarizer(language, memo, len)
    fragments = [said(at) for at in range(2000)]
    await ada(describer, fragments)
    language.calls.clear()
    for at in range(1990, 1890, -5):
        del fragments[at]
        await ada(describer, fragments)
    assert language.calls["summarise"] <= 3 * 20


async def test_a_failed_summary_becomes_a_join_and_says_so() -> None:
    language = ToyLanguage()
    language.failing["summarise", "b"] = ModelUnavailable("no model")
    made = await ada(Summarizer(language, Remembered(), len, SMALL), rows(25, 25))
    assert (made.text, made.is_complete) == ("b" * 25, False)


async def test_the_summaries_that_were_made_before_one_failed_are_not_made_again() -> None:
    language, memo = Numbered(), Remembered()
    describer = Summarizer(language, memo, len, SMALL)
    language.failing["summarise", "c"] = ModelUnavailable("no model")
    assert not (await ada(describer, rows(40, 40, 40, 40, 40))).is_complete
    language.failing.clear()
    language.calls.clear()
    assert (await ada(describer, rows(40, 40, 40, 40, 40))).is_complete
    assert language.calls["summarise"] == 1


async def test_the_same_fragments_are_summarised_once() -> None:
    language, memo = Numbered(), Remembered()
    describer = Summarizer(language, memo, len, SMALL)
    first = await ada(describer, rows(*[9] * 40))
    calls = language.calls["summarise"]
    assert await ada(describer, rows(*[9] * 40)) == first
    assert language.calls["summarise"] == calls
    assert first.cache_keys <= set(memo.known)


class Sharing(Numbered):
    """Notes the names of each call."""

    def __init__(self) -> None:
        super().__init__()
        self.shared: list[list[str]] = []

    async def summarize(self, wanted: Sequence[SummaryInput], bill: UsageMeter) -> list[str | None]:
        self.shared.append([each.name for each in wanted])
        return await super().summarize(wanted, bill)


def subject(name: str, space: int = 1, letters: int = 1) -> SummaryRequest:
    return SummaryRequest(space, name, [Fragment(at, NO_CUT, name[0] * letters) for at in range(8)])


async def test_names_of_one_space_share_calls_and_names_of_two_spaces_never() -> None:
    language = Sharing()
    limits = SummaryLimits(keys_per_call=3)
    names = [subject(name, space) for name, space in zip("ABCDEFG", (1, 2, 1, 1, 1, 2, 3), strict=True)]
    made = await Summarizer(language, Remembered(), len, limits).summarize(names, UsageMeter())
    assert language.shared == [["A", "C", "D"], ["E"], ["B", "F"], ["G"]]
    assert [each.text for each in made] == ["SUM1", "SUM5", "SUM2", "SUM3", "SUM4", "SUM6", "SUM7"]


async def test_a_shared_call_holds_no_more_letters_than_it_may_and_one_name_at_least() -> None:
    language = Sharing()
    limits = SummaryLimits(characters_per_call=100)
    names = [subject(name, letters=letters) for name, letters in (("A", 6), ("B", 6), ("C", 6), ("D", 90), ("E", 1))]
    await Summarizer(language, Remembered(), len, limits).summarize(names, UsageMeter())
    assert language.shared == [["A", "B"], ["C"], ["D"], ["E"]]


async def test_one_name_that_fails_leaves_the_others_of_its_call() -> None:
    language, memo = Sharing(), Remembered()
    language.failing["summarise", "B"] = ModelUnavailable("no model")
    made = await Summarizer(language, memo, len).summarize([subject("A"), subject("B"), subject("C")], UsageMeter())
    assert [(each.text, each.is_complete) for each in made] == [
        ("SUM1", True),
        ("\n".join("B" * 7), False),
        ("SUM3", True),
    ]
    assert len(memo.known) == 2


async def test_the_same_texts_in_two_spaces_are_two_summaries() -> None:
    """A model that is shown other names beside them may mix things up; that must stay within the space."""
    language, memo = Sharing(), Remembered()
    await Summarizer(language, memo, len).summarize([subject("A", 1), subject("A", 2)], UsageMeter())
    assert language.shared == [["A"], ["A"]]
    assert len(memo.known) == 2


def mentions(key: str, number: int, start: int = 0) -> list[str]:
    return [f"Ada did the thing number {at} of {key}." for at in range(start, start + number)]


async def test_through_the_engine_one_more_mention_costs_one_call_a_level_and_a_rebuild_none(tmp_path: Path) -> None:
    language = ToyLanguage()
    async with open_memory_engine(tmp_path, language) as engine:
        await engine.add(doc("diary", *mentions("old", 300)))
        await engine.wait_until_indexed()
        language.summarised.clear()
        await engine.add(doc("note", *mentions("new", 1)))
        await engine.wait_until_indexed()
        assert Counter(map(len, language.summarised)).total() <= 3
        before = await canonical_export(engine)
        language.calls.clear()
        await engine.rebuild()
        assert language.calls == Counter()
        assert await canonical_export(engine) == before


async def test_a_failed_summary_is_tried_again_and_heals(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path / "undisturbed") as engine:
        await engine.add(doc("diary", "\n".join(mentions("old", 12))))
        await engine.wait_until_indexed()
        undisturbed = await canonical_export(engine)
    language = ToyLanguage()
    language.failing["summarise", "thing"] = ModelUnavailable("no model")
    async with open_memory_engine(tmp_path / "failing", language) as engine:
        await engine.add(doc("diary", "\n".join(mentions("old", 12))))
        await engine.wait_until_indexed()
        ada = await engine.get_entity("Ada", HERE)
        assert ada is not None
        assert 1 < len(ada.description.splitlines()) < 12
        language.failing.clear()
        assert await sqlite_ledger(engine._ledger).write(work_queue.requeue_due_summaries, time.time()) == 0
        assert (
            await sqlite_ledger(engine._ledger).write(
                work_queue.requeue_due_summaries, time.time() + SUMMARY_RETRY_SECONDS
            )
            == 1
        )
        await engine.wait_until_indexed()
        assert await canonical_export(engine) == undisturbed
