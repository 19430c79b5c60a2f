"""The page on which questions are asked: answers are streamed, with their sources."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse, StreamingResponse

from adapters.web.models import QueryBody, SourceItem
from adapters.web.operations import get_result, perform
from adapters.web.pages.answer_html import render_answer
from adapters.web.pages.management.plain_words import to_plain_lines
from adapters.web.pages.session import PageAccess, get_viewer
from adapters.web.pages.shell import NavigationEntry, find_first_page, render_page, render_part, render_text
from adapters.web.streams import NDJSON, StreamFormat, open_stream
from bot.capabilities.access.notices import list_end_notices
from bot.capabilities.management.requests import ListChannels, PinAnswer
from bot.capabilities.management.results import WorkspaceChannels
from bot.capabilities.results import AnswerDelta, AnswerEnd, Completed, ProgressUpdate
from bot.texts.search_modes import SEARCH_MODES
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from adapters.web.operations import Access
    from bot.capabilities.management.results import ChannelEntry
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
    channels = await _list_channels(http, access) if "manage" in viewer.permissions else ()
    return await render_page(http, access, "ask.html", modes=SEARCH_MODES, channels=channels)


async def _list_channels(http: Request, access: Access) -> Sequence[ChannelEntry]:
    """The channels in which the viewer may give an answer to a question; none for others than managers."""
    with suppress(EngineError):
        return (await get_result(http, access, ListChannels(), WorkspaceChannels)).channels
    return ()


@router.post("/ask/improve")
async def improve_answer(
    http: Request,
    access: PageAccess,
    room: Annotated[str, Form(min_length=1, max_length=300)],
    question: Annotated[str, Form(min_length=1, max_length=500)],
    text: Annotated[str, Form(max_length=4000)],
) -> Response:
    """Give the answer that whoever may read a channel gets from now on, and confirm it."""
    done = await get_result(http, access, PinAnswer(room, question, text), Completed)
    return render_part("parts/improved.html", lines=to_plain_lines(done.text))


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
