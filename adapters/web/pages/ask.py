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
from adapters.web.pages.answer_html import render_answer
from adapters.web.pages.session import PageAccess, get_viewer
from adapters.web.pages.shell import NavigationEntry, find_first_page, render_page, render_text
from adapters.web.streams import NDJSON, StreamFormat, open_stream
from bot.capabilities.access.notices import list_end_notices
from bot.capabilities.results import AnswerDelta, AnswerEnd, ProgressUpdate
from bot.texts.search_modes import SEARCH_MODES

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.results import OperationResult
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
    results = perform(http, access, body.to_request("answer"))
    return await open_stream(_list_events(results, http.app.state.clock), StreamFormat(NDJSON))


async def _list_events(results: AsyncGenerator[OperationResult], clock: Clock) -> AsyncGenerator[dict[str, Any]]:
    text, rendered = "", clock.monotonic()
    async with aclosing(results):
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
                yield await asyncio.to_thread(_build_end, text, result)


def _build_end(text: str, end: AnswerEnd) -> dict[str, Any]:
    """The last event: the whole answer, its sources, and what has to be known about it."""
    sources = [SourceItem.of(each) for each in end.sources]
    prefix = f"source-{secrets.token_hex(4)}-"
    return {
        "type": "end",
        "text": text,
        "html": render_answer(text, {each.number: each for each in sources}, prefix),
        "sources": render_text("parts/sources.html", sources=sources, prefix=prefix),
        "notices": [*list_end_notices(end), *([CUT_OFF] if end.cut_off or end.filtered else [])],
    }
