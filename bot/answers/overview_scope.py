"""Which messages an overview is about that somebody asks for in a chat: a thread, a channel, or all they may read."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from bot.answers.request import spoken
from bot.errors import PlatformError
from bot.ingest.conversations import thread_key
from engine.answers.mentions import mentioned
from engine.models import Within
from engine.text.author_request import by_author, channel_of
from engine.text.overview_request import narrowed

if TYPE_CHECKING:
    from datetime import datetime

    from bot.answers.request import Request
    from bot.context import House
    from engine.models import Question
    from engine.text.overview_request import OverviewRequest

USUALLY = timedelta(days=1)  # what somebody missed of whom nothing is known


async def as_overview(house: House, request: Request, question: Question) -> Question:
    """The question, narrowed to what it wants an overview of and to whose messages; any other question as it is."""
    if question.mode == "bypass":
        return question
    question, asked = by_author(question, request.time)
    if asked is None:
        place = _of_channel(request) if channel_of(question) else None
        return replace(question, within=replace(question.within, rooms=place.rooms)) if place else question
    within = _of_channel(request) if asked.channel else await _within(house, request, asked)
    if within is None:
        return question
    if asked.missed and not asked.span.given and within.rooms:
        within = replace(within, since=await _last_seen(house, request))
    return narrowed(replace(question, within=within), asked)


def _of_channel(request: Request) -> Within | None:
    """The channel that a question mentions; None if it mentions none that can be told, or several."""
    ids = [each[1:] for each in mentioned(spoken(request.text)) if each.startswith("#")]
    if len(ids) != 1:
        return None
    return Within(rooms=frozenset({replace(request.place, channel=ids[0], thread="").room}))


async def _within(house: House, request: Request, asked: OverviewRequest) -> Within:
    """What a question names, or else where it is asked; decisions and open questions are looked for everywhere."""
    place = request.place
    in_thread = bool(place.thread) and place.thread != request.message
    summary = asked.overview.wanted == "summary"
    if in_thread and (asked.place == "thread" or (summary and not asked.place and not asked.span.given)):
        return Within(documents=frozenset({thread_key(place.room, place.thread)}))
    here = asked.place in {"channel", "thread"} or (summary and asked.place != "everywhere")
    return Within(rooms=frozenset({place.room})) if here and await _is_channel(house, request) else Within()


async def _is_channel(house: House, request: Request) -> bool:
    try:
        return (await house.readers.channel(request.place)).kind != "direct"
    except PlatformError:
        return True


async def _last_seen(house: House, request: Request) -> datetime:
    """When the asker last said something in the channel before."""
    last = await house.store.messages.last_of(request.place.room, request.person, before=request.time)
    return last or request.time - USUALLY
