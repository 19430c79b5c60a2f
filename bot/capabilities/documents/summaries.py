"""Summarize a channel, a document or everything in scope, as the digest and the catch-up of a chat do."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from bot import texts
from bot.capabilities.documents.details import find_document
from bot.capabilities.queries import answer_question, resolve_rooms
from bot.text.format import format_utc
from bot.texts.questions import CATCH_UP_QUESTION, SUMMARY_QUESTION
from engine import Filters, Overview, Question
from engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.documents.requests import Summarize
    from bot.capabilities.results import OperationResult
    from bot.context import EngineContext


async def summarize(engine_context: EngineContext, request: Summarize) -> AsyncGenerator[OperationResult]:
    """Yield the pieces and the end of a summary. Raises NotFound for a channel or document that is not in scope."""
    within = Filters(
        rooms=await _find_rooms(engine_context, request),
        documents=await _find_documents(engine_context, request),
        since=request.since,
        until=request.until,
    )
    question = Question(_choose_text(request), request.scope, filters=within, overview=Overview(request.overview))
    async with aclosing(answer_question(engine_context, question)) as results:
        async for result in results:
            yield result


def _choose_text(request: Summarize) -> str:
    if request.overview == "digest":
        return texts.DIGEST_QUESTION
    return CATCH_UP_QUESTION.format(time=format_utc(request.since)) if request.since else SUMMARY_QUESTION


async def _find_rooms(engine_context: EngineContext, request: Summarize) -> frozenset[str]:
    """The rooms of a channel. Raises NotFound."""
    name = request.channel.removeprefix("#")
    if not name:
        return frozenset()
    documents = await engine_context.engine.list_documents(request.scope)
    rooms = frozenset({name} & {each.room for each in documents})
    if found := rooms or await resolve_rooms(engine_context, name, request.scope):
        return found
    raise NotFound(f"There is no channel “{name}”.", hint="The list of documents names the channels.")


async def _find_documents(engine_context: EngineContext, request: Summarize) -> frozenset[str]:
    """The document to summarize, if one is named. Raises NotFound."""
    if not request.document:
        return frozenset()
    return frozenset({(await find_document(engine_context, request.document, request.scope)).key})
