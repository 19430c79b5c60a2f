"""Asking: a question becomes a streamed answer with its sources, or shows what it would rest on."""

from __future__ import annotations

from contextlib import aclosing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bot.events import Cited, Found, Prompted, Recalled, Said
from bot.verbs.naming import keys_of, scope_of
from engine.errors import BadQuestion
from engine.overview_request import narrowed, recognize
from engine.records import Question, Within

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.desk import Desk
    from bot.events import Event
    from bot.requests import Ask


async def ask(desk: Desk, request: Ask) -> AsyncGenerator[Event]:
    """Recalled, Said…, Cited for an answer; else Found or Prompted."""
    question = await _question(desk, request)
    if request.outcome == "context":
        yield Found(await desk.engine.recall(question))
    elif request.outcome == "prompt":
        yield Prompted(tuple(await desk.engine.prompt(question)))
    else:
        async with aclosing(await desk.engine.ask(question)) as answer:
            context = answer.context
            yield Recalled(len(context.entities), len(context.relations), len(context.sources))
            async for piece in answer:
                yield Said(piece)
            truncated = context.overview is not None and context.overview.truncated
            yield Cited(answer.sources, answer.usage, answer.cut_off, context.undated, truncated)


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
    asked = recognize(question.text, datetime.now(UTC)) if question.mode != "bypass" else None
    return narrowed(question, asked) if asked else question
