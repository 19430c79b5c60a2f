"""Which messages an overview is about that somebody asks for in a chat: a thread, a channel, or all they may read."""

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

DEFAULT_PERIOD = timedelta(days=1)  # what somebody missed of whom nothing is known


async def apply_overview(house: BotContext, request: AnswerRequest, question: Question) -> Question:
    """The question, narrowed to what it wants an overview of and to whose messages; any other question as it is."""
    if question.mode == "bypass":
        return question
    question, asked = by_author(question, request.time)
    if asked is None:
        place = _mentioned_channel(request) if channel_of(question) else None
        return replace(question, filters=replace(question.filters, rooms=place.rooms)) if place else question
    within = _mentioned_channel(request) if asked.channel else await _overview_filter(house, request, asked)
    if within is None:
        return question
    if asked.is_catch_up and not asked.time_span.is_bounded and within.rooms:
        within = replace(within, since=await _last_message_time(house, request))
    return apply_overview_request(replace(question, filters=within), asked)


def _mentioned_channel(request: AnswerRequest) -> Filters | None:
    """The channel that a question mentions; None if it mentions none that can be told, or several."""
    ids = [each[1:] for each in find_mentions(strip_mention(request.text)) if each.startswith("#")]
    if len(ids) != 1:
        return None
    return Filters(rooms=frozenset({replace(request.location, channel=ids[0], thread="").room}))


async def _overview_filter(house: BotContext, request: AnswerRequest, asked: OverviewRequest) -> Filters:
    """What a question names, or else where it is asked; decisions and open questions are looked for everywhere."""
    place = request.location
    in_thread = bool(place.thread) and place.thread != request.message
    summary = asked.overview.wanted == "summary"
    if in_thread and (asked.place == "thread" or (summary and not asked.place and not asked.time_span.is_bounded)):
        return Filters(documents=frozenset({thread_key(place.room, place.thread)}))
    here = asked.place in {"channel", "thread"} or (summary and asked.place != "everywhere")
    return Filters(rooms=frozenset({place.room})) if here and await _is_channel(house, request) else Filters()


async def _is_channel(house: BotContext, request: AnswerRequest) -> bool:
    try:
        return (await house.audience.get_channel(request.location)).kind != "direct"
    except PlatformError:
        return True


async def _last_message_time(house: BotContext, request: AnswerRequest) -> datetime:
    """When the asker last said something in the channel before."""
    last = await house.store.messages.get_last_time(request.location.room, request.person, before=request.time)
    return last or request.time - DEFAULT_PERIOD
