"""Summarize a channel since a time, privately for the caller."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from bot import texts
from bot.answers.footer import message_time
from bot.answers.question import AnswerRequest, answer_id
from bot.errors import NotAllowed, PlatformError
from bot.i18n import N_, gettext
from bot.permissions.askers import AskerPolicy
from bot.platform.models import Card
from bot.text.format import format_local, format_utc, parse_since, pluralize
from bot.text.markdown import markdown_link, sanitize_inline
from bot.text.speech.chat_sentences import split_sentences
from bot.text.speech.phrases import NO_HARM, YES_NO
from bot.text.speech.question_rules import is_small_talk
from bot.texts.suggestions import CATCH_UP_QUESTION, SUMMARY_QUESTION
from engine import Filters, Question, Source
from engine.llm.offline.points.open_questions import asks
from engine.llm.offline.points.weights import WeighedConversation, weigh_conversations
from engine.models import Overview
from engine.text.conversations.small_talk import is_small_talk as states_nothing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime, tzinfo

    from bot.commands.context import CommandContext
    from engine import Context
    from engine.llm.offline.points.weights import PointKind

DEFAULT_PERIOD = timedelta(days=1)
MAX_QUOTED = 20  # messages of whole conversations
MAX_POINTS = 10  # decisions, questions and mentions of others
MAX_QUOTE_LENGTH = 200  # characters of one
POINT_LABELS: Mapping[PointKind, str] = {
    "asked": N_("Asks you"),
    "mentioned": N_("Mentions you"),
    "decision": N_("Decision"),
    "question": N_("Open question"),
}


async def catch_up_command(call: CommandContext) -> Card | None:
    """Summarize this channel since a time, or since the caller's last message; None: the answer follows."""
    policy = AskerPolicy(call.store, call.services.context.audience)
    if refusal := await policy.find_refusal(call.location, call.person):
        raise NotAllowed(refusal)
    zone = await call.services.context.find_zone(call.location, call.person)
    now = call.now.astimezone(zone)
    time = parse_since(call.arguments, now) if call.arguments else await _last_message_time(call)
    newest = await call.find_last_message_time()
    if newest is None or newest < time:
        shown = format_local(time, zone)
        return Card(gettext("I have read no messages here since {time}.").format(time=shown))
    request = AnswerRequest(
        answer_id(call.location, call.invocation.id),
        call.location,
        call.person,
        CATCH_UP_QUESTION.format(time=format_local(time, zone)),
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
    return await _quote_messages(call, time, zone)


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


async def _quote_messages(call: CommandContext, time: datetime, zone: tzinfo) -> Card:
    """Quote the weightiest conversations, whole and by time, without a language model, and link the first message."""
    context = await _retrieve_missed(call, time)
    sources = _one_per_file([source for source in context.sources if source.time and source.time >= time])
    found = await asyncio.to_thread(weigh_conversations, sources, await _find_name(call))
    shown = _choose_conversations(found)
    if not shown:
        return Card(gettext("I found no messages here since {time}.").format(time=format_local(time, zone)))
    lines = [line for conversation in shown for line in _format_conversation(conversation, zone)]
    heading = gettext("Messages here since {time}").format(time=format_local(time, zone))
    quoted = [source for conversation in shown for source in conversation.sources]
    is_cut = context.overview is not None and context.overview.truncated
    notices = ["", gettext(texts.ONLY_NEWEST)] if is_cut else []
    return Card("\n".join([f"**{heading}**", *lines, *await _link_others(call, time, quoted, sources), *notices]))


async def _retrieve_missed(call: CommandContext, time: datetime) -> Context:
    """What was said and shared here since then, of which the caller may read everything."""
    within = Filters(rooms=frozenset({call.location.room}), since=time)
    question = Question(
        CATCH_UP_QUESTION.format(time=format_utc(time)),
        await call.resolve_scope(),
        filters=within,
        overview=Overview("summary"),
    )
    return await call.engine.retrieve(question)


def _choose_conversations(weighed: Sequence[WeighedConversation]) -> list[WeighedConversation]:
    """The weightiest conversations by time: whole ones with at most MAX_QUOTED messages, the points of others.

    A longer one is quoted with its first and last messages. What nobody misses, such as "ok", is left out.
    """
    chosen, left, points = list[WeighedConversation](), MAX_QUOTED, MAX_POINTS
    for conversation in map(_without_small_talk, weighed):
        first, *others = conversation.sources
        if len(conversation.sources) <= left:
            chosen.append(conversation)
            left -= len(conversation.sources)
        elif left == MAX_QUOTED:
            chosen.append(replace(conversation, sources=(first, *others[-(left - 1) :])))
            left = 0
        elif alone := [source for source in conversation.sources if source.number in conversation.points][:points]:
            chosen.append(replace(conversation, sources=tuple(alone)))
            points -= len(alone)
    return sorted(chosen, key=lambda each: str(each.sources[0].time))


def _without_small_talk(conversation: WeighedConversation) -> WeighedConversation:
    """A conversation without messages that say nothing; whole if all are such.

    A short message may answer a question: "yes" and "no" are kept, the one that follows a question directly, and later
    all but thanks and the like.
    """
    said, has_question, is_waiting = list[Source](), False, False
    for source in conversation.sources:
        text = _message_text(source)
        if source.number in conversation.points or not (message_time(source) and is_small_talk(text)):
            is_waiting = asks(text) or text.endswith(("?", "？"))
            has_question = has_question or is_waiting
        elif is_waiting or _says_yes_or_no(text) or (has_question and not states_nothing(text)):
            is_waiting = False
        else:
            continue
        said.append(source)
    return replace(conversation, sources=tuple(said)) if said else conversation


def _says_yes_or_no(text: str) -> bool:
    words = {word for sentence in split_sentences(text) for word in sentence.words}
    return not YES_NO.isdisjoint(words) and NO_HARM.isdisjoint(words)


def _message_text(source: Source) -> str:
    return " ".join(source.text.partition(": ")[2].split())


def _format_conversation(conversation: WeighedConversation, zone: tzinfo) -> list[str]:
    """A line for each message, the replies below the first one."""
    first, *others = (
        _format_line(source, conversation.points.get(source.number), zone) for source in conversation.sources
    )
    return [f"- {first}", *(f"  - {other}" for other in others)]


async def _link_others(
    call: CommandContext, time: datetime, quoted: Sequence[Source], sources: Sequence[Source]
) -> list[str]:
    """How many messages of others, and files, are not quoted, with a link to the first message; nothing without any.

    Counts the stored messages: the sources may be only the newest of them.
    """
    shown = {source.passage for source in quoted}
    records = await call.store.messages.list_between(call.location.room, time, call.now)
    missed = [record for record in records if record.document and record.author != call.person]
    files = {source.document for source in sources if not message_time(source)} - {source.document for source in quoted}
    others = sum(record.id not in shown for record in missed) + len(files)
    if not others or not missed:
        return []
    place = replace(call.location, thread=missed[0].thread)
    link = call.services.context.platform_for(place).message_link(place, missed[0].id)
    start = markdown_link(gettext("start at the first one"), link)
    left_out = pluralize(others, "… and {count} other message", "… and {count} other messages")
    return ["", f"{left_out}: {start}"]


async def _find_name(call: CommandContext) -> str:
    """The caller's name; empty if it cannot be looked up."""
    location = call.location
    try:
        return (await call.services.context.audience.get_person_at(location, call.person)).name
    except PlatformError:
        return ""


def _one_per_file(sources: Sequence[Source]) -> list[Source]:
    """The messages, and the first passage of each file."""
    found: dict[object, Source] = {}
    for source in sources:
        found.setdefault(source.number if message_time(source) else source.document, source)
    return list(found.values())


def _format_line(source: Source, kind: PointKind | None, zone: tzinfo) -> str:
    if source.time is None or not message_time(source):
        return markdown_link(source.title, source.link)
    text = sanitize_inline(_message_text(source))
    short = f"{text[: MAX_QUOTE_LENGTH - 1]}…" if len(text) > MAX_QUOTE_LENGTH else text
    label = f"**{gettext(POINT_LABELS[kind])}** · " if kind else ""
    return f"{label}{markdown_link(f'{source.author}, {format_local(source.time, zone)}', source.link)}: {short}"


async def _last_message_time(call: CommandContext) -> datetime:
    """The time at which the caller last posted here, if that is known; otherwise DEFAULT_PERIOD ago."""
    return await call.store.messages.get_last_time(call.location.room, call.person) or call.now - DEFAULT_PERIOD
