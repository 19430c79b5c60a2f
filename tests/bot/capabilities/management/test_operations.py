"""Usage by day and health: of one's own workspace or space alone, and details for whoever runs the program."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from bot.access.control import AccessControl
from bot.capabilities.document_lookup import LOCAL_SPACE
from bot.capabilities.management import requests
from bot.capabilities.management.results import HealthReport, QuestionList, UsageReport, VerifiedList, WorkspaceChannels
from bot.context import EngineContext
from bot.errors import NotAllowed, NotConnected
from bot.monitoring.report import BotState
from bot.store import BotStore, Subject
from engine.errors import NotFound
from engine.models import Document, Passage
from engine.usage import IndexingUsage, Usage
from tests.bot.capabilities.conftest import last, run

OWNER, SHED, ADA = Subject(space=LOCAL_SPACE), Subject(space="shed"), Subject("slack", "T1", "ada")
STATE = BotState(("zircon fails.",), (), {"slack": 3.0, "discord": float("inf")}, 7, {"slack:T1": 2.0, "slack:T2": 9.0})


@dataclass
class Management:
    """A bot whose managers are given."""

    managers: set[Subject] = field(default_factory=lambda: {ADA})

    async def perform_management(self, request: Any) -> AsyncGenerator[Any]:
        await self.check_manager(request.subject)
        yield WorkspaceChannels(())

    async def check_manager(self, subject: Subject) -> None:
        if subject not in self.managers:
            raise NotAllowed("No.")

    async def get_state(self) -> BotState:
        return STATE


@pytest.fixture
def context(engine_context: EngineContext, store: BotStore) -> EngineContext:
    access = AccessControl(store, engine_context.clock)
    open_access = lambda: nullcontext(access)  # noqa: E731
    return replace(
        engine_context,
        open_access=open_access,
        management=Management(),
        owner_space=LOCAL_SPACE,
        models=(("answers", "m"),),
    )


async def get_health(context: EngineContext, subject: Subject) -> HealthReport:
    return last(await run(context, requests.GetHealth(subject)), HealthReport)


async def test_usage_is_that_of_the_own_workspace_for_each_day(context: EngineContext, store: BotStore) -> None:
    access, today = AccessControl(store, context.clock), context.clock.now().date()
    for subject, cost in ((ADA, 0.25), (Subject("slack", "T2", "eve"), 4.0), (SHED, 0.5)):
        await access.record_usage(subject, [Usage("answer", "m", 10, 5, cost), Usage("answer", "m", 1, 0, cost)])
    await store.usage.add("slack", "T1", (today - timedelta(days=40)).isoformat(), 1000, 9.0)
    for number, space in enumerate(("slack:T1:open", "slack:T2:open", "shed"), 1):
        await context.engine.add(Document(f"d{number}", space, f"{space}:1", "", (Passage("1", "The ferry leaves."),)))
        usage = IndexingUsage([Usage("extract", "m", number, 0, 0.25 * number)], {number: 1})
        await context.engine._ledger.cache.add_indexing_usage(today.isoformat(), usage)
    for subject, name, cost, indexing in ((ADA, "slack:T1", 0.5, (1, 0.25)), (SHED, "shed", 1.0, (3, 0.75))):
        report = last(await run(context, requests.GetUsage(3, subject)), UsageReport)
        days = [(each.day, each.tokens, each.cost) for each in report.days]
        empty = [(today - timedelta(days=back), 0, 0.0) for back in (2, 1)]
        assert (report.workspace, days) == (name, [*empty, (today, 16, cost)])
        assert (report.days[-1].indexing_tokens, report.days[-1].indexing_cost) == indexing


async def test_details_are_for_whoever_runs_the_program(context: EngineContext) -> None:
    whole = await get_health(context, OWNER)
    assert (whole.status, whole.reasons, whole.waiting_events) == ("failing", ("zircon fails.",), 7)
    assert [(each.name, each.silent_seconds) for each in whole.platforms] == [("discord", None), ("slack", 3.0)]
    assert whole.oldest_event_seconds == 9.0
    for subject, oldest in ((ADA, 2.0), (SHED, None)):
        part = await get_health(context, subject)
        assert (part.status, part.waiting_events, part.oldest_event_seconds) == ("failing", None, oldest)
        assert "zircon" not in str(part)
        assert "discord" not in str(part)


async def test_only_managers_learn_usage_and_health(context: EngineContext) -> None:
    eve = replace(ADA, person="eve")
    for request in (requests.GetUsage(3, eve), requests.GetHealth(eve), requests.ListChannels(eve)):
        with pytest.raises(NotAllowed):
            await run(context, request)
        with pytest.raises(NotConnected):
            await run(replace(context, management=None), request)


async def test_without_a_bot_the_engine_says_how_it_is(context: EngineContext) -> None:
    report = await get_health(replace(context, management=None), OWNER)
    assert (report.status, report.platforms, report.models) == ("ok", (), (("answers", "m"),))


async def test_a_space_of_the_terminal_has_no_channels(context: EngineContext) -> None:
    for request, nothing in (
        (requests.ListChannels(SHED), WorkspaceChannels(())),
        (requests.ListQuestions("", SHED), QuestionList(())),
        (requests.ListVerified("", SHED), VerifiedList(())),
    ):
        assert await run(context, request) == [nothing]
    with pytest.raises(NotFound):
        await run(context, requests.GetChannel("slack:T1:C1", SHED))
