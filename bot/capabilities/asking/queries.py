"""Operations that read: the answer to a question, a verified one first, its context or prompt; status and documents."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from bot.answers.review.lookup import VerifiedLookup, provenance_of
from bot.capabilities.answers.keeping import keep_answer
from bot.capabilities.answers.renewals import count_renewals
from bot.capabilities.asking.asker import (
    build_filter_lookup,
    find_name,
    find_zone,
    list_channel_names,
    require_named_rooms,
    resolve_all,
    resolve_rooms,
)
from bot.capabilities.asking.calls import is_call, reply_to_call, without_calls
from bot.capabilities.documents.listing import select_documents, wants_unread
from bot.capabilities.documents.lookup import NO_DOCUMENTS_HINT, resolve_documents
from bot.capabilities.documents.unread import count_unread, list_unread
from bot.capabilities.graph.queries import build_not_found
from bot.capabilities.ingest.progress import format_remaining
from bot.capabilities.results import (
    AnswerBegun,
    AnswerDelta,
    AnswerEnd,
    ContextResult,
    DrawsOn,
    EntityResult,
    FilterNames,
    ProgressUpdate,
    PromptResult,
    StatusResult,
)
from bot.monitoring.report import HealthState
from bot.platform.models import Location
from bot.text.search_filters import (
    FILTERED_OVERVIEW,
    asked_at,
    limit_as_of,
    narrow_question,
    parse_search_filters,
    require_names,
)
from engine import Answer, Filters, Question, Source
from engine.errors import InvalidQuestion, NotFound
from engine.scheduling.supervisor import child_task
from engine.text.overviews import apply_overview_request, by_author, channel_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from datetime import datetime

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.capabilities.requests import (
        Ask,
        AskOutput,
        CheckHealth,
        GetEntity,
        GetStatus,
        ListDocuments,
        ListFilterNames,
        RetrievalOptions,
    )
    from bot.capabilities.results import HandlerResult, OperationResult
    from bot.permissions.provenance import Provenance
    from bot.store import AnswerSource, BotStore, VerifiedAnswer
    from bot.text.search_filters import SearchFilters
    from engine import Context, Engine, Scope


SEARCHING = "the search takes longer than usual."
SLOW_START_SECONDS = 2.0  # after which the reason for the delay is shown

CHECK_SECONDS = 2.0  # to compare what was read with today's choice of extraction; the rest is done in the background


async def ask(deps: Deps, caller: Caller, request: Ask) -> AsyncGenerator[HandlerResult]:
    """Yield the pieces and the end of an answer, or a context or prompt. Raises NotFound if there are no documents."""
    if request.output == "answer" and request.mode != "bypass" and is_call(request.text):
        reply, end = await reply_to_call(deps, caller, request, NO_DOCUMENTS_HINT if caller.is_owner else "")
        yield reply
        yield end
        return
    request = replace(request, history=without_calls(request.history))
    results = _answer(deps, caller, request)
    if request.keep and request.output == "answer":
        results = keep_answer(deps, caller, request, results)
    async with aclosing(results):
        async for result in results:
            yield result


async def _answer(deps: Deps, caller: Caller, request: Ask) -> AsyncGenerator[HandlerResult]:
    """Yield a verified answer to the question, else one of the engine."""
    question = await _build_question(deps, caller, request)
    if request.output == "answer" and (verified := await find_verified(deps, caller, question)) is not None:
        yield DrawsOn(verified.provenance, verified.answer)
        yield AnswerDelta(verified.text)
        yield verified.end
        return
    async with aclosing(answer_question(deps, question, request.output)) as results:
        async for result in results:
            yield result


async def check_health(deps: Deps, _caller: Caller, _request: CheckHealth) -> AsyncGenerator[OperationResult]:
    """Yield the state of this process; that of a single command is the state of its engine."""
    if deps.health is not None:
        yield await deps.health.describe()
        return
    problems = tuple(await deps.engine.maintenance.list_problems())
    yield HealthState("degraded" if problems else "ok", problems)


async def answer_question(
    deps: Deps, question: Question, output: AskOutput = "answer"
) -> AsyncGenerator[HandlerResult]:
    """Yield the results of `ask` for a question that is built."""
    engine = deps.engine
    async with child_task(_start_answer(engine, question, output)) as working:
        if not (await asyncio.wait({working}, timeout=SLOW_START_SECONDS))[0]:
            yield await _build_delay(engine, question.scope)
        begun = await working
    if not isinstance(begun, Answer):
        yield begun
        return
    yield AnswerBegun(begun)
    async with aclosing(begun) as answer:
        context = answer.context
        await _check_not_empty(engine, context, question.scope)
        async for piece in answer:
            yield AnswerDelta(piece)
        overview = context.overview
        truncated = overview is not None and overview.truncated
        cut_off, filtered = answer.is_truncated, answer.is_filtered
        yield AnswerEnd(
            answer.sources,
            answer.usage,
            cut_off,
            context.undated,
            truncated,
            filtered,
            rebuilding=context.rebuilding,
            failed_helpers=context.failed_helpers,
            since=overview.since if overview is not None else "",
            unsearched=context.mode == "bypass",
            as_of=context.as_of,
        )


async def _start_answer(
    engine: Engine, question: Question, outcome: AskOutput
) -> Answer | ContextResult | PromptResult:
    """An answer with its context, or the complete result of another output."""
    if outcome == "context":
        return ContextResult(await engine.retrieve(question))
    if outcome == "prompt":
        return PromptResult(tuple(await engine.build_messages(question)))
    return await engine.ask(question)


async def _check_not_empty(engine: Engine, context: Context, scope: Scope) -> None:
    """Raise NotFound if nothing was found because there are no documents."""
    if context.is_empty and context.mode != "bypass" and not (await engine.maintenance.get_status(scope)).documents:
        raise NotFound(
            "There are no documents yet.",
            hint=NO_DOCUMENTS_HINT,
        )


async def _build_delay(engine: Engine, scope: Scope) -> ProgressUpdate:
    """Explain why the answer is delayed."""
    waiting = format_remaining(await engine.maintenance.get_status(scope))
    known = "the answer is drawn from what is known by now."
    return ProgressUpdate("searching", trouble=f"{waiting}; {known}" if waiting else SEARCHING)


async def _build_question(deps: Deps, caller: Caller, request: Ask) -> Question:
    """The question of a request, with the filters that its words and its options name together."""
    scope, here = caller.scope, request.working_dir if caller.is_owner else None
    if not request.text.strip():
        raise InvalidQuestion("The question is empty.", hint="Type a question.")
    documents = {
        document.key for words in request.documents for document in await resolve_documents(deps, words, scope, here)
    }
    zone = await find_zone(deps, caller, request.zone)
    now = deps.clock.now().astimezone(zone)
    sought, chosen = parse_search_filters(request.text.strip(), now), limit_as_of(request.as_of, now)
    question = Question(
        sought.text or FILTERED_OVERVIEW,
        scope,
        history=request.history,
        mode=request.mode or deps.context.retrieval_mode,
        asker=await find_name(deps, caller),
        filters=Filters(
            documents=frozenset(documents),
            rooms=await resolve_all(deps, caller, request.rooms),
            authors=frozenset(request.authors),
            since=request.since,
            until=request.until,
        ),
        model=request.model,
        zone=zone,
        **_collect_retrieval_options(request.retrieval),
    )
    if question.mode == "bypass":
        return question
    if not sought.only_these and any(purpose == "answers" and name for purpose, name in deps.context.models):
        question = replace(question, filter_lookup=build_filter_lookup(deps, caller))
    earliest = asked_at(sought, asked_at(chosen, now))
    question = await _apply_overview(deps, caller, question, earliest)
    return await _apply_search_filters(deps, caller, narrow_question(question, chosen, frozenset()), sought)


async def _apply_search_filters(deps: Deps, caller: Caller, question: Question, sought: SearchFilters) -> Question:
    """Narrow a question by the filters in it.

    Raises InvalidQuestion for ids of people and channels, and for names of no channel that can be read.
    """
    require_names(sought)
    return narrow_question(question, sought, await require_named_rooms(deps, caller, sought.channel_names))


async def _apply_overview(deps: Deps, caller: Caller, question: Question, now: datetime) -> Question:
    """Add what an overview question is about: a channel, a time, a person."""
    question, asked = by_author(question, now)
    channel = asked.channel if asked else channel_of(question)
    rooms = await resolve_rooms(deps, caller, channel) if channel else frozenset[str]()
    if channel and not rooms:
        return question
    question = replace(question, filters=replace(question.filters, rooms=question.filters.rooms or rooms))
    return apply_overview_request(question, asked) if asked else question


def _collect_retrieval_options(options: RetrievalOptions) -> dict[str, Any]:
    """The options that are set, by the names of the question's fields."""
    given = {field.name: getattr(options, field.name) for field in fields(options)}
    return {name: value for name, value in given.items() if value not in (None, ())}


async def get_status(deps: Deps, caller: Caller, request: GetStatus) -> AsyncGenerator[OperationResult]:
    """Yield the index status."""
    await deps.engine.maintenance.check_readings(CHECK_SECONDS)
    probe = deps.context.sandbox if request.with_sandbox else None
    maintenance, store = deps.engine.maintenance, await _find_store(deps)
    yield StatusResult(
        await maintenance.get_status(caller.scope),
        await probe.get_state() if probe else None,
        tuple(await maintenance.list_index_problems(caller.scope)) if request.with_problems else None,
        await count_unread(store, caller.scope),
        await count_renewals(store if caller.kind == "owner" else None),
    )


async def list_documents(deps: Deps, caller: Caller, request: ListDocuments) -> AsyncGenerator[OperationResult]:
    """Yield the list of documents."""
    store = await _find_store(deps) if wants_unread(request) else None
    unread = await list_unread(store, caller.scope, request.search)
    listed = await deps.engine.documents.list(caller.scope)
    yield select_documents(listed, request, unread, await _name_rooms(deps, caller))


async def _name_rooms(deps: Deps, caller: Caller) -> dict[str, str]:
    """The names of the channels of a person's workspace, by their rooms."""
    store, subject = await _find_store(deps), caller.subject
    if store is None or caller.kind != "person":
        return {}
    return dict(await store.channels.list_names(subject.platform, subject.workspace))


async def _find_store(deps: Deps) -> BotStore | None:
    parts = await deps.parts.find()
    return parts.store if parts else None


async def list_filter_names(deps: Deps, caller: Caller, _request: ListFilterNames) -> AsyncGenerator[OperationResult]:
    """Yield the names of channels and people."""
    authors = await deps.engine.documents.list_authors(caller.scope)
    yield FilterNames(tuple(sorted(await list_channel_names(deps, caller))), tuple(authors))


async def get_entity(deps: Deps, caller: Caller, request: GetEntity) -> AsyncGenerator[OperationResult]:
    """Yield an entity. Raises NotFound with similar names in the hint."""
    scope = caller.scope
    found = await deps.engine.graph.get_neighborhood(request.name, scope, request.limit)
    if found.entity is None:
        raise await build_not_found(deps.engine, request.name, scope)
    yield EntityResult(found.entity, found.relations)


@dataclass(frozen=True, slots=True)
class VerifiedResult:
    """A verified answer, its text, its end, and what it rests on."""

    answer: VerifiedAnswer
    text: str
    end: AnswerEnd
    provenance: Provenance


async def find_verified(deps: Deps, caller: Caller, question: Question) -> VerifiedResult | None:
    """The verified answer to the same question, for a person who may read all of it; None without one."""
    if caller.kind != "person":
        return None
    parts, subject = await deps.parts.open(), caller.subject
    lookup = VerifiedLookup(parts.store, parts.access.audience_of(subject), deps.engine)
    place, is_follow_up = Location(subject.platform, subject.workspace, ""), bool(question.history)
    found = await lookup.find(question, place, subject.person, is_follow_up=is_follow_up)
    if found is None:
        return None
    sources = tuple(to_source(source) for source in found.sources)
    end = AnswerEnd(sources, (), verified=await lookup.describe(found))
    return VerifiedResult(found, found.text, end, provenance_of(found))


def to_source(source: AnswerSource) -> Source:
    """A source that was shown below an answer, as one of a context; it has an excerpt of its text."""
    return Source(
        source.number,
        source.document,
        source.passage,
        source.title,
        "",
        source.link,
        "",
        source.time,
        source.excerpt,
        source.space,
        source.room,
        "",
    )
