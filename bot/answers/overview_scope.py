"""Choose the messages for an overview question: a thread, a channel, or everything the asker may read."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from bot.answers.request import strip_mention
from bot.errors import PlatformError
from bot.ingest.conversations import thread_key
from engine import Filters, apply_overview_request, by_author, channel_of, find_mentions

if TYPE_CHECKING:
    from datetime import datetime

    from bot.answers.request import AnswerRequest
    from bot.context import BotContext
    from engine import OverviewRequest, Question

DEFAULT_PERIOD = timedelta(days=1)  # for a person without earlier messages


async def apply_overview(context: BotContext, request: AnswerRequest, question: Question) -> Question:
    """Add the filter and author of an overview to a question; other questions are unchanged."""
    if question.mode == "bypass":
        return question
    question, asked = by_author(question, request.time)
    if asked is None:
        location = _mentioned_channel(request) if channel_of(question) else None
        return replace(question, filters=replace(question.filters, rooms=location.rooms)) if location else question
    within = _mentioned_channel(request) if asked.channel else await _overview_filter(context, request, asked)
    if within is None:
        return question
    if asked.is_catch_up and not asked.time_span.is_bounded and within.rooms:
        within = replace(within, since=await _last_message_time(context, request))
    return apply_overview_request(replace(question, filters=within), asked)


def _mentioned_channel(request: AnswerRequest) -> Filters | None:
    """The one channel that a question mentions; None for none, several, or an unknown one."""
    ids = [each[1:] for each in find_mentions(strip_mention(request.text)) if each.startswith("#")]
    if len(ids) != 1:
        return None
    return Filters(rooms=frozenset({replace(request.location, channel=ids[0], thread="").room}))


async def _overview_filter(context: BotContext, request: AnswerRequest, asked: OverviewRequest) -> Filters:
    """Filter by the mentioned channel or the current one; decisions and open questions are searched everywhere."""
    location = request.location
    in_thread = bool(location.thread) and location.thread != request.message
    summary = asked.overview.kind == "summary"
    if in_thread and (asked.place == "thread" or (summary and not asked.place and not asked.time_span.is_bounded)):
        return Filters(documents=frozenset({thread_key(location.room, location.thread)}))
    here = asked.place in {"channel", "thread"} or (summary and asked.place != "everywhere")
    return Filters(rooms=frozenset({location.room})) if here and await _is_channel(context, request) else Filters()


async def _is_channel(context: BotContext, request: AnswerRequest) -> bool:
    try:
        return (await context.audience.get_channel(request.location)).kind != "direct"
    except PlatformError:
        return True


async def _last_message_time(context: BotContext, request: AnswerRequest) -> datetime:
    """The time of the asker's previous message in the channel."""
    last = await context.store.messages.get_last_time(request.location.room, request.person, before=request.time)
    return last or request.time - DEFAULT_PERIOD
