"""Answers that are shared by a link: the link, the answer that it shows, and the list of one's own."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Form, Path, Request, Response

from adapters.web.models import SourceItem
from adapters.web.operations import get_result
from adapters.web.pages.asking.answer_html import render_answer
from adapters.web.pages.session import PageAccess  # noqa: TC001  - read at run time
from adapters.web.pages.shell import render_page, render_part
from bot.capabilities.answers.requests import (
    AnswerShared,
    GetSharedAnswer,
    ListSharedAnswers,
    ShareAnswer,
    SharedAnswer,
    SharedList,
    UnshareAnswer,
)
from bot.capabilities.readers.requests import FindReaders, ReadersFound
from bot.capabilities.results import Completed

router = APIRouter(include_in_schema=False)

Id = Annotated[str, Form(min_length=1, max_length=100)]
SOURCE_PREFIX = "source-"


@router.post("/ask/share")
async def share_answer(http: Request, access: PageAccess, answer: Id) -> Response:
    """Share an answer, and show its link."""
    shared = await get_result(http, access, ShareAnswer(answer), AnswerShared)
    readers = await get_result(http, access, FindReaders(answer=answer), ReadersFound)
    return render_part("parts/share.html", answer=answer, share=shared.share, readers=readers.text)


@router.post("/ask/unshare")
async def unshare_answer(http: Request, access: PageAccess, answer: Id) -> Response:
    """End the link to an answer."""
    done = await get_result(http, access, UnshareAnswer(answer), Completed)
    return render_part("parts/improved.html", lines=[done.text])


@router.get("/shared")
async def list_shared(http: Request, access: PageAccess) -> Response:
    """List the answers that the visitor shares."""
    found = await get_result(http, access, ListSharedAnswers(), SharedList)
    return await render_page(http, access, "shared_list.html", links=found.links)


@router.get("/shared/{share}")
async def show_shared(
    http: Request, access: PageAccess, share: Annotated[str, Path(min_length=1, max_length=100)]
) -> Response:
    """Show a shared answer; to whoever may not read its sources, the same problem as for an unknown link."""
    found = await get_result(http, access, GetSharedAnswer(share), SharedAnswer)
    sources = [SourceItem.of(source) for source in found.sources]
    numbered = {source.number: source for source in sources}
    shown = await asyncio.to_thread(render_answer, found.text, numbered, SOURCE_PREFIX)
    values: dict[str, Any] = {"shared": found, "answer_html": shown, "sources": sources, "prefix": SOURCE_PREFIX}
    return await render_page(http, access, "shared.html", **values)
