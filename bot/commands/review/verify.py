"""Verify answers, correct them, give answers of one's own, and list or remove what was verified in a channel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.answers.review.lookup import provenance_of
from bot.answers.review.rights import may_verify
from bot.answers.review.verification import AnswerVerifier
from bot.capabilities.management.requests import PinAnswer, RemoveVerified, VerifyAnswer
from bot.commands.review.target import find_answer, find_target, split_link
from bot.errors import NotAllowed
from bot.i18n import gettext
from bot.platform.models import Card, Message
from bot.store.models import message_key
from bot.text.arguments import parse_arguments
from bot.text.format import format_day, pluralize
from bot.text.markdown import escape_markdown, markdown_link
from bot.texts import review as review_texts
from engine.errors import InvalidQuestion, NotFound

if TYPE_CHECKING:
    from bot.commands.context import CommandContext, PersonAtPlace
    from bot.platform.models import Location
    from bot.store import VerifiedAnswer

SHOWN_ID_LENGTH = 6  # characters of an id that tell the answers of a channel apart
MAX_LISTED = 30  # answers
QUOTES = '"“”„«»'


async def verify_command(call: CommandContext) -> Card:
    """Verify an answer or a reply; `list` and `remove ID` are about those of this channel."""
    first, _, rest = call.arguments.partition(" ")
    match first.casefold():
        case "list":
            return await _list_verified(call)
        case "remove":
            return await _remove(call, rest.strip())
    link, words = split_link(call.arguments)
    if words:
        raise InvalidQuestion(
            gettext("Which answer?"),
            hint=gettext("{command} means the last one here; or add a link.").format(
                command=call.format_example("verify")
            ),
        )
    target = await find_target(call, link)
    verifier = _verifier(call)
    if isinstance(target, Message):
        async with call.recording(PinAnswer(target.location.room, "", "")) as change:
            change.observe({"documents": [message_key(target.location.room, target.id)]})
            return _confirm(call, target.location, await verifier.take_reply(target, call.person))
    async with call.recording(VerifyAnswer(target.id)):
        return _confirm(call, target.location, await verifier.verify(target, call.person))


async def correct_answer(call: CommandContext, words: str) -> Card:
    """Verify an answer in other words: `[LINK] TEXT`."""
    link, text = split_link(words)
    text = text.strip(QUOTES).strip()
    if not text:
        raise InvalidQuestion(
            gettext("What is the correct answer?"),
            hint=gettext("For example {command}").format(command=call.format_example("correct answer On Friday.")),
        )
    target = await find_answer(call, link)
    async with call.recording(VerifyAnswer(target.id)):
        return _confirm(call, target.location, await _verifier(call).verify(target, call.person, text))


async def pin_command(call: CommandContext) -> Card:
    """Give an answer of one's own to a question."""
    words = parse_arguments(call.arguments)
    if len(words.positional) != 2:
        example = call.format_example('pin "Where do I park?" "In the yard."')
        raise InvalidQuestion(
            gettext("A question and an answer are needed."),
            hint=gettext("Put each in quotation marks, for example {example}.").format(example=example),
        )
    async with call.recording(PinAnswer(call.location.room, "", "")):
        return Card(await _verifier(call).pin(call.location, call.person, *words.positional))


def _confirm(call: CommandContext, source: Location, sentence: str) -> Card:
    """The confirmation; without the question if others see it who may not be able to read where it was asked."""
    is_readable = source.room == call.location.room or not call.is_public
    return Card(sentence if is_readable else gettext(review_texts.VERIFIED_ELSEWHERE))


def _verifier(call: CommandContext) -> AnswerVerifier:
    return AnswerVerifier(call.services.context, call.now)


async def _list_verified(call: CommandContext) -> Card:
    """The verified answers of this channel whose sources the caller can read, for those who may verify."""
    await require_reviewer(call)
    found = await call.store.verified_answers.list_in_room(call.location.room)
    lines = [await _format_line(call, answer) for answer in found[:MAX_LISTED] if await can_read_verified(call, answer)]
    if not lines:
        return Card(gettext("Nothing is verified in this channel yet."))
    older = len(found) - MAX_LISTED
    more = [pluralize(older, "… and {count} older one.", "… and {count} older ones.")] if older > 0 else []
    hint = gettext("{command} removes one.").format(command=call.format_example("verify remove ID"))
    return Card("\n".join([f"**{gettext('Verified answers of this channel')}**", *lines, *more, hint]))


async def _format_line(call: CommandContext, verified: VerifiedAnswer) -> str:
    location = verified.location
    name = (await call.services.context.audience.get_person_at(location, verified.verifier)).name
    by = f"{escape_markdown(name)}, {format_day(verified.verified_at)}"
    title = verified.question or gettext(review_texts.WITHDRAWN_TITLE)
    link = call.services.context.platform_for(location).message_link(location, verified.message)
    return f"- `{verified.id[:SHOWN_ID_LENGTH]}` {markdown_link(title, link if verified.message else '')} ({by})"


async def _remove(call: CommandContext, words: str) -> Card:
    """Remove the verified answer whose id begins with the words. Raises NotFound, and InvalidQuestion for several."""
    await require_reviewer(call)
    start, found = words.strip("`").casefold(), await call.store.verified_answers.list_in_room(call.location.room)
    chosen = [answer.id for answer in found if start and answer.id.startswith(start)]
    hint = gettext("{command} shows them.").format(command=call.format_example("verify list"))
    if len(chosen) > 1:
        raise InvalidQuestion(gettext("Several verified answers have an id that begins like this."), hint=hint)
    if not chosen:
        raise NotFound(gettext("There is no such verified answer here."), hint=hint)
    async with call.recording(RemoveVerified(call.location.room, chosen[0])):
        return Card(await remove_verified(call, chosen[0]))


async def remove_verified(call: PersonAtPlace, id_: str) -> str:
    """Remove a verified answer of this channel by its whole id; returns the confirmation.

    Raises NotAllowed and NotFound.
    """
    await require_reviewer(call)
    if id_ not in {answer.id for answer in await call.store.verified_answers.list_in_room(call.location.room)}:
        raise NotFound(gettext("There is no such verified answer here."), hint="The list shows their ids.")
    await call.store.verified_answers.delete(id_, call.location.room)
    return gettext("Removed. I answer that question from my sources again.")


async def is_reviewer(call: PersonAtPlace) -> bool:
    """Whether the caller may verify answers in this channel."""
    return await may_verify(call.services.context, call.location, call.person)


async def require_reviewer(call: PersonAtPlace) -> None:
    """Raise NotAllowed for everyone but managers and experts of this channel."""
    if not await is_reviewer(call):
        raise NotAllowed(gettext(review_texts.CANNOT_VERIFY))


async def can_read_verified(call: PersonAtPlace, verified: VerifiedAnswer) -> bool:
    """Whether the caller can read all that a verified answer rests on."""
    return await call.can_read_all(provenance_of(verified))
