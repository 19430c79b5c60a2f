"""Which answer or message a command means: that of a link, of a menu, of a reply, or the last answer here."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.i18n import N_, gettext
from bot.platform.models import Message
from bot.text.document_match import candidate_message_ids, is_message_link
from engine.errors import InvalidQuestion, NotFound

if TYPE_CHECKING:
    from bot.commands.context import CommandContext
    from bot.platform.models import Location
    from bot.store import StoredAnswer

NOTHING_ANSWERED = N_("I haven't answered anything here yet.")
UNKNOWN_MESSAGE = N_("I found no answer and no message there that you can read.")


async def find_target(call: CommandContext, link: str = "") -> StoredAnswer | Message:
    """The answer or message that a command means; no private answer if others may see the result.

    Raises InvalidQuestion, NotFound and PlatformError.
    """
    chosen = call.invocation.message
    if link:
        return await _find_linked(call, link)
    if chosen is not None and call.invocation.handle:  # its menu was used
        return await _find_answer(call, chosen.location, chosen.id) or chosen
    if chosen is not None and chosen.replies_to:
        found = await _find_by_ids(call, chosen.location, (chosen.replies_to,))
        if found is not None:
            return found
    thread = call.location.thread if chosen is None or chosen.id != call.location.thread else ""
    asker = "" if call.is_public else call.person
    last = await call.store.answers.get_latest(call.location.room, thread, asker)
    if last is None:
        raise InvalidQuestion(gettext(NOTHING_ANSWERED), hint=gettext("Name one by its link."))
    return last


async def find_answer(call: CommandContext, link: str) -> StoredAnswer:
    """The answer that a command means. Raises as `find_target`."""
    target = await find_target(call, link)
    if isinstance(target, Message):
        raise InvalidQuestion(
            gettext("That message is not an answer of mine."), hint=gettext("Use the link to my answer.")
        )
    return target


def split_link(words: str) -> tuple[str, str]:
    """The link at the start of the words, or "", and the rest."""
    first, _, rest = words.strip().partition(" ")
    return (first, rest.strip()) if is_message_link(first) else ("", words.strip())


async def _find_linked(call: CommandContext, link: str) -> StoredAnswer | Message:
    ids = candidate_message_ids(link, call.traits.parse_link_part)
    known = await call.store.channels.list_joined(call.location.platform, call.location.workspace)
    places = {*known, call.location.without_thread}
    for place in sorted(places, key=lambda each: (each.channel not in ids, each.room)):
        found = await _find_by_ids(call, place, ids)
        if found is not None:
            return found
    raise NotFound(
        gettext(UNKNOWN_MESSAGE),
        hint=gettext("Use the link to an answer of mine, or to a reply in a channel that I read."),
    )


async def _find_by_ids(call: CommandContext, place: Location, ids: tuple[str, ...]) -> StoredAnswer | Message | None:
    """The answer or message of a channel with one of these ids, if the caller can read it."""
    for id_ in ids:
        answer = await _find_answer(call, place, id_)
        if answer is not None:
            return answer
    for record in await call.store.messages.list_by_ids(place.room, ids):
        if await call.can_read(place.room):
            location = replace(place, thread=record.thread)
            found = await call.services.context.platform_for(place).fetch_message(location, record.id)
            if found is not None:
                return replace(found, location=location)
    return None


async def _find_answer(call: CommandContext, place: Location, message: str) -> StoredAnswer | None:
    answer = await call.store.answers.get_by_message(place.without_thread, message)
    if answer is None or (answer.message_id == message and message not in answer.reply_message_ids):
        return None  # the message of the question is not the answer
    if answer.private and call.is_public:
        return None
    return answer if await call.can_read(answer.location.room) else None
