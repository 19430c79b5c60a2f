"""Summaries. `SMALL` limits a call to 100 tokens, a join to less than 50 and a group to 8 fragments.

One character is one token. What differs from upstream on purpose: groups end where the content says so (a row whose
hash is 0 modulo 8) and not only where a call is full, joins are separated by a line break, and not the whole history of
a key is described but its newest groups.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from engine.errors import InvalidReply, ModelPaused, ModelRefused, ModelTimeout, ModelUnavailable, RateLimited
from engine.knowledge.merge import Fragment, description_hash
from engine.models import SummaryInput
from engine.options import EngineOptions, SummaryLimits
from engine.projection.summaries import Summarizer, Summary, SummaryRequest
from engine.scheduling.feature_breaker import FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS, SummaryFailures
from engine.storage.ledger.records import KeyKind
from engine.usage import UsageMeter
from tests.support.clock import ManualClock
from tests.support.engine_fixture import (
    HERE,
    add_indexed,
    canonical_export,
    doc,
    open_memory_engine,
)
from tests.support.toy_language import ToyLanguage

SMALL = SummaryLimits(call_tokens=100, join_tokens=50)
NO_CUT = 1  # a hash that ends no group


@dataclass(slots=True)
class SummaryMemory:
    """Summaries in a dict."""

    known: dict[bytes, str] = field(default_factory=dict)

    async def load_summaries(self, keys: Collection[bytes]) -> dict[bytes, str]:
        return {key: self.known[key] for key in keys if key in self.known}

    async def save_summaries(self, made: Mapping[bytes, str]) -> None:
        self.known |= made


class NumberingLanguage(ToyLanguage):
    """Answers SUM1, SUM2, ... padded to `length`; `shared` are the names of each call."""

    length = 0

    def __init__(self) -> None:
        super().__init__()
        self.shared: list[list[str]] = []

    async def summarize(self, wanted: Sequence[SummaryInput], bill: UsageMeter) -> list[str | None]:
        self.shared.append([summary_input.name for summary_input in wanted])
        return await super().summarize(wanted, bill)

    def _summary(self, wanted: SummaryInput) -> str:
        super()._summary(wanted)
        return f"SUM{self.calls['summarize']}".ljust(self.length, ".")


@pytest.fixture
def language() -> NumberingLanguage:
    return NumberingLanguage()


@pytest.fixture
def memory() -> SummaryMemory:
    return SummaryMemory()


async def summarize_ada(summarizer: Summarizer, fragments: Sequence[Fragment]) -> Summary:
    [made] = await summarizer.summarize([SummaryRequest(1, "Ada", fragments)], UsageMeter())
    return made


def rows(*sizes: int) -> list[Fragment]:
    return [Fragment(at, NO_CUT, chr(ord("a") + at % 26) * size) for at, size in enumerate(sizes)]


@pytest.mark.parametrize(
    ("sizes", "text", "calls"),
    [
        pytest.param([], "", 0, id="nothing"),
        pytest.param([500], "a" * 500, 0, id="one text, however long"),
        pytest.param([1, 1], "a\nb", 0, id="two short texts are joined"),
        pytest.param([1] * 7, "\n".join("abcdefg"), 0, id="seven short texts are joined"),
        pytest.param([1] * 8, "SUM1", 1, id="eight take a call"),
        pytest.param([25, 25], "SUM1", 1, id="fifty tokens take a call"),
        pytest.param([25, 24], "a" * 25 + "\n" + "b" * 24, 0, id="forty-nine tokens none"),
        pytest.param([40] * 5, "SUM1\nSUM2\n" + "e" * 40, 2, id="the fifth stays as it is"),
        pytest.param([80, 80], "SUM1", 1, id="two texts are one call even if they do not fit"),
        pytest.param([90] * 5, "SUM3", 3, id="two at a time, then both summaries with the fifth"),
    ],
)
async def test_k7_fragments_become_a_text(
    language: NumberingLanguage, memory: SummaryMemory, sizes: list[int], text: str, calls: int
) -> None:
    made = await summarize_ada(Summarizer(language, memory, len, SMALL), rows(*sizes))
    assert (made.text, language.calls["summarize"], made.is_complete) == (text, calls, True)


async def test_what_is_larger_than_a_call_is_cut_by_content_where_upstream_fills_calls(
    language: NumberingLanguage, memory: SummaryMemory
) -> None:
    limits = SummaryLimits(call_tokens=50, join_tokens=40, group_size=4)
    fragments = [Fragment(at, 8 if at == 1 else NO_CUT, f"text {at}") for at in range(9)]
    await summarize_ada(Summarizer(language, memory, len, limits), fragments)
    assert [len(row) for row in language.summarized[:2]] == [2, 4]


def fragment(at: int) -> Fragment:
    text = f"Ada did the thing number {at} on that day."
    return Fragment(at, description_hash(text), text)


@pytest.mark.parametrize("length", [0, 60, 600, 3000])
async def test_a_new_or_a_deleted_mention_of_a_hot_name_costs_three_calls(
    language: NumberingLanguage, memory: SummaryMemory, length: int
) -> None:
    """`length`: tokens of each summary; from 500 on, the summaries of all groups do not fit into one call."""
    language.length = length
    summarizer, fragments = Summarizer(language, memory, len), [fragment(at) for at in range(2000)]
    await summarize_ada(summarizer, fragments)
    for at in range(2000, 2050):
        fragments.append(fragment(at))
        language.calls.clear()
        await summarize_ada(summarizer, fragments)
        assert language.calls["summarize"] <= 3, at
    language.calls.clear()
    for at in range(1990, 1890, -5):
        del fragments[at]
        await summarize_ada(summarizer, fragments)
    assert length != 60 or language.calls["summarize"] <= 3 * 20


async def test_a_failed_summary_becomes_a_join_and_others_are_kept(
    language: NumberingLanguage, memory: SummaryMemory
) -> None:
    summarizer = Summarizer(language, memory, len, SMALL)
    language.failing["summarize", "b"] = ModelUnavailable("no model")
    made = await summarize_ada(summarizer, rows(25, 25))
    assert (made.text, made.is_complete) == ("b" * 25, False)
    language.failing = {("summarize", "c"): ModelUnavailable("no model")}
    assert not (await summarize_ada(summarizer, rows(40, 40, 40, 40, 40))).is_complete
    language.failing.clear()
    language.calls.clear()
    whole = await summarize_ada(summarizer, rows(40, 40, 40, 40, 40))
    assert whole.is_complete
    assert await summarize_ada(summarizer, rows(40, 40, 40, 40, 40)) == whole
    assert language.calls["summarize"] == 1
    assert whole.cache_keys <= set(memory.known)


def request(name: str, space: int = 1, letters: int = 1) -> SummaryRequest:
    return SummaryRequest(space, name, [Fragment(at, NO_CUT, name[0] * letters) for at in range(8)])


SPACES = [request(name, space) for name, space in zip("ABCDEFG", (1, 2, 1, 1, 1, 2, 3), strict=True)]
LONG = [request(name, letters=letters) for name, letters in zip("ABCDE", (6, 6, 6, 90, 1), strict=True)]


@pytest.mark.parametrize(
    ("limits", "requests", "calls", "order"),
    [
        (SummaryLimits(keys_per_call=3), SPACES, [["A", "C", "D"], ["E"], ["B", "F"], ["G"]], [1, 5, 2, 3, 4, 6, 7]),
        (SummaryLimits(characters_per_call=100), LONG, [["A", "B"], ["C"], ["D"], ["E"]], [1, 2, 3, 4, 5]),
        (SummaryLimits(), [request("A", 1), request("A", 2)], [["A"], ["A"]], [1, 2]),
    ],
    ids=["never of two spaces", "no more letters than a call may hold, one name at least", "the same texts"],
)
async def test_names_of_one_space_share_calls(
    language: NumberingLanguage,
    memory: SummaryMemory,
    limits: SummaryLimits,
    requests: list[SummaryRequest],
    calls: list[list[str]],
    order: list[int],
) -> None:
    """A model that is shown other names beside them may mix things up; that must stay within the space."""
    made = await Summarizer(language, memory, len, limits).summarize(requests, UsageMeter())
    assert language.shared == calls
    assert [each.text for each in made] == [f"SUM{number}" for number in order]
    assert len(memory.known) == len(requests)


async def test_one_name_that_fails_leaves_the_others_alone(language: NumberingLanguage, memory: SummaryMemory) -> None:
    language.failing["summarize", "B"] = ModelUnavailable("no model")
    made = await Summarizer(language, memory, len).summarize([request(name) for name in "ABC"], UsageMeter())
    assert [(each.text, each.is_complete) for each in made] == [
        ("SUM1", True),
        ("\n".join("B" * 7), False),
        ("SUM3", True),
    ]
    assert len(memory.known) == 2


async def test_a_new_mention_costs_few_calls_a_reindex_none_and_another_answer_model_none(tmp_path: Path) -> None:
    language, options = ToyLanguage(), EngineOptions(summary_cooldown=0.0)
    async with open_memory_engine(tmp_path, language, options=options) as engine:
        await add_indexed(engine, "\n".join(fragment(at).text for at in range(300)))
        language.summarized.clear()
        await engine.documents.add(doc("note", fragment(300).text))
        await engine.wait_until_indexed()
        assert len(language.summarized) <= 3
        before = await canonical_export(engine)
        language.calls.clear()
        await engine.maintenance.reindex()
        assert not language.calls
        assert await canonical_export(engine) == before
    for name, summary_model, calls in (("two", "toy", False), ("two", "two", True)):
        other = OtherModel(name, summary_model)
        async with open_memory_engine(tmp_path, other, options=options) as engine:
            await engine.maintenance.reindex()
            assert (other.calls["summarize"] > 0) is calls


class OtherModel(ToyLanguage):
    """Answers with one model and summarizes with another."""

    def __init__(self, name: str, summary_model: str) -> None:
        super().__init__(name)
        self._summary_model = summary_model

    @property
    def summary_model(self) -> str:
        return self._summary_model


async def test_a_failed_summary_is_tried_again_and_heals(tmp_path: Path) -> None:
    diary = "\n".join(fragment(at).text for at in range(12))
    async with open_memory_engine(tmp_path / "undisturbed") as engine:
        await add_indexed(engine, diary)
        undisturbed = await canonical_export(engine)
    language = ToyLanguage()
    language.failing["summarize", "thing"] = ModelUnavailable("no model")
    clock = ManualClock()
    async with open_memory_engine(tmp_path / "failing", language, clock=clock) as engine:
        await add_indexed(engine, diary)
        ada = await engine.graph.get_entity("Ada", HERE)
        assert ada is not None
        assert 1 < len(ada.description.splitlines()) < 12
        language.failing.clear()
        await engine._projector.end_cooldown()
        await engine.wait_until_indexed()
        assert await engine.graph.get_entity("Ada", HERE) == ada
        clock.advance(FIRST_RETRY_SECONDS)
        await engine._projector.end_cooldown()
        await engine.wait_until_indexed()
        assert await canonical_export(engine) == undisturbed


async def test_a_summary_that_always_fails_is_tried_ever_more_rarely_and_named(tmp_path: Path) -> None:
    diary = "\n".join(fragment(at).text for at in range(12))
    language, clock, calls = ToyLanguage(), ManualClock(), list[int]()
    language.failing["summarize", "thing"] = ModelRefused("The parrot does not say that.")
    async with open_memory_engine(tmp_path, language, clock=clock) as engine:
        await add_indexed(engine, diary)
        for _ in range(12 * 6):
            clock.advance(FIRST_RETRY_SECONDS)
            await engine._projector.end_cooldown()
            await engine.wait_until_indexed()
            calls.append(language.calls["summarize"])
        assert len(set(calls)) == 6  # tries after 1, 3, 7, 15, 31 and 63 times ten minutes
        [problem] = await engine.maintenance.list_problems()
        assert problem == "Summaries that failed and are tried again later: 1. The parrot does not say that."
        language.failing.clear()
        clock.advance(MAX_RETRY_SECONDS)
        await engine._projector.end_cooldown()
        await engine.wait_until_indexed()
        assert await engine.maintenance.list_problems() == []


def test_an_outage_does_not_make_the_wait_longer_but_a_text_does() -> None:
    failures, ada = SummaryFailures(), (KeyKind.NAME, 1)
    outage = (ModelUnavailable("gone"), RateLimited("later"), ModelPaused("not sent"))
    assert {failures.record(ada, each) for each in outage} == {FIRST_RETRY_SECONDS}
    own = (None, InvalidReply("?"), ModelTimeout("slow"), ModelRefused("no"))
    assert [failures.record(ada, each) for each in own] == [600.0, 1200.0, 2400.0, 4800.0]
    assert failures.record((KeyKind.PAIR, 1), None) == FIRST_RETRY_SECONDS
    failures.clear(ada)
    assert failures.record(ada, None) == FIRST_RETRY_SECONDS
