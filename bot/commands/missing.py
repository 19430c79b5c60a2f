"""What somebody missed in a channel: a question about what was said there since a time, answered to him alone."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bot.asked import Request, answer_id
from bot.chat import Card
from bot.commands.times import shown, since

if TYPE_CHECKING:
    from datetime import datetime

    from bot.commands.call import Call

USUALLY = timedelta(days=1)
QUESTION = (
    "What happened here since {time}? Tell it by subject, the most important first: what was decided, what is asked "
    "and not answered, who waits for whom."
)


async def missed(call: Call) -> Card | None:
    """Answer what was said in this channel since a time, or since the caller last said something; None: under way."""
    time = since(call.words, call.now) if call.words else await _last_word(call)
    newest = await call.store.messages.newest(call.place.room)
    if newest is None or newest < time:
        return Card(f"Nothing was said here since {shown(time)}, as far as I read this channel.")
    await call.parts.answering.answer(
        Request(
            answer_id(call.place, call.called.id),
            call.place,
            call.called.person,
            QUESTION.format(time=shown(time)),
            call.now,
            private=True,
            handle=call.called.handle,
            since=time,
        )
    )
    return None


async def _last_word(call: Call) -> datetime:
    """When the caller last said something here, as far as that is known; else a day ago."""
    place = call.place
    wrote = await call.store.messages.of_author(place.platform, place.workspace, call.called.person)
    return max((each.time for each in wrote if each.room == place.room), default=call.now - USUALLY)
