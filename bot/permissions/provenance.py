"""What an answer draws on, and whether everyone who reads it may still read all of that."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.errors import PlatformError
from bot.permissions import audience
from bot.platform.models import Place
from engine.models import Scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bot.answers.history import Past
    from bot.answers.request import Request
    from bot.context import House
    from bot.store import Stored
    from engine.models import Context

_DOCUMENT = re.compile(r":(?:thread|window|file|message):")  # behind the room in the key of a document


@dataclass(frozen=True, slots=True)
class Basis:
    """Spaces and single rooms drawn on, and where each source's room lay then.

    `since`: when that was, by the clock of Readers.
    """

    drawn: Scope
    homes: Mapping[str, str]
    since: float


def basis(context: Context, scope: Scope, past: Past, since: float) -> Basis:
    """What an answer rests on: what was recalled within a scope, and what was said before."""
    homes = {source.room: source.space for source in context.sources}
    spaces = frozenset(space for space in homes.values() if space in scope.spaces)
    rooms = frozenset(room for room, space in homes.items() if space not in scope.spaces)
    return Basis(
        Scope(spaces.union(context.spaces, past.drawn.spaces), rooms | past.drawn.rooms),
        homes,
        since,
    )


def basis_of(stored: Stored) -> Basis:
    """What a finished answer rests on; nothing is believed of where its documents lay."""
    rooms = stored.rooms.union(source.room for source in stored.sources)
    rooms = rooms.union(_DOCUMENT.split(key)[0] for key in stored.documents if _DOCUMENT.search(key))
    return Basis(Scope(stored.spaces, rooms), {}, 0.0)


async def readable(house: House, based: Basis, place: Place, person: str = "") -> bool | None:
    """Whether the readers of a place (or one person there) may read what an answer rests on; None if nobody knows."""
    wanted = Scope(based.drawn.spaces, based.drawn.rooms.union(based.homes))
    reach = await house.readers.reach(place, person, wanted)
    unsure = None if reach.gap else False
    if not wanted.spaces <= reach.scope.spaces:
        return unsure
    try:
        homes = await _homes(house, based, wanted.rooms - audience.addressed(reach.scope))
    except PlatformError:
        return None
    return audience.covers(reach.scope, wanted, homes) or unsure


async def _homes(house: House, based: Basis, rooms: Iterable[str]) -> Mapping[str, str]:
    """Where rooms lie now; what was told of them is believed until something is said to have changed."""
    found = {}
    for room in rooms:
        place = place_of(room)
        told = based.homes.get(room)
        stands = told is not None and not house.readers.changed(place, based.since)
        found[room] = told if told is not None and stands else await house.readers.home(place)
    return found


def person_of(request: Request) -> str:
    """Who alone reads the answer; empty if all readers of its place do."""
    return request.person if request.private else ""


def place_of(room: str) -> Place:
    """The channel that bears this name in the engine."""
    platform, _, rest = room.partition(":")
    workspace, _, channel = rest.partition(":")
    return Place(platform, workspace, channel)
