"""List statements that disagree, and decide about two of them; nothing is computed where that is off."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from bot.answers.contradictions import words
from bot.answers.contradictions.finding import describe_known, find_in_scope, key_of
from bot.capabilities.access.control import locate_subject
from bot.capabilities.results import Completed, Listing
from bot.i18n import gettext
from bot.store.schedules.contradictions import Decision
from bot.text.format import format_utc
from engine.errors import InvalidQuestion, NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.caller import Caller
    from bot.capabilities.contradictions.requests import (
        DismissContradiction,
        ListContradictions,
        SettleContradiction,
    )
    from bot.capabilities.deps import Deps
    from bot.capabilities.results import OperationResult
    from engine.llm.offline.contradictions.finding import Contradiction, DisputedStatement

COLUMNS = (
    *("id", "question", "older value", "newer value"),
    *("older", "older by", "older said", "older link", "newer", "newer by", "newer said", "newer link"),
)


async def contradictions(deps: Deps, caller: Caller, _request: ListContradictions) -> AsyncGenerator[Listing]:
    """Yield what disagrees within what the caller can read and nobody decided. Raises InvalidQuestion."""
    found = await find_open(deps, caller)
    yield Listing(COLUMNS, tuple(_describe(id_, each) for id_, each in found.items()))


async def settle(deps: Deps, caller: Caller, request: SettleContradiction) -> AsyncGenerator[OperationResult]:
    """Record which of two statements that disagree is right. Raises NotFound, NotAllowed and InvalidQuestion."""
    if caller.kind == "person":
        async for result in _manage(deps, caller, request):
            yield result
        return
    found = await _get_open(deps, caller, request.id)
    right, wrong = (found.older, found.newer) if request.right == words.OLDER else (found.newer, found.older)
    await _decide(deps, caller, found, Decision("settled", "", key_of(wrong.source), right.source.room))
    yield Completed(gettext(words.SETTLED_HERE).format(text=right.text))


async def dismiss(deps: Deps, caller: Caller, request: DismissContradiction) -> AsyncGenerator[OperationResult]:
    """Keep that two statements do not disagree. Raises NotFound, NotAllowed and InvalidQuestion."""
    if caller.kind == "person":
        async for result in _manage(deps, caller, request):
            yield result
        return
    await _decide(deps, caller, await _get_open(deps, caller, request.id), Decision("dismissed"))
    yield Completed(gettext(words.DISMISSED))


async def find_open(deps: Deps, caller: Caller) -> dict[str, Contradiction]:
    """What disagrees within the caller's scope and nobody decided, the newest first. Raises InvalidQuestion."""
    if not deps.context.finds_contradictions:
        raise InvalidQuestion(gettext(words.OFF), hint=gettext(words.OFF_HINT))
    found = await find_in_scope(deps.engine, caller.scope, deps.clock.now())
    parts = await deps.parts.find() if found else None
    decided = await parts.store.contradictions.list_decided(found) if parts is not None else set[str]()
    return {id_: each for id_, each in found.items() if id_ not in decided}


async def _get_open(deps: Deps, caller: Caller, id_: str) -> Contradiction:
    found = (await find_open(deps, caller)).get(id_)
    if found is None:
        raise NotFound(gettext(words.UNKNOWN))
    return found


async def _decide(deps: Deps, caller: Caller, found: Contradiction, decision: Decision) -> None:
    parts, now = await deps.parts.open(), deps.clock.now()
    known = describe_known(found, locate_subject(caller.subject))
    if not await parts.store.contradictions.decide(known, decision, now):
        raise NotFound(gettext(words.DECIDED))


async def _manage(
    deps: Deps, caller: Caller, request: SettleContradiction | DismissContradiction
) -> AsyncGenerator[OperationResult]:
    """What the bot of the caller's workspace does."""
    management = (await deps.parts.open()).require_management(caller.subject.platform)
    async with aclosing(management.perform_management(caller.subject, request)) as results:
        async for result in results:
            yield result


def _describe(id_: str, found: Contradiction) -> tuple[str, ...]:
    values = found.newer.question, found.older.value, found.newer.value
    return (id_, *values, *_list_claim(found.older), *_list_claim(found.newer))


def _list_claim(claim: DisputedStatement) -> tuple[str, ...]:
    source = claim.source
    return claim.text, source.author, format_utc(source.time) if source.time else "", source.link
