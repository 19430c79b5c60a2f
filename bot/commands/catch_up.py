"""Summarize a channel since a time, privately for the caller."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from bot.answers.footer import message_time
from bot.answers.request import AnswerRequest, answer_id
from bot.errors import NotAllowed
from bot.i18n import gettext
from bot.permissions.askers import AskerPolicy
from bot.platform.models import Card
from bot.text.format import format_utc, parse_since, pluralize
from bot.text.markdown import markdown_link, sanitize_inline
from bot.texts.questions import CATCH_UP_QUESTION, SUMMARY_QUESTION
from engine import Filters, Question

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bot.commands.context import CommandContext
    from engine import Source

DEFAULT_PERIOD = timedelta(days=1)
MAX_QUOTED = 20  # messages
MAX_QUOTE_LENGTH = 200  # characters of one


async def catch_up_command(call: CommandContext) -> Card | None:
    """Summarize this channel since a time, or since the caller's last message; None: the answer follows."""
    policy = AskerPolicy(call.store, call.services.context.audience)
    if refusal := await policy.find_refusal(call.location, call.person):
        raise NotAllowed(refusal)
    time = parse_since(call.arguments, call.now) if call.arguments else await _last_message_time(call)
    newest = await call.find_last_message_time()
    if newest is None or newest < time:
        return Card(gettext("I have read no messages here since {time}.").format(time=format_utc(time)))
    request = AnswerRequest(
        answer_id(call.location, call.invocation.id),
        call.location,
        call.person,
        CATCH_UP_QUESTION.format(time=format_utc(time)),
        call.now,
        private=True,
        handle=call.invocation.handle,
        since=time,
    )
    if call.settings.llm_model:
        await call.services.answer_service.answer(request)
        return None
    refusal, _ = await call.services.answer_service.find_refusal(request)  # it counts as a question, too
    if refusal:
        raise NotAllowed(refusal)
    return await _quote_messages(call, time)


async def summarize_thread(call: CommandContext) -> None:
    """Summarize the thread of the message whose menu it was chosen from, for the caller alone."""
    message, location = call.invocation.message, call.location
    if message is not None:
        location = replace(location, thread=message.reply_thread)
    await call.services.answer_service.answer(
        AnswerRequest(
            answer_id(location, call.invocation.id),
            location,
            call.person,
            SUMMARY_QUESTION,
            call.now,
            private=True,
            handle=call.invocation.handle,
        )
    )


async def _quote_messages(call: CommandContext, time: datetime) -> Card:
    """Without a language model: quote the messages, the newest last."""
    within = Filters(rooms=frozenset({call.location.room}), since=time)
    question = Question(
        CATCH_UP_QUESTION.format(time=format_utc(time)),
        await call.resolve_scope(),
        mode="naive",
        filters=within,
        chunk_top_k=60,
        threshold=-1.0,
    )
    sources = (await call.engine.retrieve(question)).sources
    recent = sorted((each for each in sources if each.time and each.time >= time), key=lambda each: each.time or time)
    messages = _one_per_file(recent)
    if not messages:
        return Card(gettext("I found no messages here since {time}.").format(time=format_utc(time)))
    lines = [_format_line(each) for each in messages[-MAX_QUOTED:]]
    heading = gettext("Messages here since {time}").format(time=format_utc(time))
    if len(messages) > MAX_QUOTED:
        earlier = len(messages) - MAX_QUOTED
        lines += ["", pluralize(earlier, "… and {count} earlier one.", "… and {count} earlier ones.")]
    return Card("\n".join([f"**{heading}**", *lines]))


def _one_per_file(sources: Sequence[Source]) -> list[Source]:
    """The messages, and the first passage of each file."""
    found: dict[object, Source] = {}
    for each in sources:
        found.setdefault(each.number if message_time(each) else each.document, each)
    return list(found.values())


def _format_line(source: Source) -> str:
    if not message_time(source):
        return f"- {markdown_link(source.title, source.link)}"
    text = sanitize_inline(" ".join(source.text.partition(": ")[2].split()))
    short = f"{text[: MAX_QUOTE_LENGTH - 1]}…" if len(text) > MAX_QUOTE_LENGTH else text
    return f"- {markdown_link(f'{source.label} UTC', source.link)}: {short}"


async def _last_message_time(call: CommandContext) -> datetime:
    """When the caller last posted here, if that is known; otherwise DEFAULT_PERIOD ago."""
    return await call.store.messages.get_last_time(call.location.room, call.person) or call.now - DEFAULT_PERIOD
