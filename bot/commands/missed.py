"""What somebody missed in a channel: a question about what was said there since a time, answered to them alone."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bot import texts
from bot.answers.footer import said_at
from bot.answers.request import Request, answer_id
from bot.platform.models import Card, utc
from bot.text.markdown import linked
from bot.text.times import since
from engine.models import Question, Within

if TYPE_CHECKING:
    from datetime import datetime

    from bot.commands.context import Call
    from engine.models import Source

USUALLY = timedelta(days=1)
QUOTED = 20  # messages
LONGEST = 200  # characters of one
QUESTION = (
    "What happened here since {time}? Tell it by subject, the most important first: what was decided, what is asked "
    "and not answered, who waits for whom."
)


async def missed(call: Call) -> Card | None:
    """Answer what was said in this channel since a time, or since the caller last said something; None: under way."""
    time = since(call.words, call.now) if call.words else await _last_word(call)
    newest = await call.store.messages.newest(call.place.room)
    if newest is None or newest < time:
        return Card(f"Nothing was said here since {utc(time)}, as far as I read this channel.")
    if not call.settings.model:
        return await _quoted(call, time)
    await call.parts.answering.answer(
        Request(
            answer_id(call.place, call.called.id),
            call.place,
            call.called.person,
            QUESTION.format(time=utc(time)),
            call.now,
            private=True,
            handle=call.called.handle,
            since=time,
        )
    )
    return None


async def _quoted(call: Call, time: datetime) -> Card:
    """Without a model there is nobody to tell it by subject: what was said, the newest last."""
    within = Within(rooms=frozenset({call.place.room}), since=time)
    question = Question(
        QUESTION.format(time=utc(time)),
        await call.scope(),
        mode="naive",
        within=within,
        chunk_top_k=60,
        threshold=-1.0,
    )
    sources = (await call.engine.recall(question)).sources
    said = sorted((each for each in sources if each.time and each.time >= time), key=lambda each: each.time or time)
    if not said:
        return Card(f"I found nothing that was said here since {utc(time)}.")
    lines = [_line(each) for each in said[-QUOTED:]]
    more = f"\n\n… and {len(said) - QUOTED} before that." if len(said) > QUOTED else ""
    return Card(f"**What was said here since {utc(time)}**\n" + "\n".join(lines) + more)


def _line(source: Source) -> str:
    text = texts.harmless(" ".join(source.text.partition(": ")[2].split()))
    short = f"{text[: LONGEST - 1]}…" if len(text) > LONGEST else text
    who = f"{source.label} UTC" if said_at(source) else source.label
    return f"- {linked(who, source.link)}: {short}"


async def _last_word(call: Call) -> datetime:
    """When the caller last said something here, as far as that is known; else a day ago."""
    return await call.store.messages.last_of(call.place.room, call.called.person) or call.now - USUALLY
