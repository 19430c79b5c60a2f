"""Summarize a channel, a document or everything in scope, as the digest and the catch-up of a chat do."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from bot import texts
from bot.capabilities.asking.asker import find_zone, resolve_rooms
from bot.capabilities.asking.queries import answer_question
from bot.capabilities.documents.lookup import resolve_documents
from bot.text.format import format_local
from bot.texts.suggestions import CATCH_UP_QUESTION, SUMMARY_QUESTION
from engine import Filters, Question
from engine.errors import NotFound
from engine.models import Overview

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from datetime import tzinfo

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.capabilities.documents.requests import Summarize
    from bot.capabilities.results import HandlerResult
    from engine import Scope


async def summarize(deps: Deps, caller: Caller, request: Summarize) -> AsyncGenerator[HandlerResult]:
    """Yield the pieces and the end of a summary. Raises NotFound for a channel or document that is not in scope."""
    within = Filters(
        rooms=await _find_rooms(deps, caller, request),
        documents=await _find_documents(deps, request, caller.scope),
        since=request.since,
        until=request.until,
    )
    zone = await find_zone(deps, caller)
    text, overview = _choose_text(request, zone), Overview(request.overview)
    question = Question(text, caller.scope, filters=within, overview=overview, zone=zone)
    async with aclosing(answer_question(deps, question)) as results:
        async for result in results:
            yield result


def _choose_text(request: Summarize, zone: tzinfo) -> str:
    if request.overview == "digest":
        return texts.DIGEST_QUESTION
    return CATCH_UP_QUESTION.format(time=format_local(request.since, zone)) if request.since else SUMMARY_QUESTION


async def _find_rooms(deps: Deps, caller: Caller, request: Summarize) -> frozenset[str]:
    """The rooms of a channel. Raises NotFound."""
    name = request.channel.removeprefix("#")
    if not name:
        return frozenset()
    readable = await deps.engine.documents.count_by_room(caller.scope)
    if found := frozenset(readable.keys() & {name}) or await resolve_rooms(deps, caller, name):
        return found
    raise NotFound(f"There is no channel “{name}”.", hint="The list of documents names the channels.")


async def _find_documents(deps: Deps, request: Summarize, scope: Scope) -> frozenset[str]:
    """The document to summarize, if one is named. Raises NotFound."""
    if not request.document:
        return frozenset()
    return frozenset({document.key for document in await resolve_documents(deps, request.document, scope)})
