"""Operations for managers: those about a workspace are done by its bot, the others here."""

from __future__ import annotations

import math
from contextlib import aclosing
from dataclasses import replace
from datetime import date, timedelta
from importlib.metadata import version
from typing import TYPE_CHECKING

from bot import texts
from bot.capabilities.answers.lookup import find_own_answer
from bot.capabilities.management.checked_models import list_checked_models
from bot.capabilities.management.requests import GetAnswerActions, ListChannels, ListQuestions, ListVerified
from bot.capabilities.management.results import (
    AnswerActions,
    DayUsage,
    HealthReport,
    PlatformState,
    UsageReport,
    VerifiedList,
    WorkspaceChannels,
)
from bot.capabilities.management.space_questions import list_space_questions
from bot.i18n import gettext
from bot.monitoring.report import BotState, HealthState
from engine.errors import NotFound
from engine.llm.e5.spoken import describe_languages, load_spoken

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.capabilities.management.requests import GetHealth, GetUsage, ManagementRequest
    from bot.capabilities.results import OperationResult
    from bot.store import Subject
    from engine.storage.ledger.records import IndexingDay

MAX_DAYS = 366
NO_CHANNELS = "A space of the terminal has no channels."


async def manage(deps: Deps, caller: Caller, request: ManagementRequest) -> AsyncGenerator[OperationResult]:
    """Yield the result of a request about a workspace."""
    if caller.subject.space:
        yield await _describe_no_workspace(deps, caller, request)
        return
    management = (await deps.parts.open()).require_management(caller.subject.platform)
    async with aclosing(management.perform_management(caller.subject, request)) as results:
        async for result in results:
            yield result


async def _describe_no_workspace(deps: Deps, caller: Caller, request: ManagementRequest) -> OperationResult:
    """The result for a space of the terminal. Raises NotFound."""
    match request:
        case GetAnswerActions(answer):
            await find_own_answer((await deps.parts.open()).store, caller.subject, answer)
            return AnswerActions()
        case ListChannels():
            return WorkspaceChannels(())
        case ListQuestions():
            return await list_space_questions((await deps.parts.open()).store, caller.subject, deps.clock.now())
        case ListVerified():
            return VerifiedList(())
    raise NotFound(NO_CHANNELS, hint="Use the token of a person who manages a workspace.")


async def get_usage(deps: Deps, caller: Caller, request: GetUsage) -> AsyncGenerator[OperationResult]:
    """Yield the usage of a workspace or a space."""
    days = min(max(request.days, 1), MAX_DAYS)
    today = deps.clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
    since = today - timedelta(days=days - 1)
    rows = await (await deps.parts.open()).access.list_usage(caller.subject, since)
    found = {
        row.day: DayUsage(date.fromisoformat(row.day), row.answers, row.tokens, row.cost, row.votes_up, row.votes_down)
        for row in rows
    }
    indexing = {day.day: day for day in await _list_indexing(deps, caller.subject, since.date())}
    every = [(since + timedelta(days=number)).date() for number in range(days)]
    shown = (_add_indexing(found.get(day.isoformat(), DayUsage(day)), indexing.get(day.isoformat())) for day in every)
    yield UsageReport(caller.subject.space or _name_workspace(caller.subject), tuple(shown))


async def _list_indexing(deps: Deps, subject: Subject, since: date) -> list[IndexingDay]:
    """What indexing took of all spaces of a person's workspace, or of a space of the terminal."""
    if subject.space:
        return await deps.engine.maintenance.list_indexing_usage(since, space=subject.space)
    return await deps.engine.maintenance.list_indexing_usage(since, prefix=f"{_name_workspace(subject)}:")


def _add_indexing(day: DayUsage, indexing: IndexingDay | None) -> DayUsage:
    return replace(day, indexing_tokens=indexing.tokens, indexing_cost=indexing.cost) if indexing else day


def _name_workspace(subject: Subject) -> str:
    return f"{subject.platform}:{subject.workspace}"


async def get_health(deps: Deps, caller: Caller, _request: GetHealth) -> AsyncGenerator[OperationResult]:
    """Yield the state of the program, as far as it concerns the subject."""
    parts = await deps.parts.find()
    if parts is not None and parts.management is not None:
        state = await parts.management.get_state()
    else:
        state = BotState(limitations=await deps.engine.maintenance.list_problems())
    is_owner = caller.subject.space != "" and caller.subject.space == deps.context.owner_space
    found = _find_health(state) if deps.health is None else await deps.health.describe()
    report = _build_report(found, state, caller.subject, deps.context.models, is_owner=is_owner)
    data_dir = deps.engine.data_dir.path
    languages = describe_languages(deps.engine.languages, load_spoken(data_dir))
    yield replace(report, checks=list_checked_models(data_dir), languages=languages) if is_owner else report


def _find_health(state: BotState) -> HealthState:
    """The health of a process without probes."""
    status = "failing" if state.problems else "degraded" if state.limitations else "ok"
    return HealthState(status, (*state.problems, *state.limitations))


def _build_report(
    found: HealthState, state: BotState, subject: Subject, models: tuple[tuple[str, str], ...], *, is_owner: bool
) -> HealthReport:
    """The report for the owner of the data, or what of it concerns the manager of one workspace."""
    own = [] if subject.space else [subject.platform]
    shown = sorted(state.silent_seconds if is_owner else own)
    platforms = tuple(PlatformState(name, _to_known(state.silent_seconds.get(name, math.inf))) for name in shown)
    reasons = list(found.reasons)
    if reasons and not is_owner:  # they may name what is in other workspaces
        reasons = [gettext(texts.BACKGROUND_FAILING)]
    ages = state.queue_ages
    oldest = max(ages.values(), default=None) if is_owner else ages.get(f"{subject.platform}:{subject.workspace}")
    depth = state.queue_depth if is_owner else None
    return HealthReport(found.status, tuple(reasons), version("threadlore"), platforms, models, depth, oldest)


def _to_known(seconds: float) -> float | None:
    return None if math.isinf(seconds) else seconds
