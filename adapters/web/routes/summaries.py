"""Summaries of a channel, a document, or everything that a token can read."""

from __future__ import annotations

from fastapi import APIRouter, Request

from adapters.web.models import AnswerBody, SummaryBody  # noqa: TC001  - read at run time
from adapters.web.operations import perform
from adapters.web.routes.queries import collect_answer
from adapters.web.security import Token  # noqa: TC001  - read at run time

router = APIRouter(tags=["summaries"])


@router.post("/summaries")
async def summarize(http: Request, token: Token, body: SummaryBody) -> AnswerBody:
    """Summarize what was written, with sources: since a time, until a time, or all of it as far as it fits."""
    return await collect_answer(perform(http, token, body.to_request()))
