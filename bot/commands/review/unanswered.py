"""List the questions that found nothing or whose answer was voted down, grouped by what they ask, for managers.

A question of a closed channel is listed only there. One that was asked outside of the chat is listed for managers who
may read all that its answer rests on; a private one of the chat is listed nowhere.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from bot import texts
from bot.answers.review.lookup import QuestionWords, provenance_of
from bot.errors import PlatformError
from bot.i18n import gettext
from bot.permissions.audience import home_space, workspace_space
from bot.permissions.provenance import can_read
from bot.platform.models import Card
from bot.text.format import format_day, pluralize
from bot.text.markdown import escape_markdown, markdown_link
from bot.text.speech.mentions import strip_mention
from bot.texts import review as review_texts
from engine.errors import ModelError

if TYPE_CHECKING:
    from datetime import datetime

    from bot.commands.context import CommandContext, PersonAtPlace
    from bot.platform.models import Location
    from bot.store import UnansweredQuestion, VerifiedAnswer

PERIOD = timedelta(days=30)
MAX_QUESTIONS = 200  # the newest, which are compared with each other
MAX_GROUPS = 10
MAX_REASONS, MAX_COMMENT_LENGTH = 5, 300  # reasons of one group; characters of a comment
MAX_REPLIES = 10  # in threads, of one group, which are fetched to be shown
MAX_ASKERS = 5  # names of one group
GROUP_SIMILARITY = 0.7  # of questions that are listed together


@dataclass(slots=True)
class Group:
    """Questions that ask nearly the same, the newest first, with their texts."""

    questions: list[UnansweredQuestion]
    texts: list[str]


async def unanswered_command(call: CommandContext) -> Card:
    """List questions without a good answer, and verified answers to look at again. Raises NotAllowed."""
    await call.require_workspace_manager(gettext("see unanswered questions"))
    since = call.now - PERIOD
    groups, withdrawn = await find_unanswered(call, outside_of_channels=not call.is_public)
    lines = [line for group in groups for line in await _format_group(call, group)]
    if lines:
        lines = [f"**{gettext('Questions without a good answer since {day}').format(day=format_day(since))}**", *lines]
        lines.append(
            gettext("{verify} takes a reply as the answer, {pin} gives one.").format(
                verify=call.format_example("verify LINK"), pin=call.format_example("pin")
            )
        )
    again = [_format_withdrawn(call, answer) for answer in withdrawn]
    lines += [f"**{gettext('Verified answers to look at again')}**", *again] if again else []
    return Card("\n".join(lines) or gettext("There is no unanswered question that I can show here."))


async def find_unanswered(
    call: PersonAtPlace,
    limit: int = MAX_GROUPS,
    *,
    outside_of_channels: bool,
    since: datetime | None = None,
    only_here: bool = False,
) -> tuple[list[Group], list[VerifiedAnswer]]:
    """At most `limit` groups of questions without a good answer, and the verified answers to look at again.

    Those of the channel where the command was sent, and those of open channels that the caller can read; for a manager
    alone those, too, that were asked outside of the chat, if the caller may read what their answers rest on.
    `only_here`: no others than those of the channel where the command was sent.
    """
    shown, place = await _Rooms.load(call), call.location
    found = await call.store.unanswered.list_since(
        *(place.platform, place.workspace, since or call.now - PERIOD, MAX_QUESTIONS),
        outside_of_channels=outside_of_channels,
    )
    asked = [
        question
        for question in found
        if question.question != texts.DIGEST_QUESTION
        and (not only_here or question.location.room == place.room)
        and await shown.contains_question(question)
    ]
    groups = await _remove_verified(call, await _group(call, asked), limit)
    withdrawn = await call.store.verified_answers.list_withdrawn(place.platform, place.workspace)
    return groups, [answer for answer in withdrawn if await shown.contains(answer.location)]


@dataclass(slots=True)
class _Rooms:
    """Which rooms' questions are shown: this one's, and those of open channels that the caller can read."""

    call: PersonAtPlace
    known: dict[str, bool]

    @classmethod
    async def load(cls, call: PersonAtPlace) -> _Rooms:
        room = call.location.room
        return cls(call, {room: await call.can_read(room)} if call.location.channel else {})

    async def contains_question(self, question: UnansweredQuestion) -> bool:
        if question.location.channel:
            return await self.contains(question.location)
        stored = await self.call.store.answers.get(question.answer)  # of the page; it is listed without its asker
        return stored is not None and await self.call.can_read_answer(stored)

    async def contains(self, location: Location) -> bool:
        room = location.room
        if room not in self.known:
            self.known[room] = False
            with suppress(PlatformError):
                channel = await self.call.services.context.audience.get_channel_info(location)
                is_open = home_space(channel) == workspace_space(location.platform, location.workspace)
                self.known[room] = is_open and await self.call.can_read(room)
        return self.known[room]


async def _group(call: PersonAtPlace, questions: list[UnansweredQuestion]) -> list[Group]:
    """Group questions by similarity, the most frequent first."""
    platform = call.services.context.platform_for(call.location)
    plain = [
        await platform.to_plain_text(call.location.workspace, strip_mention(unanswered_question.question))
        for unanswered_question in questions
    ]
    similarities = None
    with suppress(ModelError):  # without vectors, only equal questions are grouped
        similarities = await call.engine.measure_similarities(plain)
    groups: dict[int, Group] = {}
    for number, (question, text) in enumerate(zip(questions, plain, strict=True)):
        for first, group in groups.items():
            is_close = similarities is not None and similarities[first][number] >= GROUP_SIMILARITY
            if is_close or text.casefold() == group.texts[0].casefold():
                group.questions.append(question)
                group.texts.append(text)
                break
        else:
            groups[number] = Group([question], [text])
    return sorted(groups.values(), key=lambda each: -len(each.questions))


async def _remove_verified(call: PersonAtPlace, groups: list[Group], limit: int) -> list[Group]:
    """The first groups without a verified answer that everyone can read where it was asked last."""
    place = call.location
    listed = await call.store.verified_answers.list_questions(place.platform, place.workspace)
    verified = [(id_, QuestionWords.parse(question)) for id_, _, question in listed]
    left = list[Group]()
    for group in groups:
        if len(left) < limit and not await _is_verified(call, group, verified):
            left.append(group)
    return left


async def _is_verified(call: PersonAtPlace, group: Group, verified: list[tuple[str, QuestionWords]]) -> bool:
    asked = list(map(QuestionWords.parse, group.texts))
    audience, newest = call.services.context.audience, group.questions[0]
    reader = "" if newest.location.channel else newest.asker
    for id_, words in verified:
        if any(question.min_similarity(words) is not None for question in asked):
            found = await call.store.verified_answers.get(id_)
            if found is not None and await can_read(audience, provenance_of(found), newest.location, reader):
                return True
    return False


async def _format_group(call: CommandContext, group: Group) -> list[str]:
    newest = group.questions[0]
    platform = call.services.context.platform_for(newest.location)
    link = platform.message_link(newest.location, newest.message_id) if newest.message_id else ""
    down = sum(question.votes_down for question in group.questions)
    votes = f", {pluralize(down, '{count} vote down', '{count} votes down')}" if down else ""
    count = pluralize(len(group.questions), "{count} time", "{count} times")
    names = await _name_askers(call, group)
    reasons = await list_reasons(call, group)
    lines = [f"  - {_format_reason(*reason)}" for reason in reasons[:MAX_REASONS]]
    lines += [f"  - … (+{len(reasons) - MAX_REASONS})"] if len(reasons) > MAX_REASONS else []
    return [f"- {markdown_link(group.texts[0], link)} – {count}{votes}{f': {names}' if names else ''}", *lines]


async def list_reasons(call: PersonAtPlace, group: Group) -> list[tuple[str, str]]:
    """Why the answers of a group did not help: reasons and comments, from forms and from replies in their threads."""
    places, feedback = {question.answer: question.location for question in group.questions}, call.store.feedback
    given = await feedback.list_reasons(places.keys())
    for answer, reason, message in (await feedback.list_replies(places.keys()))[:MAX_REPLIES]:
        given.append((reason, await _read_reply(call, places[answer], message)))
    return [row for row in given if any(row)]


async def _read_reply(call: PersonAtPlace, location: Location, message: str) -> str:
    """What a reply says now; empty if it is gone, was forgotten, or its author asked not to be read."""
    context, store = call.services.context, call.store
    with suppress(PlatformError):
        found = await context.platform_for(location).fetch_message(location, message)
        if found is None or await store.messages.find_tombstones(location.room, [message]):
            return ""
        if await store.opt_outs.is_opted_out(location.platform, location.workspace, found.author, found.time):
            return ""
        text = await context.platform_for(location).to_plain_text(location.workspace, strip_mention(found.text))
        return " ".join(text.split())
    return ""


def _format_reason(reason: str, comment: str) -> str:
    """Why an answer did not help, without who said it."""
    label = gettext(review_texts.REASONS.get(reason, ""))
    return ": ".join(filter(None, (label, f"“{escape_markdown(comment, MAX_COMMENT_LENGTH)}”" if comment else "")))


async def _name_askers(call: PersonAtPlace, group: Group) -> str:
    """Who asked in channels, the most frequent first."""
    counted = Counter(question.asker for question in group.questions if question.location.channel)
    names = []
    for person, count in counted.most_common(MAX_ASKERS):
        name = await find_name(call, person)
        names.append(f"{escape_markdown(name)}{f' ({count})' if count > 1 else ''}")
    return ", ".join(names) + (" …" if len(counted) > MAX_ASKERS else "")


async def find_name(call: PersonAtPlace, person: str) -> str:
    """The name of a person of the caller's workspace; a word for somebody if it is unknown."""
    place = call.location
    try:
        return (await call.services.context.audience.get_person_at(place, person)).name
    except PlatformError:
        return gettext(review_texts.SOMEBODY)


def _format_withdrawn(call: CommandContext, verified: VerifiedAnswer) -> str:
    location = verified.location
    link = call.services.context.platform_for(location).message_link(location, verified.message)
    title = markdown_link(gettext(review_texts.WITHDRAWN_TITLE), link if verified.message else "")
    return f"- {title} ({format_day(verified.verified_at)})"
