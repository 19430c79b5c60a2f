"""Which places a caller may give documents to and read them from, and which sources they may see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.documents.lookup import resolve_path
from bot.errors import NotAllowed, PlatformError
from bot.i18n import gettext
from bot.ingest.sources.places import OPEN, SourcePlace, is_own_room, parse_place
from bot.platform.document_source import SECRET_FILE
from bot.platform.export_readers import list_adapter_names
from bot.platform.models import Location
from engine.errors import InvalidQuestion, NotFound

if TYPE_CHECKING:
    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import BotParts
    from bot.store.schedules.sources import SourceRecord

UNKNOWN = "There is no channel with this id that you can read."


async def find_place(parts: BotParts, caller: Caller, channel: str, local: str) -> SourcePlace:
    """The place that a caller names; `local`: the space of the terminal that the owner has without naming one.

    Raises NotFound, NotAllowed, InvalidQuestion and BadSetting.
    """
    if caller.kind == "person":
        return await _find_for_person(parts, caller, channel)
    if not channel:
        return SourcePlace(terminal=caller.subject.space or local)
    if not caller.is_owner:
        raise NotFound(UNKNOWN, hint="A space of the terminal has no channels.")
    place = parse_place(channel, list_adapter_names())
    if place.channel is not None and not await parts.store.channels.get_name(place.channel.room):
        raise NotFound(f"The bot knows no channel {channel}.", hint="Add the bot to it first.")
    return place


async def _find_for_person(parts: BotParts, caller: Caller, channel: str) -> SourcePlace:
    subject = caller.subject
    if channel == OPEN:
        return SourcePlace(workspace=(subject.platform, subject.workspace))
    place = Location.from_room(channel) if channel else caller.place
    if place is None:
        raise InvalidQuestion("Say whose readers find it: the id of a channel, or “open”.")
    is_own = (place.platform, place.workspace) == (subject.platform, subject.workspace)
    if not is_own or not await parts.access.can_read_room(subject, place.room):
        raise NotFound(UNKNOWN, hint="The list of channels shows their ids.")
    if not await parts.store.channels.is_announced(place.room):
        raise NotAllowed(
            gettext("I do not read this channel."), hint=gettext("Add me to it first, then everyone there knows.")
        )
    return SourcePlace(channel=place.without_thread)


async def can_see(parts: BotParts, caller: Caller, record: SourceRecord) -> bool:
    """Whether a caller may know of a source: one whose documents they read."""
    if caller.is_owner:
        return True
    if is_own_room(record):
        return record.space in caller.scope.spaces
    try:
        return caller.kind == "person" and await parts.access.can_read_room(caller.subject, record.room)
    except PlatformError:
        return False


async def list_visible(parts: BotParts, caller: Caller) -> list[SourceRecord]:
    """The sources that a caller may know of."""
    return [source for source in await parts.ingest.sources.list_all() if await can_see(parts, caller, source)]


async def find_source(parts: BotParts, caller: Caller, name: str) -> SourceRecord:
    """A source that the caller may know of; others do not exist for them. Raises NotFound."""
    found = [record for record in await list_visible(parts, caller) if name.casefold() in {record.name, record.id}]
    if not found:
        raise NotFound(
            gettext("There is no source “{name}”.").format(name=name),
            hint=gettext("The list of sources shows their names."),
        )
    return found[0]


def resolve_option(name: str, value: str, here: str) -> str:
    """The value of an option as it is kept: the path of a secret is absolute, since it is read from other folders."""
    return str(resolve_path(value, here)) if name == SECRET_FILE and value else value
