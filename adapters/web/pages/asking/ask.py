"""The page on which questions are asked: answers are streamed, with their sources."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse, StreamingResponse

from adapters.web.models import QueryBody, SourceItem
from adapters.web.operations import perform
from adapters.web.pages.asking.answer_html import render_answer
from adapters.web.pages.asking.answers import render_actions
from adapters.web.pages.session import PageAccess, get_viewer
from adapters.web.pages.shell import NavigationEntry, find_first_page, render_page, render_text
from adapters.web.streams import NDJSON, StreamFormat, open_stream
from bot.capabilities.access.hints import list_end_notices
from bot.capabilities.results import AnswerDelta, AnswerEnd, ProgressUpdate
from bot.texts.search_notices import SEARCH_MODES

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from adapters.web.operations import Access
    from bot.capabilities.requests import Ask
    from engine import Clock

router = APIRouter(include_in_schema=False)

ENTRY = NavigationEntry("/", "Ask", "ask", "ask")
CUT_OFF = "The model stopped before the end of this answer."
RENDER_SECONDS = 0.3  # between two renderings of an answer that arrives; text in between is shown as it is


@router.get("/")
async def show_ask(http: Request, access: PageAccess) -> Response:
    """Show the box for a question, or the first page of whoever may not ask."""
    viewer = await get_viewer(http, access)
    if ENTRY.permission not in viewer.permissions:
        return RedirectResponse(find_first_page(http, viewer), 303)
    return await render_page(http, access, "ask.html", modes=SEARCH_MODES)


@router.post("/ask")
async def stream_answer(http: Request, access: PageAccess, body: QueryBody) -> StreamingResponse:
    """Stream an answer as lines of JSON: delta, html (of all text so far), progress, end or error."""
    return await open_stream(_list_events(http, access, body.to_request("answer")), StreamFormat(NDJSON))


async def _list_events(http: Request, access: Access, request: Ask) -> AsyncGenerator[dict[str, Any]]:
    clock: Clock = http.app.state.clock
    text, rendered = "", clock.monotonic()
    async with aclosing(perform(http, access, request)) as results:
        async for result in results:
            if isinstance(result, AnswerDelta):
                text += result.text
                yield {"type": "delta", "text": result.text}
                if clock.monotonic() - rendered > RENDER_SECONDS:
                    rendered = clock.monotonic()
                    yield {"type": "html", "html": await asyncio.to_thread(render_answer, text)}
            elif isinstance(result, ProgressUpdate):
                yield {"type": "progress", "text": result.trouble}
            elif isinstance(result, AnswerEnd):
                actions = await render_actions(http, access, text, result)
                yield {**await asyncio.to_thread(_build_end, text, result), "actions": actions}


def _build_end(text: str, end: AnswerEnd) -> dict[str, Any]:
    """The last event: the whole answer, its sources, and what has to be known about it."""
    sources = [SourceItem.of(source) for source in end.sources]
    prefix = f"source-{secrets.token_hex(4)}-"
    return {
        "type": "end",
        "text": text,
        "answer": end.answer,
        "html": render_answer(text, {source.number: source for source in sources}, prefix),
        "sources": render_text("parts/sources.html", sources=sources, prefix=prefix),
        "notices": [*list_end_notices(end), *([CUT_OFF] if end.cut_off or end.filtered else [])],
    }
