"""The present readers of a place: facts asked of the platform, believed for a while, dropped when they change.

What cannot be known makes a scope smaller, never larger: at the least it is the room in which the reply is read.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from bot.errors import NotConnected, PermissionDenied, PlatformError
from bot.permissions import audience
from bot.permissions.audience import ResolvedScope
from bot.permissions.channel_lists import ChannelListCache
from bot.permissions.suspensions import VisibilitySuspensions, location_key
from bot.platform.ttl_cache import TTLCache
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from bot.platform.models import Channel, ListedChannel, Location, Person
    from bot.platform.ports import Platform
    from bot.store import BotStore
    from engine import Scope

log = structlog.get_logger(__name__)

MAX_CONCURRENT_LOOKUPS = 8  # lookups about the channels of a workspace
OPEN_CHANNEL_TTL = 600.0  # seconds for which nobody looks again whether an open channel has a space of its own by now
SUSPENSION_WAIT = 2.0  # seconds that is waited for rooms to lie where they belong
QUESTION_SUSPENSION_WAIT = 8.0  # the same, where somebody asked
MAX_GUESTS = 40  # of a channel; where there are more, what all of them can read elsewhere is not looked for


class AudienceResolver:
    """Scopes by present readers. `max_age`: seconds for which a fact is believed."""

    def __init__(
        self,
        platforms: Mapping[str, Platform],
        store: BotStore,
        max_age: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.platforms = platforms
        self.store = store
        self.clock = clock
        self.channel_lists = ChannelListCache(platforms, max_age, clock)
        self._channels: TTLCache[Channel] = TTLCache(max_age, clock)
        self._people: TTLCache[Person] = TTLCache(max_age, clock)
        self._changed_at: dict[tuple[str, ...], float] = {}
        self._last_open_at: dict[str, float] = {}
        self._suspensions = VisibilitySuspensions(clock)

    async def get_channel(self, place: Location) -> Channel:
        """The facts of a channel. Raises PlatformError."""
        where = place.without_thread
        found = await self._channels.get_or_fetch(
            location_key(where), lambda: self._platform_named(where.platform).fetch_channel(where)
        )
        if found.kind == "open" and not found.shared:
            self._last_open_at[where.room] = self.clock()
        else:
            self._last_open_at.pop(where.room, None)
        return found

    async def get_channel_info(self, place: Location) -> Channel | ListedChannel:
        """What a channel is, from a list if that spares a call; who reads it may not be told. Raises PlatformError."""
        return (
            self._channels.get_cached(location_key(place.without_thread))
            or await self.find_listed_channel(place)
            or await self.get_channel(place)
        )

    async def find_listed_channel(self, place: Location) -> ListedChannel | None:
        """A channel that the bot is in, as a list tells of it; None if no list does, or not for sure."""
        if not self.channel_lists.is_listable(place.platform, place.workspace):
            return None
        try:
            found = await self.channel_lists.get_list(place.platform, place.workspace)
        except PlatformError as error:
            log.warning("audience.channels_list_failed", platform=place.platform, error=type(error).__name__)
            return None
        return None if place.room in self.channel_lists.list_stale_channels(found) else found.channels.get(place.room)

    async def get_person(self, platform: str, workspace: str, person: str) -> Person:
        """Somebody as their workspace knows them. Raises PlatformError."""
        key = (platform, workspace, person)
        return await self._people.get_or_fetch(
            key, lambda: self._platform_named(platform).fetch_person(workspace, person)
        )

    def invalidate(self, place: Location, *, members_only: bool = False) -> None:
        """Believe nothing any more of a channel, or of a whole workspace if the place names none.

        `members_only`: people came or went; what kind of channel it is stays as it was.
        """
        key = location_key(place)
        self._changed_at[key] = self.clock()
        self._channels.invalidate(key)
        self._people.invalidate(key[:2])
        self.channel_lists.record_change(place, members_only=members_only)

    def suspend(self, place: Location) -> float:
        """Rooms may lie in spaces that others read than they do: a channel's, a workspace's or a platform's.

        Until `trust` is told that they were moved, no space that they may share is in any scope. Gives its time
        (`clock`).
        """
        self.invalidate(place)
        return self._suspensions.suspend(place)

    def cancel(self, place: Location, time: float) -> None:
        """The doubt of that time had no reason; earlier ones stay."""
        self._suspensions.cancel(place, time)

    def resume(self, place: Location, since: float) -> None:
        """The rooms lie where they belonged then (`clock`): those of the place, and of all that is within it."""
        self._suspensions.resume(place, since)

    def has_changed_since(self, place: Location, since: float) -> bool:
        """Whether something about a channel's readers changed since then (`clock`)."""
        key = location_key(place)
        return any(self._changed_at.get(key[:length], since - 1) >= since for length in (1, 2, 3))

    async def get_home_space(self, place: Location) -> str:
        """The space that a channel's documents live in. Raises PlatformError if that cannot be known."""
        return audience.home_space(await self.get_channel_info(place))

    async def scope_for_channel(self, place: Location) -> Scope:
        """What a reply in a place may draw on."""
        return (await self.resolve_scope(place)).scope

    async def scope_for_person(self, place: Location, person: str) -> Scope:
        """What a reply in a place may draw on that one person alone sees."""
        return (await self.resolve_scope(place, person)).scope

    async def resolve_scope(
        self, place: Location, person: str = "", among: Scope | None = None, wait: float | None = None
    ) -> ResolvedScope:
        """What a reply in a place may draw on; with a person, one that they alone see.

        With `among`, only channels that it names are asked about: enough to tell whether it is covered. `wait`: seconds
        until it is said that spaces are suspended.
        """
        await self._suspensions.wait_until_resumed(place, SUSPENSION_WAIT if wait is None else wait)
        try:
            scope, whole = await (
                self._person_scope(place, person, among) if person else self._channel_scope(place, among)
            )
        except EngineError as error:
            log.warning("audience.lookup_failed", channel=place.room, error=type(error).__name__)
            return ResolvedScope(audience.scope_for_room(place), "unknown")
        kept = self._suspensions.remove_suspended(scope)
        if kept != scope:
            log.warning("audience.visibility_pending", channel=place.room)
            room = await self._own_room(place, person)
            return ResolvedScope(replace(kept, rooms=kept.rooms | room), "checking")
        return ResolvedScope(scope, "" if whole else "partial")

    async def _own_room(self, place: Location, person: str) -> frozenset[str]:
        """The room in which a reply is read, if the one person who reads it may read there; none if nobody knows."""
        try:
            channel = await self.get_channel(place)
        except EngineError:
            return frozenset()
        reads = not person or channel.kind == "open" or person in channel.members
        return audience.scope_for_room(place).rooms if reads else frozenset()

    async def _channel_scope(self, place: Location, among: Scope | None) -> tuple[Scope, bool]:
        """The scope of all readers of a place, and whether all of it could be known."""
        channel = await self.get_channel(place)
        if channel.kind == "direct" and len(channel.members) == 1:
            [person] = channel.members
            return await self._person_scope(place, person, among)
        if channel.kind != "open" or not channel.guests or channel.shared:
            return audience.scope_for_channel(channel), True
        others, whole = await self._guest_channels(place, channel.guests, among)
        return audience.scope_for_channel(channel, others), whole

    async def _guest_channels(
        self, place: Location, guests: Collection[str], among: Scope | None
    ) -> tuple[list[Channel], bool]:
        """The channels of a workspace with those of some guests who are in them, and whether all could be known."""
        if not self.channel_lists.is_listable(place.platform, place.workspace):
            return await self._bot_channels(place, {place.workspace}, among), True
        if len(guests) > MAX_GUESTS:
            return [], False
        lists = await asyncio.gather(
            *(self._joined_channels(place, place.workspace, each, among) for each in sorted(guests))
        )
        found: dict[str, Channel] = {}
        for channel in (each for channels, _ in lists for each in channels):
            before = found.get(channel.location.room, channel)
            found[channel.location.room] = replace(channel, members=before.members | channel.members)
        return list(found.values()), all(whole for _, whole in lists)

    async def _person_scope(self, place: Location, person: str, among: Scope | None) -> tuple[Scope, bool]:
        """The scope of one person, and whether all of it could be known."""
        sole = await self._sole_reader(place, person)
        listable = {each for each in sole.workspaces if self.channel_lists.is_listable(place.platform, each)}
        found = await self._bot_channels(place, sole.workspaces - listable, among, spaces=not sole.is_guest)
        whole = True
        for workspace in sorted(listable):
            channels, complete = await self._joined_channels(place, workspace, person, among)
            found += channels
            whole &= complete
        return audience.scope_for_person(sole, found), whole

    async def _joined_channels(
        self, place: Location, workspace: str, person: str, among: Scope | None
    ) -> tuple[list[Channel], bool]:
        """The channels that somebody is in, and whether these are all; the place's own one even if there is no list."""
        try:
            listed = await self.channel_lists.get_list(place.platform, workspace, person)
        except PlatformError as error:
            log.warning("audience.memberships_lookup_failed", platform=place.platform, error=type(error).__name__)
            return (await self._fetch_channels([place.without_thread] if place.channel else []))[0], False
        stale = self.channel_lists.list_stale_channels(listed, person)
        found = [each.with_members([person]) for room, each in listed.channels.items() if room not in stale]
        doubtful = [each for each in stale.values() if each.workspace == workspace and _is_relevant(each, among)]
        looked, whole = await self._fetch_channels(doubtful)
        return found + looked, whole

    async def _sole_reader(self, place: Location, person: str) -> audience.SoleReader:
        if place.workspace:
            known = await self.get_person(place.platform, place.workspace, person)
            adult = await self._is_age_restricted(place)
            return audience.SoleReader(person, place.platform, frozenset({place.workspace}), known.is_guest, adult)
        shared = {each.workspace for each in await self.store.channels.list_joined(place.platform)} - {""}
        looks = (self._workspace_if_member(place.platform, name, person) for name in sorted(shared))
        found = await asyncio.gather(*looks)
        return audience.SoleReader(person, place.platform, frozenset(filter(None, found)))

    async def _workspace_if_member(self, platform: str, workspace: str, person: str) -> str:
        """The workspace, if they are a full member of it."""
        try:
            known = await self.get_person(platform, workspace, person)
        except PlatformError:
            return ""
        return "" if known.is_guest else workspace

    async def _is_age_restricted(self, place: Location) -> bool:
        try:
            return bool(place.channel) and (await self.get_channel_info(place)).adult
        except PlatformError:
            return False

    async def _bot_channels(
        self, place: Location, workspaces: Collection[str], among: Scope | None, *, spaces: bool = False
    ) -> list[Channel]:
        """The facts of the channels that the bot is in; those that cannot be had are left out.

        `spaces`: only channels with a space of their own matter; one that was open lately has none, or is missed.
        """
        if not workspaces:
            return []
        joined = await self.store.channels.list_joined(place.platform)
        places = [each for each in joined if each.workspace in workspaces]
        if spaces:
            places = [each for each in places if not self._was_recently_open(each)]
        return (await self._fetch_channels([each for each in places if _is_relevant(each, among)]))[0]

    def _was_recently_open(self, place: Location) -> bool:
        since = self._last_open_at.get(place.room)
        recent = since is not None and self.clock() - since < OPEN_CHANNEL_TTL
        return recent and since is not None and not self.has_changed_since(place, since)

    async def _fetch_channels(self, places: Iterable[Location]) -> tuple[list[Channel], bool]:
        """The facts of channels that can be had, and whether the platform said something of each of them."""
        gate = asyncio.Semaphore(MAX_CONCURRENT_LOOKUPS)

        async def one(place: Location) -> Channel | PlatformError:
            async with gate:
                try:
                    return await self.get_channel(place)
                except PlatformError as error:
                    log.warning("audience.channel_lookup_failed", channel=place.room, error=type(error).__name__)
                    return error

        found = await asyncio.gather(*map(one, places))
        refused = [each for each in found if isinstance(each, PlatformError)]
        known = [each for each in found if not isinstance(each, PlatformError)]
        return known, all(isinstance(each, PermissionDenied) for each in refused)

    def _platform_named(self, name: str) -> Platform:
        try:
            return self.platforms[name]
        except KeyError as error:
            raise NotConnected(f"There is no connection to {name}.") from error


def _is_relevant(place: Location, among: Scope | None) -> bool:
    """Whether a channel matters where only those in `among` are asked about."""
    return among is None or place.room in audience.named_rooms(among)
