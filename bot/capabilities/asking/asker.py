"""What a question takes from the person who asks it: their name, where their days begin, and channels by name."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from bot.errors import PlatformError
from bot.text.format import find_zone_or_utc
from engine.errors import InvalidQuestion
from engine.models import FilterLookup

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from datetime import tzinfo

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.platform.models import Person


CHANNEL_HINT = "Check the name. A private channel is searched for its members alone, others once the bot reads them."


async def find_name(deps: Deps, caller: Caller) -> str:
    """The name of a person, for "what did I write?"; empty for other callers, or if it cannot be looked up."""
    person = await _find_person(deps, caller)
    return person.name if person else ""


async def find_zone(deps: Deps, caller: Caller, given: str = "") -> tzinfo:
    """The time zone in which the days of a caller begin: that of their profile, else the one that is `given`."""
    person = await _find_person(deps, caller)
    return find_zone_or_utc((person.time_zone if person else "") or given)


async def find_locale(deps: Deps, caller: Caller) -> str:
    """The locale of a person, such as pt-BR; empty for other callers, or if it cannot be looked up."""
    person = await _find_person(deps, caller)
    return person.locale if person else ""


def build_filter_lookup(deps: Deps, caller: Caller) -> FilterLookup | None:
    """What a model needs to propose filters for the question of a person; None for other callers."""
    return FilterLookup(partial(resolve_rooms, deps, caller)) if caller.kind == "person" else None


async def _find_person(deps: Deps, caller: Caller) -> Person | None:
    if caller.kind != "person":
        return None
    access, subject = (await deps.parts.open()).access, caller.subject
    try:
        return await access.audience_of(subject).get_person(subject.platform, subject.workspace, subject.person)
    except PlatformError:
        return None


async def resolve_rooms(deps: Deps, caller: Caller, name: str) -> frozenset[str]:
    """The rooms in scope of the chats with a name; that of a channel which cannot be read is unknown."""
    if caller.kind == "person":
        store, subject = (await deps.parts.open()).store, caller.subject
        names = {name.casefold()}
        found = await store.channels.find_rooms(subject.platform, subject.workspace, names=names, ids=())
        imported = await store.imported_spaces.find_rooms(subject.platform, subject.workspace, names)
        named = {*found, *imported}
        readable = await deps.engine.documents.count_by_room(caller.scope) if named else {}
        return frozenset(named & readable.keys())
    chats = await deps.engine.documents.count_by_room(caller.scope, "conversation")
    parts = await deps.parts.find() if caller.is_owner else None
    imported = await parts.store.imported_spaces.find_channels(name) if parts is not None else []
    own = {room for room in chats if room.rpartition(":")[2].casefold() == name.casefold()}
    return frozenset(own | (chats.keys() & set(imported)))


async def find_named_rooms(deps: Deps, caller: Caller, names: Iterable[str]) -> frozenset[str]:
    """The rooms of channels by their names; a name of no channel has none."""
    return frozenset[str]().union(*[await resolve_rooms(deps, caller, name) for name in sorted(names)])


async def require_named_rooms(deps: Deps, caller: Caller, names: Collection[str]) -> frozenset[str]:
    """The same. Raises InvalidQuestion if names are given, and none is of a channel that can be read."""
    found = await find_named_rooms(deps, caller, names)
    if names and not found:
        raise _nothing_in(names)
    return found


async def resolve_all(deps: Deps, caller: Caller, channels: Iterable[str]) -> frozenset[str]:
    """The rooms of channels, each by its room or its name. Raises InvalidQuestion if nothing is known of them all."""
    names = [channel.removeprefix("#") for channel in channels]
    found = {name: await resolve_rooms(deps, caller, name) or {name} for name in names}
    rooms = frozenset[str]().union(*found.values())
    if rooms and not rooms & (await deps.engine.documents.count_by_room(caller.scope)).keys():
        raise _nothing_in(names)
    return rooms


def _nothing_in(names: Iterable[str]) -> InvalidQuestion:
    """The same for a channel that does not exist as for one that the caller may not read."""
    listed = ", ".join(f"#{name}" for name in sorted(names))
    return InvalidQuestion(f"Nothing that can be read here is in {listed}.", hint=CHANNEL_HINT)


async def list_channel_names(deps: Deps, caller: Caller) -> frozenset[str]:
    """The names by which a caller can name the chats in scope."""
    chats = await deps.engine.documents.count_by_room(caller.scope, "conversation")
    if caller.kind != "person":
        return frozenset(room.rpartition(":")[2] for room in chats)
    store, subject = (await deps.parts.open()).store, caller.subject
    listed = await store.channels.list_names(subject.platform, subject.workspace)
    return frozenset(name for room, name in listed if room in chats)
