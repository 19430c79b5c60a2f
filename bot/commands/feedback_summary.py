"""What people thought of the answers, for managers: how many thumbs, and where the latest answers stand that failed."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from bot.errors import PlatformError
from bot.text.markdown import linked
from bot.text.times import ago

if TYPE_CHECKING:
    from bot.commands.context import Call
    from bot.store import Stored

LATELY = timedelta(days=30)
LISTED = 3  # answers
LOOKED_AT = 20  # answers among which those are sought that the caller may read


async def judgements(call: Call) -> list[str]:
    """Thumbs of the last month in this workspace; nothing for who manages nothing, and if there are none."""
    place, since = call.place, call.now - LATELY
    with suppress(PlatformError):
        up, down = await call.store.feedback.count(place.platform, place.workspace, since)
        if (up or down) and await call.manages():
            lines = [f"**Answers of the last {LATELY.days} days**: {up:,} 👍, {down:,} 👎"]
            return [*lines, *await _disliked(call)]
    return []


async def _disliked(call: Call) -> list[str]:
    """Where the latest answers stand that somebody did not like, in channels that the caller reads."""
    place, found = call.place, list[str]()
    for each in await call.store.answers.disliked(place.platform, place.workspace, call.now - LATELY, LOOKED_AT):
        if len(found) < LISTED and await call.reads(each.place.room):
            found += await _where(call, each)
    return ["The latest with a 👎:", *found] if found else []


async def _where(call: Call, answer: Stored) -> list[str]:
    """A line that leads to the question, or where nobody typed one, to the answer."""
    message = next(filter(None, (answer.message, *answer.messages)), "")
    if not message:
        return []
    name, time = await call.store.rooms.name(answer.place.room), ago(answer.time, call.now)
    link = call.parts.house.platform(answer.place).link(answer.place, message)
    return [f"- {linked(f'#{name}, {time}' if name else time, link)}"]
