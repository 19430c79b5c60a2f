"""Usage by day and health: of one's own workspace or space alone, and details for whoever runs the program."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal

import pytest

from bot.capabilities.caller import Caller
from bot.capabilities.deps import Deps, RunningParts
from bot.capabilities.documents.lookup import LOCAL_SPACE
from bot.capabilities.management import requests
from bot.capabilities.management.results import HealthReport, QuestionList, UsageReport, VerifiedList, WorkspaceChannels
from bot.capabilities.requests import OperationRequest
from bot.capabilities.results import Internal, OperationResult
from bot.capabilities.table import find_row
from bot.context import EngineContext
from bot.errors import NotConnected
from bot.monitoring.health import ServerHealth
from bot.monitoring.metrics import FAILED, Metrics
from bot.monitoring.report import BotState
from bot.store import Subject
from engine.errors import NotFound
from engine.models import Document, Passage
from engine.usage import IndexingUsage, Usage
from tests.bot.capabilities.conftest import NoParts

OWNER, SHED, ADA = Subject(space=LOCAL_SPACE), Subject(space="shed"), Subject("slack", "T1", "ada")
STATE = BotState(("zircon fails.",), (), {"slack": 3.0, "discord": float("inf")}, 7, {"slack:T1": 2.0, "slack:T2": 9.0})


class Management:
    """A bot in a given state."""

    async def perform_management(self, subject: Subject, request: Any) -> AsyncGenerator[Any]:
        assert (subject, request) == (ADA, requests.ListChannels())
        yield WorkspaceChannels(())

    async def get_state(self) -> BotState:
        return STATE


@pytest.fixture
async def deps(deps: Deps) -> Deps:
    """The services of a running bot."""
    parts = replace(await deps.parts.open(), management=Management())
    context = replace(deps.context, owner_space=LOCAL_SPACE, models=(("answers", "m"),))
    return Deps(context, RunningParts(parts))


async def ask(deps: Deps, subject: Subject, request: OperationRequest) -> OperationResult:
    kind: Literal["space", "person"] = "space" if subject.space else "person"
    [result] = [each async for each in find_row(type(request)).load_handler()(deps, Caller(kind, subject), request)]
    assert not isinstance(result, Internal)
    return result


async def get_health(deps: Deps, subject: Subject) -> HealthReport:
    report = await ask(deps, subject, requests.GetHealth())
    assert isinstance(report, HealthReport)
    return report


async def test_usage_is_that_of_the_own_workspace_for_each_day(deps: Deps) -> None:
    parts, today = await deps.parts.open(), deps.clock.now().date()
    store, access = parts.store, parts.access
    for subject, cost in ((ADA, 0.25), (Subject("slack", "T2", "eve"), 4.0), (SHED, 0.5)):
        await access.record_usage(subject, [Usage("answer", "m", 10, 5, cost), Usage("answer", "m", 1, 0, cost)])
    await store.usage.add(("slack", "T1"), (today - timedelta(days=40)).isoformat(), 1000, 9.0)
    for number, space in enumerate(("slack:T1:open", "slack:T2:open", "shed"), 1):
        await deps.engine.documents.add(
            Document(f"d{number}", space, f"{space}:1", "", (Passage("1", "The ferry leaves."),))
        )
        usage = IndexingUsage([Usage("extract", "m", number, 0, 0.25 * number)], {number: 1})
        await deps.engine._ledger.cache.add_indexing_usage(today.isoformat(), usage)
    for subject, name, cost, indexing in ((ADA, "slack:T1", 0.5, (1, 0.25)), (SHED, "shed", 1.0, (3, 0.75))):
        report = await ask(deps, subject, requests.GetUsage(3))
        assert isinstance(report, UsageReport)
        days = [(day.day, day.tokens, day.cost) for day in report.days]
        empty = [(today - timedelta(days=back), 0, 0.0) for back in (2, 1)]
        assert (report.workspace, days) == (name, [*empty, (today, 16, cost)])
        assert (report.days[-1].indexing_tokens, report.days[-1].indexing_cost) == indexing


async def test_details_are_for_whoever_runs_the_program(deps: Deps) -> None:
    whole = await get_health(deps, OWNER)
    assert (whole.status, whole.reasons, whole.waiting_events) == ("failing", ("zircon fails.",), 7)
    assert [(platform.name, platform.silent_seconds) for platform in whole.platforms] == [
        ("discord", None),
        ("slack", 3.0),
    ]
    assert whole.oldest_event_seconds == 9.0
    for subject, oldest in ((ADA, 2.0), (SHED, None)):
        part = await get_health(deps, subject)
        assert (part.status, part.waiting_events, part.oldest_event_seconds) == ("failing", None, oldest)
        assert "zircon" not in str(part)
        assert "discord" not in str(part)


async def test_health_says_what_the_probes_say(deps: Deps) -> None:
    metrics = Metrics(deps.clock)
    health = ServerHealth(metrics)
    health.become_ready(lambda: ["zircon fails."])
    metrics.record_question("slack", FAILED)
    report = await get_health(replace(deps, health=health), OWNER)
    assert (report.status, report.reasons) == ("failing", (await health.describe()).reasons)
    assert "1 of the last 1 questions failed" in report.reasons[1]
    assert report.waiting_events == 7


async def test_what_a_workspace_is_asked_for_is_asked_of_its_bot(deps: Deps, engine_context: EngineContext) -> None:
    assert await ask(deps, ADA, requests.ListChannels()) == WorkspaceChannels(())
    parts = replace(await deps.parts.open(), management=None)
    with pytest.raises(NotConnected):
        await ask(Deps(engine_context, RunningParts(parts)), ADA, requests.ListChannels())


async def test_without_a_bot_the_engine_says_how_it_is(deps: Deps) -> None:
    report = await get_health(Deps(deps.context, NoParts()), OWNER)
    assert (report.status, report.platforms, report.models) == ("ok", (), (("answers", "m"),))


async def test_a_space_of_the_terminal_has_no_channels(deps: Deps) -> None:
    for request, nothing in (
        (requests.ListChannels(), WorkspaceChannels(())),
        (requests.ListQuestions(), QuestionList(())),
        (requests.ListVerified(), VerifiedList(())),
    ):
        assert await ask(deps, SHED, request) == nothing
    with pytest.raises(NotFound):
        await ask(deps, SHED, requests.GetChannel("slack:T1:C1"))


async def test_only_the_owner_sees_which_languages_are_spoken(deps: Deps) -> None:
    assert (await get_health(deps, OWNER)).languages.startswith("None is set: the embedder knows English only.")
    assert [(await get_health(deps, subject)).languages for subject in (ADA, SHED)] == ["", ""]
