"""Asking: a question becomes a streamed answer with its sources, or shows what it would rest on."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bot.admin.document_lookup import keys_of, scope_of
from bot.admin.ingest.progress import inside
from bot.admin.results import Advanced, Cited, Found, Prompted, Recalled, Said
from engine.answers.answer import Answer
from engine.errors import BadQuestion, NotFound
from engine.models import Question, Within
from engine.scheduling.tasks import child_task
from engine.text.author_request import by_author, channel_of
from engine.text.overview_request import narrowed

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.admin.requests import Ask, Outcome
    from bot.admin.results import Event
    from bot.engine_context import Desk
    from engine.engine import Engine
    from engine.models import Context, Scope

SEARCHING = "the search takes longer than usual."
LATE = 2.0  # seconds after which whoever asked is told what the answer waits for


async def ask(desk: Desk, request: Ask) -> AsyncGenerator[Event]:
    """Recalled, Said…, Cited for an answer; else Found or Prompted. Raises NotFound if there is no document at all."""
    question, engine = await _question(desk, request), desk.engine
    async with child_task(_begun(engine, question, request.outcome)) as working:
        if not (await asyncio.wait({working}, timeout=LATE))[0]:
            yield await _delay(engine, question.scope)
        begun = await working
    if not isinstance(begun, Answer):
        yield begun
        return
    async with aclosing(begun) as answer:
        context = answer.context
        await _must_know_something(engine, context, question.scope)
        yield Recalled(len(context.entities), len(context.relations), len(context.sources))
        async for piece in answer:
            yield Said(piece)
        truncated = context.overview is not None and context.overview.truncated
        cut_off, filtered = answer.cut_off, answer.filtered
        yield Cited(answer.sources, answer.usage, cut_off, context.undated, truncated, filtered)


async def _begun(engine: Engine, question: Question, outcome: Outcome) -> Answer | Found | Prompted:
    """An answer that has found its context, or all of what was wanted instead of one."""
    if outcome == "context":
        return Found(await engine.recall(question))
    if outcome == "prompt":
        return Prompted(tuple(await engine.prompt(question)))
    return await engine.ask(question)


async def _must_know_something(engine: Engine, context: Context, scope: Scope) -> None:
    """Raise NotFound if nothing was found because there is no document at all."""
    if context.empty and context.mode != "bypass" and not (await engine.status(scope)).documents:
        raise NotFound(
            "Nothing was ingested yet, so there is nothing to answer from.",
            hint="Run `threadlore ingest FILE_OR_FOLDER`, then ask again.",
        )


async def _delay(engine: Engine, scope: Scope) -> Advanced:
    """Why nothing comes at once."""
    left = inside(await engine.status(scope))
    known = "the answer is drawn from what is known by now."
    return Advanced("searching", trouble=f"{left}; {known}" if left else SEARCHING)


async def _question(desk: Desk, request: Ask) -> Question:
    if not request.text.strip():
        raise BadQuestion("The question is empty.", hint="Ask something.")
    scope = scope_of(request.spaces)
    documents = {key for words in request.documents for key in await keys_of(desk, words, request.here, scope)}
    question = Question(
        request.text.strip(),
        scope,
        history=request.history,
        mode=request.mode,
        within=Within(
            documents=frozenset(documents),
            rooms=frozenset(request.rooms),
            authors=frozenset(request.authors),
            since=request.since,
            until=request.until,
        ),
        model=request.model,
    )
    if question.mode == "bypass":
        return question
    question, asked = by_author(question, datetime.now(UTC))
    channel = asked.channel if asked else channel_of(question)
    rooms = await _rooms(desk, channel, scope) if channel else frozenset[str]()
    if channel and not rooms:
        return question
    question = replace(question, within=replace(question.within, rooms=question.within.rooms or rooms))
    return narrowed(question, asked) if asked else question


async def _rooms(desk: Desk, name: str, scope: Scope) -> frozenset[str]:
    """The chats in scope that are called so."""
    there = (each.room for each in await desk.engine.documents(scope) if each.kind == "conversation")
    return frozenset(room for room in there if room.rpartition(":")[2].casefold() == name.casefold())
