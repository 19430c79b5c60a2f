"""The page of questions without a good answer, and of verified answers."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request, Response

from adapters.web.operations import Access, get_result, perform
from adapters.web.pages.management.plain_words import to_plain_lines
from adapters.web.pages.session import PageAccess  # noqa: TC001  - read at run time
from adapters.web.pages.shell import NavigationEntry, render_page, render_part
from adapters.web.routes.documents import build_download
from bot.capabilities.faq.requests import GetFaq
from bot.capabilities.management.requests import (
    ListChannels,
    ListQuestions,
    ListVerified,
    ManagementRequest,
    PinAnswer,
    RemoveVerified,
    VerifyAnswer,
)
from bot.capabilities.management.results import QuestionList, VerifiedList, WorkspaceChannels
from bot.capabilities.results import Completed

router = APIRouter(include_in_schema=False)

ENTRY = NavigationEntry("/questions", "Questions", "questions", "manage")
Room = Annotated[str, Query(max_length=300)]
Id = Annotated[str, Form(min_length=1, max_length=300)]
OptionalRoom = Annotated[str, Form(max_length=300)]
Text = Annotated[str, Form(max_length=4000)]
QuestionText = Annotated[str, Form(min_length=1, max_length=500)]


@router.get("/questions")
async def show_questions(http: Request, access: PageAccess, room: Room = "") -> Response:
    """Show questions without a good answer, and verified answers: of open channels, or of one channel."""
    return await render_page(http, access, "questions.html", **await _load(http, access, room))


@router.get("/questions/faq.md")
async def download_faq(http: Request, access: PageAccess, room: Room = "") -> Response:
    """Give the verified answers and open questions as a page in Markdown: of one channel, for everyone in it."""
    return await build_download(perform(http, access, GetFaq(room)), "faq.md", "text/markdown; charset=utf-8")


@router.post("/questions/verify")
async def verify_answer(
    http: Request, access: PageAccess, answer: Id, text: Text = "", shown: OptionalRoom = ""
) -> Response:
    """Verify an answer, as it is or in other words."""
    return await _do(http, access, VerifyAnswer(answer, text), shown)


@router.post("/questions/pin")
async def pin_answer(
    http: Request, access: PageAccess, room: Id, question: QuestionText, text: Text, shown: OptionalRoom = ""
) -> Response:
    """Give an answer, or correct a verified one."""
    return await _do(http, access, PinAnswer(room, question, text), shown)


@router.post("/questions/remove")
async def remove_verified(
    http: Request, access: PageAccess, room: Id, answer: Id, shown: OptionalRoom = ""
) -> Response:
    """Remove a verified answer."""
    return await _do(http, access, RemoveVerified(room, answer), shown)


async def _do(http: Request, access: Access, request: ManagementRequest, shown: str) -> Response:
    """Perform a request, and show the lists as they are now."""
    done = await get_result(http, access, request, Completed)
    values = await _load(http, access, shown)
    return render_part("parts/questions.html", **{**values, "done": to_plain_lines(done.text)})


async def _load(http: Request, access: Access, room: str) -> dict[str, Any]:
    channels = (await get_result(http, access, ListChannels(), WorkspaceChannels)).channels
    asked = await get_result(http, access, ListQuestions(room), QuestionList)
    verified = await get_result(http, access, ListVerified(room), VerifiedList)
    answers = [answer for answer in verified.answers if not answer.is_withdrawn]
    return {
        "channels": channels,
        "questions": asked.questions,
        "withdrawn": asked.withdrawn,
        "verified": answers,
        "room": room,
        "done": [],
    }
