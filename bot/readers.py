"""The present readers of a place: facts asked of the platform, believed for a while, dropped when they change.

What cannot be known makes a scope smaller, never larger: at the least it is the room in which the reply is read.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

import structlog

from bot import audience
from bot.believing import Beliefs
from bot.errors import PlatformError
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from bot.chat import Channel, Person, Place
    from bot.ports import Platform
    from bot.store import Store
    from engine.records import Scope

log = structlog.get_logger(__name__)

AT_ONCE = 8  # lookups about the channels of a workspace
OPEN = 600.0  # seconds for which nobody looks again whether an open channel has a space of its own by now
MOVING = 2.0  # seconds that a question waits until rooms lie where they belong

Fact = TypeVar("Fact")


class Readers:
    """Scopes by present readers. `max_age`: seconds for which a fact is believed."""

    def __init__(
        self,
        platforms: Mapping[str, Platform],
        store: Store,
        max_age: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.platforms = platforms
        self.store = store
        self.clock = clock
        self._channels: Beliefs[Channel] = Beliefs(max_age, clock)
        self._people: Beliefs[Person] = Beliefs(max_age, clock)
        self._changed: dict[tuple[str, ...], float] = {}
        self._open: dict[str, float] = {}
        self._doubts: list[tuple[tuple[str, ...], float]] = []
        self._trusted = asyncio.Event()

    async def channel(self, place: Place) -> Channel:
        """The facts of a channel. Raises PlatformError."""
        where = place.main
        found = await self._channels.get(_key(where), lambda: self._platform(where.platform).channel(where))
        if found.kind == "open" and not found.shared:
            self._open[where.room] = self.clock()
        else:
            self._open.pop(where.room, None)
        return found

    async def person(self, platform: str, workspace: str, person: str) -> Person:
        """Somebody as his workspace knows him. Raises PlatformError."""
        key = (platform, workspace, person)
        return await self._people.get(key, lambda: self._platform(platform).person(workspace, person))

    def forget(self, place: Place) -> None:
        """Believe nothing any more of a channel, or of a whole workspace if the place names none."""
        key = _key(place)
        self._changed[key] = self.clock()
        self._channels.drop(key)
        self._people.drop(key[:2])

    def doubt(self, place: Place) -> float:
        """Rooms may lie in spaces that others read than they do: a channel's, a workspace's or a platform's.

        Until `trust` is told that they were moved, no space there is in any scope. Gives its time (`clock`).
        """
        self.forget(place)
        now = self.clock()
        self._doubts.append((_key(place), now))
        return now

    def withdraw(self, place: Place, time: float) -> None:
        """The doubt of that time had no reason; earlier ones stay."""
        with suppress(ValueError):  # it may be settled already
            self._doubts.remove((_key(place), time))
        self._trusted.set()

    def trust(self, place: Place, since: float) -> None:
        """The rooms lie where they belonged then (`clock`): those of the place, and of all that is within it."""
        key = _key(place)
        self._doubts = [(each, at) for each, at in self._doubts if each[: len(key)] != key or at > since]
        self._trusted.set()

    def changed(self, place: Place, since: float) -> bool:
        """Whether something about a channel's readers changed since then (`clock`)."""
        key = _key(place)
        return any(self._changed.get(key[:length], since - 1) >= since for length in (1, 2, 3))

    async def home(self, place: Place) -> str:
        """The space that a channel's documents live in. Raises PlatformError if that cannot be known."""
        return audience.home(await self.channel(place))

    async def scope_here(self, place: Place) -> Scope:
        """What a reply in a place may draw on."""
        return await self.scope(place) or audience.same_room(place)

    async def scope_alone(self, place: Place, person: str) -> Scope:
        """What a reply in a place may draw on that one person alone sees."""
        return await self.scope(place, person) or audience.same_room(place)

    async def scope(self, place: Place, person: str = "", among: Scope | None = None) -> Scope | None:
        """As both of these, but None if the readers cannot be known.

        With `among`, only channels that it names are asked about: enough to tell whether it is covered.
        """
        if not await self._sure(place):
            log.warning("rooms_not_moved", room=place.room)
            return None
        try:
            return await (self._alone(place, person, among) if person else self._here(place, among))
        except EngineError as error:
            log.warning("readers_unknown", room=place.room, error=type(error).__name__)
            return None

    async def _sure(self, place: Place) -> bool:
        """Whether rooms lie where they belong, wherever a reply in this place could draw on; soon they will."""
        with suppress(TimeoutError):
            async with asyncio.timeout(MOVING):
                while self._doubtful(place):
                    self._trusted.clear()
                    await self._trusted.wait()
        return not self._doubtful(place)

    def _doubtful(self, place: Place) -> bool:
        wide = (place.platform, place.workspace) if place.workspace else (place.platform,)
        return any(key[: len(wide)] == wide[: len(key)] for key, _ in self._doubts)

    async def _here(self, place: Place, among: Scope | None) -> Scope:
        channel = await self.channel(place)
        if channel.kind == "direct" and len(channel.members) == 1:
            [person] = channel.members
            return await self._alone(place, person, among)
        guests = channel.kind == "open" and channel.guests and not channel.shared
        return audience.here(channel, await self._known(place, {place.workspace}, among) if guests else ())

    async def _alone(self, place: Place, person: str, among: Scope | None) -> Scope:
        sole = await self._sole(place, person)
        return audience.alone(sole, await self._known(place, sole.workspaces, among, spaces=not sole.guest))

    async def _sole(self, place: Place, person: str) -> audience.Sole:
        if place.workspace:
            known = await self.person(place.platform, place.workspace, person)
            adult = await self._adult(place)
            return audience.Sole(person, place.platform, frozenset({place.workspace}), known.guest, adult)
        shared = {each.workspace for each in await self.store.rooms.known(place.platform)} - {""}
        found = await asyncio.gather(*(self._is_member(place.platform, name, person) for name in sorted(shared)))
        return audience.Sole(person, place.platform, frozenset(filter(None, found)))

    async def _is_member(self, platform: str, workspace: str, person: str) -> str:
        """The workspace, if he is a full member of it."""
        try:
            known = await self.person(platform, workspace, person)
        except PlatformError:
            return ""
        return "" if known.guest else workspace

    async def _adult(self, place: Place) -> bool:
        try:
            return bool(place.channel) and (await self.channel(place)).adult
        except PlatformError:
            return False

    async def _known(
        self, place: Place, workspaces: Collection[str], among: Scope | None, *, spaces: bool = False
    ) -> list[Channel]:
        """The facts of the channels that the bot is in; those that cannot be had are left out.

        `spaces`: only channels with a space of their own matter; one that was open lately has none, or is missed.
        """
        places = [each for each in await self.store.rooms.known(place.platform) if each.workspace in workspaces]
        if spaces:
            places = [each for each in places if not self._was_open(each)]
        if among is not None:
            named = audience.addressed(among)
            places = [each for each in places if each.room in named]
        return await self._looked_up(places)

    def _was_open(self, place: Place) -> bool:
        since = self._open.get(place.room)
        return since is not None and self.clock() - since < OPEN and not self.changed(place, since)

    async def _looked_up(self, places: Iterable[Place]) -> list[Channel]:
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(place: Place) -> Channel | None:
            async with gate:
                try:
                    return await self.channel(place)
                except PlatformError as error:
                    log.warning("channel_unknown", room=place.room, error=type(error).__name__)
                    return None

        found = await asyncio.gather(*map(one, places))
        return [each for each in found if each is not None]

    def _platform(self, name: str) -> Platform:
        try:
            return self.platforms[name]
        except KeyError as error:
            raise PlatformError(f"There is no connection to {name}.") from error


def _key(place: Place) -> tuple[str, ...]:
    """A channel, or all of a workspace, or all of a platform."""
    if place.channel:
        return place.platform, place.workspace, place.channel
    return (place.platform, place.workspace) if place.workspace else (place.platform,)
