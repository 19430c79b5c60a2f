"""A question of a chat, put as the engine is asked it: in plain words, within the scope of whoever reads the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from bot import texts
from bot.answers.overview_scope import as_overview
from bot.answers.request import spoken
from bot.errors import PlatformError
from bot.permissions import resolver
from bot.permissions.provenance import person_of
from bot.platform.events import Asked
from engine.models import Overview, Question, Within

if TYPE_CHECKING:
    from bot.answers.request import Request
    from bot.context import House
    from bot.permissions.resolver import Reach
    from bot.platform.models import Channel
    from engine.models import Mode


async def put(house: House, request: Request, reach: Reach | None = None) -> Question:
    """What the engine is asked, but for what was said before; the channel's settings apply. `reach`: as `reach_of`."""
    chosen = await house.store.channels.get(request.place.room)
    reach = reach or await reach_of(house, request)
    question = Question(
        await _words(house, request),
        reach.scope,
        mode=cast("Mode", request.mode or chosen.mode or house.settings.mode),
        instructions=f"Answer in {chosen.language}." if chosen.language else "",
        style=chosen.style,
        asker=await _asker(house, request),
        overheard=request.overheard,
    )
    return _lately(question, request) if request.since else await as_overview(house, request, question)


async def reach_of(house: House, request: Request) -> Reach:
    """What the answer may draw on; it waits somewhat for spaces that are suspended."""
    return await house.readers.reach(request.place, person_of(request), wait=resolver.MOVING_FOR_QUESTIONS)


async def _asker(house: House, request: Request) -> str:
    """The name of the person who asks, empty if the platform does not say it."""
    mention = f"<@{request.person}>"
    try:
        name = await house.platform(request.place).readable(request.place.workspace, mention)
    except PlatformError:
        return ""
    return "" if name == mention else name.strip().removeprefix("@")


async def _words(house: House, request: Request) -> str:
    """The question with names in place of ids."""
    text = spoken(request.text)
    try:
        return (await house.platform(request.place).readable(request.place.workspace, text)).strip()
    except PlatformError:
        return text


async def heading(house: House, request: Request, channel: Channel | None) -> str:
    """What stands above an answer to a command that others read, too: they do not see its question. Else empty."""
    others = not request.private and (channel is None or channel.kind != "direct")
    text = await _words(house, request) if others and isinstance(request.origin, Asked) else ""
    if not text:
        return ""
    place = request.place
    try:
        asker = await house.readers.person(place.platform, place.workspace, request.person)
    except PlatformError:
        return ""
    return texts.asked_by(asker.name, text)


def _lately(question: Question, request: Request) -> Question:
    """A question about whatever was said in a channel since a time."""
    within = Within(rooms=frozenset({request.place.room}), since=request.since)
    return replace(question, within=within, overview=Overview("summary"))
