"""A question of a chat, put as the engine is asked it: in plain words, within the scope of whoever reads the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from bot import texts
from bot.answers.overview_scope import apply_overview
from bot.answers.request import strip_mention
from bot.errors import PlatformError
from bot.permissions import resolver
from bot.platform.events import QuestionAsked
from engine import Filters, Overview, Question

if TYPE_CHECKING:
    from bot.answers.request import AnswerRequest
    from bot.context import BotContext
    from bot.permissions.audience import ResolvedScope
    from bot.platform.models import Channel
    from engine import RetrievalMode


async def build_question(house: BotContext, request: AnswerRequest, reach: ResolvedScope | None = None) -> Question:
    """What the engine is asked, but for what was said before; the channel's settings apply. `reach`: as `reach_of`."""
    chosen = await house.get_channel_settings(request.location.room)
    reach = reach or await resolve_request_scope(house, request)
    question = Question(
        await _plain_question(house, request),
        reach.scope,
        mode=cast("RetrievalMode", request.mode or chosen.mode or house.settings.retrieval_mode),
        instructions=f"Answer in {chosen.language}." if chosen.language else "",
        style=chosen.style,
        asker=await _asker_name(house, request),
        is_unaddressed=request.overheard,
    )
    return _limit_to_recent(question, request) if request.since else await apply_overview(house, request, question)


async def resolve_request_scope(house: BotContext, request: AnswerRequest) -> ResolvedScope:
    """What the answer may draw on; it waits somewhat for spaces that are suspended."""
    return await house.audience.resolve_scope(
        request.location, request.sole_reader, wait=resolver.QUESTION_SUSPENSION_WAIT
    )


async def _asker_name(house: BotContext, request: AnswerRequest) -> str:
    """The name of the person who asks, empty if the platform does not say it."""
    mention = f"<@{request.person}>"
    try:
        name = await house.platform_for(request.location).to_plain_text(request.location.workspace, mention)
    except PlatformError:
        return ""
    return "" if name == mention else name.strip().removeprefix("@")


async def _plain_question(house: BotContext, request: AnswerRequest) -> str:
    """The question with names in place of ids."""
    text = strip_mention(request.text)
    try:
        return (await house.platform_for(request.location).to_plain_text(request.location.workspace, text)).strip()
    except PlatformError:
        return text


async def build_heading(house: BotContext, request: AnswerRequest, channel: Channel | None) -> str:
    """What stands above an answer to a command that others read, too: they do not see its question. Else empty."""
    others = not request.private and (channel is None or channel.kind != "direct")
    text = await _plain_question(house, request) if others and isinstance(request.origin, QuestionAsked) else ""
    if not text:
        return ""
    place = request.location
    try:
        asker = await house.audience.get_person(place.platform, place.workspace, request.person)
    except PlatformError:
        return ""
    return texts.format_asker(asker.name, text)


def _limit_to_recent(question: Question, request: AnswerRequest) -> Question:
    """A question about whatever was said in a channel since a time."""
    within = Filters(rooms=frozenset({request.location.room}), since=request.since)
    return replace(question, filters=within, overview=Overview("summary"))
