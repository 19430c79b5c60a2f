"""The present readers of a place: facts asked of the platform, believed for a while, dropped when they change.

What cannot be known makes a scope smaller, never larger: at the least it is the room in which the reply is read.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import structlog

from bot.errors import NotConnected, PlatformError, Withheld
from bot.permissions import audience
from bot.permissions.channel_lists import ChannelLists
from bot.permissions.suspensions import Suspensions, key_of
from bot.platform.ttl_cache import Beliefs
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from bot.platform.models import Channel, ListedChannel, Person, Place
    from bot.platform.ports import Platform
    from bot.store import Store
    from engine.models import Scope

log = structlog.get_logger(__name__)

AT_ONCE = 8  # lookups about the channels of a workspace
OPEN = 600.0  # seconds for which nobody looks again whether an open channel has a space of its own by now
MOVING = 2.0  # seconds that is waited for rooms to lie where they belong
MOVING_FOR_QUESTIONS = 8.0  # the same, where somebody asked
GUESTS = 40  # of a channel; where there are more, what all of them can read elsewhere is not looked for


@dataclass(frozen=True, slots=True)
class Reach:
    """What a reply may draw on, and why that may be less than its readers can read; `gap` is empty if it is not.

    `checking`: spaces are suspended until rooms lie where they belong; `partial`: some channels could not be looked
    up; `unknown`: the readers themselves could not.
    """

    scope: Scope
    gap: Literal["", "checking", "partial", "unknown"] = ""


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
        self.lists = ChannelLists(platforms, max_age, clock)
        self._channels: Beliefs[Channel] = Beliefs(max_age, clock)
        self._people: Beliefs[Person] = Beliefs(max_age, clock)
        self._changed: dict[tuple[str, ...], float] = {}
        self._open: dict[str, float] = {}
        self._suspensions = Suspensions(clock)

    async def channel(self, place: Place) -> Channel:
        """The facts of a channel. Raises PlatformError."""
        where = place.main
        found = await self._channels.get(key_of(where), lambda: self._platform(where.platform).channel(where))
        if found.kind == "open" and not found.shared:
            self._open[where.room] = self.clock()
        else:
            self._open.pop(where.room, None)
        return found

    async def facts(self, place: Place) -> Channel | ListedChannel:
        """What a channel is, from a list if that spares a call; who reads it may not be told. Raises PlatformError."""
        return self._channels.known(key_of(place.main)) or await self.listed(place) or await self.channel(place)

    async def listed(self, place: Place) -> ListedChannel | None:
        """A channel that the bot is in, as a list tells of it; None if no list does, or not for sure."""
        if not self.lists.listable(place.platform, place.workspace):
            return None
        try:
            found = await self.lists.get(place.platform, place.workspace)
        except PlatformError as error:
            log.warning("channels_not_listed", platform=place.platform, error=type(error).__name__)
            return None
        return None if place.room in self.lists.stale(found) else found.channels.get(place.room)

    async def person(self, platform: str, workspace: str, person: str) -> Person:
        """Somebody as their workspace knows them. Raises PlatformError."""
        key = (platform, workspace, person)
        return await self._people.get(key, lambda: self._platform(platform).person(workspace, person))

    def forget(self, place: Place, *, members_only: bool = False) -> None:
        """Believe nothing any more of a channel, or of a whole workspace if the place names none.

        `members_only`: people came or went; what kind of channel it is stays as it was.
        """
        key = key_of(place)
        self._changed[key] = self.clock()
        self._channels.drop(key)
        self._people.drop(key[:2])
        self.lists.changed(place, members_only=members_only)

    def doubt(self, place: Place) -> float:
        """Rooms may lie in spaces that others read than they do: a channel's, a workspace's or a platform's.

        Until `trust` is told that they were moved, no space that they may share is in any scope. Gives its time
        (`clock`).
        """
        self.forget(place)
        return self._suspensions.suspend(place)

    def withdraw(self, place: Place, time: float) -> None:
        """The doubt of that time had no reason; earlier ones stay."""
        self._suspensions.cancel(place, time)

    def trust(self, place: Place, since: float) -> None:
        """The rooms lie where they belonged then (`clock`): those of the place, and of all that is within it."""
        self._suspensions.resume(place, since)

    def changed(self, place: Place, since: float) -> bool:
        """Whether something about a channel's readers changed since then (`clock`)."""
        key = key_of(place)
        return any(self._changed.get(key[:length], since - 1) >= since for length in (1, 2, 3))

    async def home(self, place: Place) -> str:
        """The space that a channel's documents live in. Raises PlatformError if that cannot be known."""
        return audience.home(await self.facts(place))

    async def scope_here(self, place: Place) -> Scope:
        """What a reply in a place may draw on."""
        return (await self.reach(place)).scope

    async def scope_alone(self, place: Place, person: str) -> Scope:
        """What a reply in a place may draw on that one person alone sees."""
        return (await self.reach(place, person)).scope

    async def reach(
        self, place: Place, person: str = "", among: Scope | None = None, wait: float | None = None
    ) -> Reach:
        """What a reply in a place may draw on; with a person, one that they alone see.

        With `among`, only channels that it names are asked about: enough to tell whether it is covered. `wait`: seconds
        until it is said that spaces are suspended.
        """
        await self._suspensions.over(place, MOVING if wait is None else wait)
        try:
            scope, whole = await (self._alone(place, person, among) if person else self._here(place, among))
        except EngineError as error:
            log.warning("readers_unknown", room=place.room, error=type(error).__name__)
            return Reach(audience.same_room(place), "unknown")
        kept = self._suspensions.without(scope)
        if kept != scope:
            log.warning("rooms_not_moved", room=place.room)
            room = await self._room(place, person)
            return Reach(replace(kept, rooms=kept.rooms | room), "checking")
        return Reach(scope, "" if whole else "partial")

    async def _room(self, place: Place, person: str) -> frozenset[str]:
        """The room in which a reply is read, if the one person who reads it may read there; none if nobody knows."""
        try:
            channel = await self.channel(place)
        except EngineError:
            return frozenset()
        reads = not person or channel.kind == "open" or person in channel.members
        return audience.same_room(place).rooms if reads else frozenset()

    async def _here(self, place: Place, among: Scope | None) -> tuple[Scope, bool]:
        """The scope of all readers of a place, and whether all of it could be known."""
        channel = await self.channel(place)
        if channel.kind == "direct" and len(channel.members) == 1:
            [person] = channel.members
            return await self._alone(place, person, among)
        if channel.kind != "open" or not channel.guests or channel.shared:
            return audience.here(channel), True
        others, whole = await self._of_guests(place, channel.guests, among)
        return audience.here(channel, others), whole

    async def _of_guests(
        self, place: Place, guests: Collection[str], among: Scope | None
    ) -> tuple[list[Channel], bool]:
        """The channels of a workspace with those of some guests who are in them, and whether all could be known."""
        if not self.lists.listable(place.platform, place.workspace):
            return await self._known(place, {place.workspace}, among), True
        if len(guests) > GUESTS:
            return [], False
        lists = await asyncio.gather(*(self._joined(place, place.workspace, each, among) for each in sorted(guests)))
        found: dict[str, Channel] = {}
        for channel in (each for channels, _ in lists for each in channels):
            before = found.get(channel.place.room, channel)
            found[channel.place.room] = replace(channel, members=before.members | channel.members)
        return list(found.values()), all(whole for _, whole in lists)

    async def _alone(self, place: Place, person: str, among: Scope | None) -> tuple[Scope, bool]:
        """The scope of one person, and whether all of it could be known."""
        sole = await self._sole(place, person)
        listable = {each for each in sole.workspaces if self.lists.listable(place.platform, each)}
        found = await self._known(place, sole.workspaces - listable, among, spaces=not sole.guest)
        whole = True
        for workspace in sorted(listable):
            channels, complete = await self._joined(place, workspace, person, among)
            found += channels
            whole &= complete
        return audience.alone(sole, found), whole

    async def _joined(
        self, place: Place, workspace: str, person: str, among: Scope | None
    ) -> tuple[list[Channel], bool]:
        """The channels that somebody is in, and whether these are all; the place's own one even if there is no list."""
        try:
            listed = await self.lists.get(place.platform, workspace, person)
        except PlatformError as error:
            log.warning("memberships_unknown", platform=place.platform, error=type(error).__name__)
            return (await self._looked_up([place.main] if place.channel else []))[0], False
        stale = self.lists.stale(listed, person)
        found = [each.read_by([person]) for room, each in listed.channels.items() if room not in stale]
        doubtful = [each for each in stale.values() if each.workspace == workspace and _named(each, among)]
        looked, whole = await self._looked_up(doubtful)
        return found + looked, whole

    async def _sole(self, place: Place, person: str) -> audience.Sole:
        if place.workspace:
            known = await self.person(place.platform, place.workspace, person)
            adult = await self._adult(place)
            return audience.Sole(person, place.platform, frozenset({place.workspace}), known.guest, adult)
        shared = {each.workspace for each in await self.store.rooms.known(place.platform)} - {""}
        found = await asyncio.gather(*(self._is_member(place.platform, name, person) for name in sorted(shared)))
        return audience.Sole(person, place.platform, frozenset(filter(None, found)))

    async def _is_member(self, platform: str, workspace: str, person: str) -> str:
        """The workspace, if they are a full member of it."""
        try:
            known = await self.person(platform, workspace, person)
        except PlatformError:
            return ""
        return "" if known.guest else workspace

    async def _adult(self, place: Place) -> bool:
        try:
            return bool(place.channel) and (await self.facts(place)).adult
        except PlatformError:
            return False

    async def _known(
        self, place: Place, workspaces: Collection[str], among: Scope | None, *, spaces: bool = False
    ) -> list[Channel]:
        """The facts of the channels that the bot is in; those that cannot be had are left out.

        `spaces`: only channels with a space of their own matter; one that was open lately has none, or is missed.
        """
        if not workspaces:
            return []
        places = [each for each in await self.store.rooms.known(place.platform) if each.workspace in workspaces]
        if spaces:
            places = [each for each in places if not self._was_open(each)]
        return (await self._looked_up([each for each in places if _named(each, among)]))[0]

    def _was_open(self, place: Place) -> bool:
        since = self._open.get(place.room)
        return since is not None and self.clock() - since < OPEN and not self.changed(place, since)

    async def _looked_up(self, places: Iterable[Place]) -> tuple[list[Channel], bool]:
        """The facts of channels that can be had, and whether the platform said something of each of them."""
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(place: Place) -> Channel | PlatformError:
            async with gate:
                try:
                    return await self.channel(place)
                except PlatformError as error:
                    log.warning("channel_unknown", room=place.room, error=type(error).__name__)
                    return error

        found = await asyncio.gather(*map(one, places))
        refused = [each for each in found if isinstance(each, PlatformError)]
        known = [each for each in found if not isinstance(each, PlatformError)]
        return known, all(isinstance(each, Withheld) for each in refused)

    def _platform(self, name: str) -> Platform:
        try:
            return self.platforms[name]
        except KeyError as error:
            raise NotConnected(f"There is no connection to {name}.") from error


def _named(place: Place, among: Scope | None) -> bool:
    """Whether a channel matters where only those in `among` are asked about."""
    return among is None or place.room in audience.addressed(among)
