"""What a workspace may have read by a model in a day and a month, and what happens when it is used up."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from engine.models import Excerpt, Extraction, Question, Scope
from engine.options import EngineOptions
from engine.scheduling.indexing_budget import NO_PRICE, IndexingBudget, WorkspaceUsage, find_spent, next_period
from engine.usage import IndexingLimits, Purpose, RulesExtract, SpaceUsage, Usage, UsageMeter
from tests.support.clock import ManualClock, ShiftedClock
from tests.support.engine_fixture import HERE, doc, open_memory_engine, statuses, thread, wait_until
from tests.support.toy_language import ToyLanguage

TODAY = date(2026, 1, 31)
DAY = 86_400


def workspace_of(space: str) -> str:
    return space.partition("/")[0]


class MeteredLanguage(ToyLanguage):
    """Each call takes 600 tokens and costs ten cents."""

    def _record_call(self, purpose: Purpose, meter: UsageMeter, *texts: str) -> None:
        super()._record_call(purpose, meter, *texts)
        meter.record(Usage(purpose, self.name, input_tokens=500, output_tokens=100, cost=0.1))


def limited(**limits: float | str) -> EngineOptions:
    made = IndexingLimits(**limits, find_workspace=workspace_of)  # type: ignore[arg-type]
    return EngineOptions(indexing_limits=made, extraction_concurrency=1)


@pytest.mark.parametrize(
    ("limits", "used", "found"),
    [
        (IndexingLimits(), WorkspaceUsage(10**9, 1e6, 10**9, 1e6), None),
        (IndexingLimits(day_tokens=100), WorkspaceUsage(day_tokens=99), None),
        (IndexingLimits(day_tokens=100), WorkspaceUsage(day_tokens=100), ("day", "100 tokens", date(2026, 2, 1))),
        (IndexingLimits(day_dollars=0.5), WorkspaceUsage(day_cost=0.6), ("day", "$0.50", date(2026, 2, 1))),
        (
            IndexingLimits(day_tokens=1, month_tokens=2000),
            WorkspaceUsage(day_tokens=5, month_tokens=2000),
            ("month", "2,000 tokens", date(2026, 2, 1)),
        ),
        (IndexingLimits(month_dollars=3), WorkspaceUsage(month_cost=3), ("month", "$3.00", date(2026, 2, 1))),
    ],
)
def test_a_budget_is_used_up_at_its_limit(limits: IndexingLimits, used: WorkspaceUsage, found: object) -> None:
    spent = find_spent(limits, "chat:one", used, TODAY)
    assert (spent and (spent.period, spent.limit, spent.resumes)) == found


def test_the_next_month_begins_on_its_first_day() -> None:
    assert next_period("month", date(2026, 12, 31)) == date(2027, 1, 1)
    assert next_period("month", TODAY) == date(2026, 2, 1)


async def test_calls_that_run_count_before_their_usage_is_known() -> None:
    async def load(day: str, month: str) -> list[SpaceUsage]:
        assert (day, month) == ("2026-03-05", "2026-03-01")
        return [SpaceUsage(1, "chat:one/open", 0, 0, 500, 0.5), SpaceUsage(2, "chat:one/ada", 0, 0, 400, 0.4)]

    clock = ManualClock(datetime(2026, 3, 5, 12, tzinfo=UTC))
    budget = IndexingBudget(IndexingLimits(month_dollars=1, find_workspace=workspace_of), clock, load)
    assert not budget.reserve(1, 60), "nothing is known of the space yet"
    await budget.refresh()
    assert [budget.reserve(1, 60), budget.reserve(2, 60), budget.reserve(1, 60)] == [True, True, False]
    budget.release(2, 60)
    assert budget.reserve(1, 60)
    assert not budget.paused.spaces


async def test_a_budget_in_dollars_needs_a_price() -> None:
    async def load(_day: str, _month: str) -> list[SpaceUsage]:
        return [SpaceUsage(1, "chat:one/open", 10, 0, 500, 0)]

    clock = ManualClock()
    budget = IndexingBudget(IndexingLimits(month_dollars=1), clock, load)
    await budget.refresh()
    assert budget.list_problems() == [NO_PRICE]
    both = IndexingBudget(IndexingLimits(month_dollars=1, day_tokens=1000), clock, load)
    await both.refresh()
    assert not both.list_problems()


async def test_a_spent_workspace_waits_and_others_go_on(tmp_path: Path) -> None:
    clock = ShiftedClock(datetime(2026, 3, 5, 12, tzinfo=UTC))
    language = MeteredLanguage()
    scope = Scope(frozenset({"here", "there"}), frozenset())
    async with open_memory_engine(tmp_path, language, options=limited(day_tokens=1000), clock=clock) as engine:
        for number in range(4):
            await engine.documents.add(doc(f"d{number}", f"Ada met Bob {number} times. " * 3))
            await engine.wait_until_indexed()
        assert (await statuses(engine)) == {"d0": "indexed", "d1": "indexed", "d2": "searchable", "d3": "searchable"}
        await engine.documents.add(doc("other", "Carl met Dora.", space="there"))
        await engine.wait_until_indexed()
        assert (await engine.documents.get_status("other", scope)).status == "indexed"
        [problem] = await engine.maintenance.list_problems()
        assert problem.startswith("The indexing budget of here for this day is used up (1,000 tokens).")
        assert "2026-03-06" in problem
        status = await engine.maintenance.get_status(HERE)
        assert (status.spent_budget, status.failed) == (problem, 0)
        there = await engine.maintenance.get_status(Scope(frozenset({"there"}), frozenset()))
        assert not there.spent_budget
        found = await engine.retrieve(replace(Question("Bob 3 times", HERE), mode="naive"))
        assert any("3 times" in source.text for source in found.sources)


async def test_the_next_day_goes_on_by_itself(tmp_path: Path) -> None:
    clock = ShiftedClock(datetime(2026, 3, 5, 12, tzinfo=UTC))
    async with open_memory_engine(tmp_path, MeteredLanguage(), options=limited(day_tokens=600), clock=clock) as engine:
        for number in range(2):
            await engine.documents.add(doc(f"d{number}", f"Ada met Bob {number} times."))
            await engine.wait_until_indexed()
        assert (await statuses(engine))["d1"] == "searchable"
        clock.advance(DAY)

        async def is_indexed() -> bool:
            return (await statuses(engine))["d1"] == "indexed"

        await wait_until(is_indexed)
        [problem] = await engine.maintenance.list_problems()
        assert "2026-03-07" in problem, "the budget of the next day was used up by the text that waited"


async def test_a_raised_budget_goes_on_after_a_start(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, MeteredLanguage(), options=limited(month_dollars=0.05)) as engine:
        for number in range(2):
            await engine.documents.add(doc(f"d{number}", f"Ada met Bob {number} times."))
            await engine.wait_until_indexed()
        assert (await statuses(engine))["d1"] == "searchable"
        assert "this month is used up ($0.05)" in (await engine.maintenance.list_problems())[0]
    async with open_memory_engine(tmp_path, MeteredLanguage(), options=limited(month_dollars=5)) as engine:
        await engine.wait_until_indexed()
        assert set((await statuses(engine)).values()) == {"indexed"}
        assert not await engine.maintenance.list_problems()


async def test_descriptions_are_joined_until_the_budget_allows_summaries(tmp_path: Path) -> None:
    facts = [f"Ada likes {name}." for name in ("Bern", "Rome", "Oslo", "Kiel", "Cork", "Lima", "Pisa", "Bonn", "Graz")]
    language = MeteredLanguage()
    async with open_memory_engine(tmp_path, language, options=limited(day_tokens=600)) as engine:
        await engine.documents.add(doc("d", " ".join(facts)))
        await engine.wait_until_indexed()
        assert language.calls["extract"] == 1
        assert language.calls["summarize"] == 0
        assert (await statuses(engine)) == {"d": "indexed"}
        problems = await engine.maintenance.list_problems()
        assert "Descriptions that wait for the indexing budget to be summarized: 1." in problems


class PartlyRuled(MeteredLanguage):
    """Rules read conversations, and cost nothing."""

    async def extract(self, excerpt: Excerpt, meter: UsageMeter) -> Extraction:
        return await super().extract(excerpt, UsageMeter() if excerpt.is_conversation else meter)


async def test_what_rules_read_does_not_wait_for_the_budget(tmp_path: Path) -> None:
    options = limited(rules_extract="conversations", day_tokens=600)
    async with open_memory_engine(tmp_path, PartlyRuled(), options=options) as engine:
        for number in range(2):
            await engine.documents.add(doc(f"d{number}", f"Ada met Bob {number} times."))
            await engine.documents.add(thread(f"t{number}", f"Carl met Eve {number} times.", is_open=False))
            await engine.wait_until_indexed()
        assert (await statuses(engine)) == {"d0": "indexed", "d1": "searchable", "t0": "indexed", "t1": "indexed"}


@pytest.mark.parametrize(
    ("rules", "kinds"), [("nothing", ("file", "conversation")), ("conversations", ("file",)), ("everything", ())]
)
def test_a_budget_counts_what_a_model_reads(rules: RulesExtract, kinds: tuple[str, ...]) -> None:
    limits = IndexingLimits(rules_extract=rules)
    assert tuple(name for name in ("file", "conversation") if limits.counts(name)) == kinds
