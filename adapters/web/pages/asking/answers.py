"""What is done below an answer of the page: vote, verify or correct it, ask an expert."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Form, Query, Request, Response

from adapters.web.operations import get_result
from adapters.web.pages.management.plain_words import to_plain_lines
from adapters.web.pages.session import PageAccess, get_space, get_viewer
from adapters.web.pages.shell import render_part, render_text
from bot.capabilities.answers.requests import MAX_COMMENT_LENGTH, RateAnswer
from bot.capabilities.management.requests import AskExpert, GetAnswerActions, VerifyAnswer
from bot.capabilities.management.results import AnswerActions
from bot.capabilities.results import Completed
from bot.texts.review import REASONS
from bot.texts.search_notices import is_closest

if TYPE_CHECKING:
    from adapters.web.operations import Access
    from bot.capabilities.results import AnswerEnd

router = APIRouter(include_in_schema=False)

Id = Annotated[str, Form(min_length=1, max_length=100)]
Channel = Annotated[str, Form(min_length=1, max_length=300)]
Reason = Annotated[Literal["", "wrong", "outdated", "missing-source", "unclear"], Form()]


async def render_actions(http: Request, access: Access, text: str, end: AnswerEnd) -> str:
    """The row below an answer that is kept; empty for others."""
    if not end.answer:
        return ""
    permissions = set((await get_viewer(http, access)).permissions)
    is_space = bool(await get_space(http, access))
    can_improve = bool(permissions & {"write", "manage"}) and not is_space
    can_share = bool(end.verified or end.sources) and not is_closest(text)
    is_open = not (can_share or end.unsearched)  # managers see its question
    values = {"can_improve": can_improve, "can_share": can_share, "is_open": is_open, "is_space": is_space}
    return render_text("parts/answer_actions.html", **values, **_build_votes(end.answer))


@router.post("/ask/rate")
async def rate_answer(
    http: Request,
    access: PageAccess,
    answer: Id,
    helpful: Annotated[bool, Form()],
    reason: Reason = "",
    comment: Annotated[str, Form(max_length=MAX_COMMENT_LENGTH)] = "",
) -> Response:
    """Record a vote, and show it."""
    done = await get_result(http, access, RateAnswer(answer, helpful, reason, comment), Completed)
    vote = "up" if helpful else "down"
    values = _build_votes(answer, vote, is_explained=helpful or bool(reason or comment.strip()), done=done.text)
    return render_part("parts/votes.html", **values)


@router.get("/ask/actions")
async def show_actions(
    http: Request, access: PageAccess, answer: Annotated[str, Query(min_length=1, max_length=100)]
) -> Response:
    """Show what the visitor may do with an answer."""
    found = await get_result(http, access, GetAnswerActions(answer), AnswerActions)
    return render_part("parts/improve.html", answer=answer, actions=found)


@router.post("/ask/verify")
async def verify_answer(
    http: Request,
    access: PageAccess,
    answer: Id,
    channel: Channel,
    question: Annotated[str, Form(max_length=500)] = "",
    text: Annotated[str, Form(max_length=4000)] = "",
) -> Response:
    """Verify an answer in a channel, as it is or in other words."""
    done = await get_result(http, access, VerifyAnswer(answer, text, question, channel), Completed)
    return render_part("parts/improved.html", lines=to_plain_lines(done.text))


@router.post("/ask/expert")
async def ask_expert(
    http: Request, access: PageAccess, answer: Id, expert: Annotated[str, Form(min_length=3, max_length=400)]
) -> Response:
    """Ask an expert, who is named as "CHANNEL PERSON"."""
    channel, _, person = expert.rpartition(" ")
    done = await get_result(http, access, AskExpert(answer, channel, person), Completed)
    return render_part("parts/improved.html", lines=to_plain_lines(done.text))


def _build_votes(answer: str, vote: str = "", *, is_explained: bool = False, done: str = "") -> dict[str, Any]:
    """What the buttons for votes show. `is_explained`: nothing is asked about the vote."""
    return {"answer": answer, "vote": vote, "is_explained": is_explained, "done": done, "reasons": REASONS}
