"""Routes for managers: channels and their settings, badly answered questions, verified answers, usage and health."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, Field

from adapters.web.models import Body
from adapters.web.operations import get_result
from adapters.web.security import Token  # noqa: TC001  - read at run time
from bot.capabilities.management import requests
from bot.capabilities.management.results import (
    ChannelResult,
    HealthReport,
    QuestionList,
    UsageReport,
    VerifiedList,
    WorkspaceChannels,
)
from bot.capabilities.results import Completed

if TYPE_CHECKING:
    from bot.capabilities.management.requests import ManagementRequest

router = APIRouter(tags=["management"])

MAX_TEXT_LENGTH = 4000
Room = Annotated[str, Path(min_length=1, max_length=300)]
RoomQuery = Annotated[str, Query(max_length=300, description="The id of a channel; empty for all open channels.")]
Id = Annotated[str, Path(min_length=1, max_length=300)]
Value = Annotated[str, Field(max_length=1000)]
SettingName = Annotated[str, Field(max_length=40)]


class ChangeBody(Body):
    """Settings of a channel by name, as they are typed in the chat."""

    values: Annotated[dict[SettingName, Value], Field(min_length=1, max_length=20, examples=[{"mode": "local"}])]


class VerifyBody(Body):
    """The answer in other words; empty to verify it as it is."""

    text: Annotated[str, Field(max_length=MAX_TEXT_LENGTH)] = ""


class PinBody(Body):
    """An answer of one's own to a question in a channel."""

    channel: Annotated[str, Field(min_length=1, max_length=300)]
    question: Annotated[str, Field(min_length=1, max_length=500)]
    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT_LENGTH)]


class DoneBody(BaseModel):
    """What was done, as a sentence in Markdown."""

    text: str


@router.get("/channels")
async def list_channels(http: Request, token: Token) -> WorkspaceChannels:
    """List the channels of the workspace that the manager can read."""
    return await get_result(http, token, requests.ListChannels(), WorkspaceChannels)


@router.get("/channels/{room}")
async def get_channel(http: Request, token: Token, room: Room) -> ChannelResult:
    """Get a channel with its settings."""
    return await get_result(http, token, requests.GetChannel(room), ChannelResult)


@router.patch("/channels/{room}")
async def change_channel(http: Request, token: Token, room: Room, body: ChangeBody) -> DoneBody:
    """Change settings of a channel, all or none."""
    return await _do(http, token, requests.ChangeChannel(room, tuple(body.values.items())))


@router.get("/questions")
async def list_questions(http: Request, token: Token, room: RoomQuery = "") -> QuestionList:
    """List the questions of the last 30 days without a good answer: of open channels, and of the given one."""
    return await get_result(http, token, requests.ListQuestions(room), QuestionList)


@router.post("/questions/{answer}/verify")
async def verify_answer(http: Request, token: Token, answer: Id, body: VerifyBody) -> DoneBody:
    """Verify the answer to a question, as it is or in other words."""
    return await _do(http, token, requests.VerifyAnswer(answer, body.text))


@router.get("/verified-answers")
async def list_verified(http: Request, token: Token, room: RoomQuery = "") -> VerifiedList:
    """List the verified answers of a channel, or of all that the manager can read."""
    return await get_result(http, token, requests.ListVerified(room), VerifiedList)


@router.post("/verified-answers")
async def pin_answer(http: Request, token: Token, body: PinBody) -> DoneBody:
    """Give an answer to a question; it replaces the verified one to the same question."""
    return await _do(http, token, requests.PinAnswer(body.channel, body.question, body.text))


@router.delete("/verified-answers/{room}/{answer}")
async def remove_verified(http: Request, token: Token, room: Room, answer: Id) -> DoneBody:
    """Remove a verified answer of a channel."""
    return await _do(http, token, requests.RemoveVerified(room, answer))


@router.get("/usage")
async def get_usage(http: Request, token: Token, days: Annotated[int, Query(ge=1, le=366)] = 30) -> UsageReport:
    """Get answers, votes, and tokens and cost (US dollars) of questions and of indexing, by day (UTC)."""
    return await get_result(http, token, requests.GetUsage(days), UsageReport)


@router.get("/health/details")
async def get_health_details(http: Request, token: Token) -> HealthReport:
    """Get the state of the program, its connections, its queue and its models."""
    return await get_result(http, token, requests.GetHealth(), HealthReport)


async def _do(http: Request, token: str, request: ManagementRequest) -> DoneBody:
    return DoneBody(text=(await get_result(http, token, request, Completed)).text)
