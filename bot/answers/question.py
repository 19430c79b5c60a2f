"""Build the engine question: resolved mentions, channel settings, and the audience's scope."""

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


async def build_question(context: BotContext, request: AnswerRequest, reach: ResolvedScope | None = None) -> Question:
    """Build the engine question without history, with the channel's settings and the resolved scope."""
    chosen = await context.get_channel_settings(request.location.room)
    reach = reach or await resolve_request_scope(context, request)
    question = Question(
        await _plain_question(context, request),
        reach.scope,
        mode=cast("RetrievalMode", request.mode or chosen.mode or context.settings.retrieval_mode),
        instructions=f"Answer in {chosen.language}." if chosen.language else "",
        style=chosen.style,
        asker=await _asker_name(context, request),
        is_unaddressed=request.overheard,
    )
    return _limit_to_recent(question, request) if request.since else await apply_overview(context, request, question)


async def resolve_request_scope(context: BotContext, request: AnswerRequest) -> ResolvedScope:
    """The scope of the answer; waits briefly for suspended spaces."""
    return await context.audience.resolve_scope(
        request.location, request.sole_reader, wait=resolver.QUESTION_SUSPENSION_WAIT
    )


async def _asker_name(context: BotContext, request: AnswerRequest) -> str:
    """The display name of the asker, empty if it cannot be looked up."""
    mention = f"<@{request.person}>"
    try:
        name = await context.platform_for(request.location).to_plain_text(request.location.workspace, mention)
    except PlatformError:
        return ""
    return "" if name == mention else name.strip().removeprefix("@")


async def _plain_question(context: BotContext, request: AnswerRequest) -> str:
    """The question with names in place of ids."""
    text = strip_mention(request.text)
    try:
        return (await context.platform_for(request.location).to_plain_text(request.location.workspace, text)).strip()
    except PlatformError:
        return text


async def build_heading(context: BotContext, request: AnswerRequest, channel: Channel | None) -> str:
    """The quoted question above a public answer to a command; empty for any other answer."""
    others = not request.private and (channel is None or channel.kind != "direct")
    text = await _plain_question(context, request) if others and isinstance(request.origin, QuestionAsked) else ""
    if not text:
        return ""
    location = request.location
    try:
        asker = await context.audience.get_person(location.platform, location.workspace, request.person)
    except PlatformError:
        return ""
    return texts.format_asker(asker.name, text)


def _limit_to_recent(question: Question, request: AnswerRequest) -> Question:
    """Limit a question to the messages of its channel since a time."""
    within = Filters(rooms=frozenset({request.location.room}), since=request.since)
    return replace(question, filters=within, overview=Overview("summary"))
