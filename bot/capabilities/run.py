"""Perform a request for a caller: the only way in, for every door."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from bot.capabilities.access.audit import describe_result, find_result_target, record_question, record_request
from bot.capabilities.access.hints import word_refusal, word_result
from bot.capabilities.access.reading import ONLY_AUDITORS, PROGRAM, TERMINAL, QuestionRecord, TokenReading, check_who
from bot.capabilities.asking.requests import SearchResult
from bot.capabilities.caller import at_terminal, for_space
from bot.capabilities.documents.lookup import LOCAL_SPACE
from bot.capabilities.requests import AtSpace, Authorized, WithoutLogin
from bot.capabilities.results import AnswerBegun, AnswerEnd, ContextResult, Internal
from bot.capabilities.row import Surface, Who
from bot.capabilities.table import find_row
from bot.errors import NotAllowed, NotPermitted
from engine import Scope
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.capabilities.requests import OperationRequest
    from bot.capabilities.results import HandlerResult, OperationResult
    from bot.capabilities.row import Capability
    from bot.store import Permission


log = structlog.get_logger(__name__)


async def run(deps: Deps, request: OperationRequest) -> AsyncGenerator[OperationResult]:
    """Perform a request that came with its caller; without one, the owner of the data asks. Raises EngineError."""
    match request:
        case Authorized(token, inner, door):
            results = _run_for_token(deps, token, inner, door)
        case WithoutLogin(space, inner, door):
            row = find_row(type(inner))
            _list_permissions(row)
            if row.who is Who.AUDITOR:
                raise NotAllowed(ONLY_AUDITORS)
            results = _run_counted(deps, for_space(space, door), inner)
        case AtSpace(space, inner, door):
            results = _run_counted(deps, await _find_owner(deps, space, door), inner)
        case _:
            is_typed = Surface.CLI in find_row(type(request)).surfaces
            results = _run_counted(deps, at_terminal(door="cli" if is_typed else "page"), request)
    async with aclosing(results):
        async for result in results:
            yield result


async def _find_owner(deps: Deps, space: str, door: str) -> Caller:
    """The owner of the data at a space of the terminal; from the local one, they also read what they imported."""
    caller = at_terminal(space, door)
    parts = await deps.parts.find() if space == LOCAL_SPACE else None
    if parts is None:
        return caller
    imported = await parts.store.imported_spaces.read_scope()
    return replace(caller, scope=Scope(caller.scope.spaces | imported.spaces, imported.rooms))


async def run_for_person(deps: Deps, caller: Caller, request: OperationRequest) -> AsyncGenerator[HandlerResult]:
    """Perform a request of a person whom a platform of this process knows. Raises EngineError."""
    row = find_row(type(request))
    await check_who((await deps.parts.open()).access, caller, row)
    async with aclosing(_handle(deps, caller, row, request)) as results:
        async for result in results:
            yield result if isinstance(result, Internal) else word_result(caller, result)


async def _handle(
    deps: Deps, caller: Caller, row: Capability, request: OperationRequest
) -> AsyncGenerator[HandlerResult]:
    """What a handler yields; the audit log says what it changed."""
    async with (
        record_request(deps, caller, row, request) as change,
        aclosing(row.load_handler()(deps, caller, request)) as results,
    ):
        async for result in results:
            if change is not None:
                change.observe(describe_result(caller, result), find_result_target(result))
            yield result


async def _run_counted(deps: Deps, caller: Caller, request: OperationRequest) -> AsyncGenerator[OperationResult]:
    """Perform a request of this machine; a question is counted, and the audit log says who asked it."""
    row = find_row(type(request))
    record = QuestionRecord(deps.metrics if row.is_question else None, deps.clock, TERMINAL)
    try:
        async with aclosing(_run_recorded(deps, caller, row, request, record)) as results:
            async for result in results:
                yield result
    finally:
        if row.leaves_entry:
            await record_question(deps, caller, row.name, record)


async def _run_recorded(
    deps: Deps, caller: Caller, row: Capability, request: OperationRequest, record: QuestionRecord
) -> AsyncGenerator[OperationResult]:
    """Perform a request of this machine, and count what comes of it."""
    with record.closing():
        try:
            async with aclosing(_handle(deps, caller, row, request)) as results:
                async for result in results:
                    if isinstance(result, AnswerBegun):
                        record.observe_answer(result.answer)
                    if isinstance(result, Internal):
                        continue
                    record.observe_result(result)
                    yield word_result(caller, result)
        finally:
            await _count_at_terminal(deps, caller, record)


async def _count_at_terminal(deps: Deps, caller: Caller, record: QuestionRecord) -> None:
    """Count an answer for a space of the terminal; it was given, whether it can be counted or not."""
    if not (record.is_answered and caller.subject.space):
        return
    try:
        await record.count_for((await deps.parts.open()).access, caller.subject)
    except EngineError as error:
        log.debug("usage.not_recorded", space=caller.subject.space, error=type(error).__name__)


async def _run_for_token(
    deps: Deps, text: str, request: OperationRequest, door: str
) -> AsyncGenerator[OperationResult]:
    """Perform a request of an access token within its scope. Raises NotAllowed, TooManyRequests, PlatformError.

    Raises AudienceChanged if the scope became smaller meanwhile; the results so far are then not to be used.
    """
    row = find_row(type(request))
    accepted, metrics = _list_permissions(row), deps.metrics if row.is_question else None
    record, reading = QuestionRecord(metrics, deps.clock, PROGRAM), None
    try:
        with record.closing():
            access = (await deps.parts.open()).access
            reading = TokenReading(access, text, await access.authorize(text, *accepted), deps.clock, door)
            async with aclosing(_run_for_subject(deps, row, request, reading, record)) as results:
                async for result in results:
                    yield result
    except EngineError as error:
        word_refusal(error, for_person=reading is not None and not reading.caller.subject.space)
        raise
    finally:
        if reading is not None and row.leaves_entry:
            await record_question(deps, reading.caller, row.name, record)


async def _run_for_subject(
    deps: Deps, row: Capability, request: OperationRequest, reading: TokenReading, record: QuestionRecord
) -> AsyncGenerator[OperationResult]:
    """Perform a request of a token that permits it; a question counts among those of its subject."""
    access, subject = (await deps.parts.open()).access, reading.caller.subject
    try:
        if row.is_question:
            await access.check_question(subject)
        async with aclosing(_run_within_scope(deps, row, request, reading, record)) as results:
            async for result in results:
                record.observe_result(result)
                yield result
    finally:
        await record.count_for(access, subject)


async def _run_within_scope(
    deps: Deps, row: Capability, request: OperationRequest, reading: TokenReading, record: QuestionRecord
) -> AsyncGenerator[OperationResult]:
    """Perform a request within what its caller may read now; the results are checked before they are yielded."""
    caller, gap = await reading.begin(row)
    async with aclosing(_handle(deps, caller, row, request)) as results:
        async for result in results:
            if isinstance(result, Internal):
                _observe(result, reading, record)
                continue
            await reading.check(result)
            shown = replace(result, gap=gap) if isinstance(result, AnswerEnd | ContextResult | SearchResult) else result
            yield word_result(caller, shown)


def _observe(result: Internal, reading: TokenReading, record: QuestionRecord) -> None:
    """Learn what an answer draws on, and what it takes."""
    if isinstance(result, AnswerBegun):
        reading.observe_answer(result.answer)
        record.observe_answer(result.answer)
    else:
        reading.observe_provenance(result.provenance)


def _list_permissions(row: Capability) -> tuple[Permission, ...]:
    """The permissions of which a token needs one; who manages may review, too. Raises NotPermitted."""
    if row.permission is None or row.who is Who.OWNER:
        raise NotPermitted("No access token permits this.")
    return (row.permission, "manage") if row.who is Who.REVIEWER else (row.permission,)
