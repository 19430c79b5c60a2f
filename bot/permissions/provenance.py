"""The provenance of an answer: what it used, and whether its whole audience may still read that."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from bot.errors import PlatformError
from bot.permissions import audience
from bot.platform.models import Location
from engine import Scope

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Mapping

    from bot.permissions.resolver import AudienceResolver
    from bot.store import StoredAnswer
    from engine import Source

_DOCUMENT = re.compile(r":(?:thread|window|file|message):")  # follows the room in the key of a document


@dataclass(frozen=True, slots=True)
class Provenance:
    """The spaces and single rooms that an answer used, and the space of each room at `recorded_at`.

    `recorded_at`: by the monotonic clock of AudienceResolver.
    """

    source_scope: Scope
    room_spaces: Mapping[str, str]
    recorded_at: float


class Retrieved(Protocol):
    """What was retrieved: its passages, and the spaces of its entities and relations."""

    @property
    def sources(self) -> tuple[Source, ...]: ...
    @property
    def spaces(self) -> tuple[str, ...]: ...


def build_provenance(context: Retrieved, scope: Scope, history_scope: Scope, recorded_at: float) -> Provenance:
    """The provenance of an answer: retrieved sources within a scope, and the history before it."""
    homes = {source.room: source.space for source in context.sources}
    spaces = frozenset(space for space in homes.values() if space in scope.spaces)
    rooms = frozenset(room for room, space in homes.items() if space not in scope.spaces)
    return Provenance(
        Scope(spaces.union(context.spaces, history_scope.spaces), rooms | history_scope.rooms),
        homes,
        recorded_at,
    )


def document_provenance(space: str, room: str, scope: Scope, recorded_at: float) -> Provenance:
    """The provenance of the text of one document."""
    used = Scope(frozenset({space}), frozenset()) if space in scope.spaces else Scope(frozenset(), frozenset({room}))
    return Provenance(used, {room: space}, recorded_at)


def provenance_of_answer(stored: StoredAnswer) -> Provenance:
    """The provenance of a stored answer; the spaces of its rooms are looked up again."""
    rooms = stored.rooms.union(source.room for source in stored.sources)
    rooms = rooms.union(_DOCUMENT.split(key)[0] for key in stored.documents if _DOCUMENT.search(key))
    return Provenance(Scope(stored.spaces, rooms), {}, 0.0)


def provenance_of_room(room: str) -> Provenance:
    """The provenance of what is in a room, whose space is looked up again."""
    return Provenance(Scope(frozenset(), frozenset({room})), {}, 0.0)


async def can_read(
    resolver: AudienceResolver, provenance: Provenance, location: Location, person: str = ""
) -> bool | None:
    """Whether the audience of a location (or one person there) may read all sources; None if that is unknown."""
    required = Scope(provenance.source_scope.spaces, provenance.source_scope.rooms.union(provenance.room_spaces))
    reach = await resolver.resolve_scope(location, person, required)
    unsure = None if reach.gap else False
    if not required.spaces <= reach.scope.spaces:
        return unsure
    try:
        homes = await _current_spaces(resolver, provenance, required.rooms - audience.named_rooms(reach.scope))
    except PlatformError:
        return None
    return audience.scope_covers(reach.scope, required, homes) or unsure


async def filter_readable(
    resolver: AudienceResolver, rooms: Iterable[str], location: Location, person: str = ""
) -> AsyncGenerator[str]:
    """Those of some rooms that the audience of a location (or one person there) certainly may read, in their order.

    Who may read what is resolved once for all of them, now.
    """
    asked = tuple(rooms)
    scope = (await resolver.resolve_scope(location, person, Scope(frozenset(), frozenset(asked)))).scope
    named = audience.named_rooms(scope)
    for room in asked:
        if room in named:
            yield room
            continue
        with suppress(PlatformError):
            if await resolver.get_home_space(Location.from_room(room)) in scope.spaces:
                yield room


async def list_unreadable_keys(
    resolver: AudienceResolver, stored: StoredAnswer, location: Location, person: str = ""
) -> frozenset[str]:
    """The keys of what an answer used that its audience may not read, or of which that is unknown."""
    rooms = {key: _DOCUMENT.split(key)[0] for key in stored.documents if _DOCUMENT.search(key)}
    readable = set[str]()
    for room in set(rooms.values()):
        if await can_read(resolver, provenance_of_room(room), location, person):
            readable.add(room)
    return frozenset(key for key in stored.documents if rooms.get(key) not in readable)


async def _current_spaces(
    resolver: AudienceResolver, provenance: Provenance, rooms: Iterable[str]
) -> Mapping[str, str]:
    """The current space of each room; a recorded one counts as current until a change is reported."""
    spaces = {}
    for room in rooms:
        location = Location.from_room(room)
        recorded = provenance.room_spaces.get(room)
        is_current = recorded is not None and not resolver.has_changed_since(location, provenance.recorded_at)
        spaces[room] = recorded if recorded is not None and is_current else await resolver.get_home_space(location)
    return spaces
