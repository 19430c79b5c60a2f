"""Resolve who can currently read a location, with short caches that events invalidate.

A failed lookup makes a scope smaller, never larger: the minimum is the room of the reply.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from bot.errors import PlatformError
from bot.permissions import audience
from bot.permissions.audience import Readers, ResolvedScope
from bot.permissions.channel_facts import ChannelFacts, ChannelListCache, find_platform
from bot.permissions.shared_audiences import SharedAudiences, VisibilitySuspensions, location_key
from bot.platform.models import Location
from bot.platform.ttl_cache import TTLCache
from engine import Scope
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from bot.platform.models import Channel, ListedChannel, Person
    from bot.platform.ports import Platform
    from bot.store import BotStore
    from engine import Clock

log = structlog.get_logger(__name__)

SUSPENSION_WAIT = 2.0  # seconds to wait for suspended spaces
QUESTION_SUSPENSION_WAIT = 8.0  # the same, for a question
MAX_GUESTS = 40  # of a channel; with more, other channels that all of them can read are not searched


class AudienceResolver:
    """Resolves scopes by the current audience. `max_age`: seconds for which a fact is cached.

    Changes and suspensions have the monotonic time of `clock`.
    """

    def __init__(self, platforms: Mapping[str, Platform], store: BotStore, max_age: float, clock: Clock) -> None:
        self.platforms = platforms
        self.store = store
        self._clock = clock
        self.channel_lists = ChannelListCache(platforms, max_age, clock)
        self._channels = ChannelFacts(platforms, max_age, clock)
        self._people: TTLCache[Person] = TTLCache(max_age, clock)
        self._changed_at: dict[tuple[str, ...], float] = {}
        self._suspensions = VisibilitySuspensions(clock)
        self.shared = SharedAudiences(store.shared_visibility, self._suspensions, self._apply_change)

    @property
    def clock(self) -> Clock:
        """The clock of changes and suspensions."""
        return self._clock

    async def get_channel(self, location: Location) -> Channel:
        """The facts of a channel. Raises PlatformError, and StoreError if other processes' news cannot be read."""
        await self.shared.synchronize()
        return await self._channels.get(location)

    async def is_direct(self, location: Location) -> bool:
        """Whether a place is a person's direct messages, or might be one: outside of channels, or if it is unknown."""
        try:
            return not location.channel or (await self.get_channel(location)).kind == "direct"
        except PlatformError:
            return True

    async def is_known_direct(self, location: Location) -> bool:
        """Whether a place is certainly a person's direct messages."""
        try:
            return bool(location.channel) and (await self.get_channel(location)).kind == "direct"
        except PlatformError:
            return False

    async def get_channel_info(self, location: Location) -> Channel | ListedChannel:
        """The facts of a channel, perhaps from a list and without its members. Raises as `get_channel` does."""
        await self.shared.synchronize()
        return (
            self._channels.get_cached(location)
            or await self.find_listed_channel(location)
            or await self._channels.get(location)
        )

    async def find_listed_channel(self, location: Location) -> ListedChannel | None:
        """A channel from the list of channels that the bot is in; None if it is not certain."""
        if not self.channel_lists.is_listable(location.platform, location.workspace):
            return None
        try:
            found = await self.channel_lists.get_list(location.platform, location.workspace)
        except PlatformError as error:
            log.warning("audience.channels_list_failed", platform=location.platform, error=type(error).__name__)
            return None
        return (
            None
            if location.room in self.channel_lists.list_stale_channels(found)
            else found.channels.get(location.room)
        )

    async def get_person(self, platform: str, workspace: str, person: str) -> Person:
        """A person as their workspace knows them. Raises PlatformError."""
        key = (platform, workspace, person)
        return await self._people.get_or_fetch(
            key, lambda: find_platform(self.platforms, platform).fetch_person(workspace, person)
        )

    async def get_person_at(self, location: Location, person: str) -> Person:
        """A person as the workspace of a place knows them. Raises PlatformError."""
        return await self.get_person(location.platform, location.workspace, person)

    def invalidate(self, location: Location, *, members_only: bool = False) -> None:
        """Drop cached facts of a channel, or of a workspace. `members_only`: the kind of channel is unchanged."""
        key = location_key(location)
        self._changed_at[key] = self._clock.monotonic()
        self._channels.invalidate(key)
        self._people.invalidate(key[:2])
        self.channel_lists.record_change(location, members_only=members_only)

    def _apply_change(self, location: Location, members_only: bool) -> None:  # noqa: FBT001 - a callback
        """Drop what is cached of a location, here and by its platform: another process received a change."""
        self.invalidate(location, members_only=members_only)
        if found := self.platforms.get(location.platform):
            found.forget_cached(location)

    def suspend(self, location: Location) -> float:
        """Suspend the shared spaces of a channel, a workspace or a platform, because rooms may be in the wrong ones.

        Until `resume`, no scope contains them. Returns the time of the suspension.
        """
        self.invalidate(location)
        return self._suspensions.suspend(location)

    def cancel(self, location: Location, time: float) -> None:
        """Cancel the suspension of that time; earlier ones stay."""
        self._suspensions.cancel(location, time)

    def resume(self, location: Location, since: float) -> None:
        """End the suspensions until that time of a location and everything within it."""
        self._suspensions.resume(location, since)

    def is_suspended(self, location: Location) -> bool:
        """Whether something of a workspace, or of a platform, is suspended, as this process has read."""
        return self._suspensions.is_suspended(location.platform, location.workspace)

    def has_changed_since(self, location: Location, since: float) -> bool:
        """Whether a channel's audience changed since that time."""
        key = location_key(location)
        return any(self._changed_at.get(key[:length], since - 1) >= since for length in (1, 2, 3))

    async def get_home_space(self, location: Location) -> str:
        """The space of a channel's documents. Raises PlatformError if it cannot be looked up."""
        if location.platform not in self.platforms and (space := await self.store.imported_spaces.get(location.room)):
            return space
        return audience.home_space(await self.get_channel_info(location))

    async def scope_for_channel(self, location: Location) -> Scope:
        """What a public reply in a location may use."""
        return (await self.resolve_scope(location)).scope

    async def scope_for_person(self, location: Location, person: str) -> Scope:
        """What a private reply in a location may use."""
        return (await self.resolve_scope(location, person)).scope

    async def resolve_scope(
        self, location: Location, person: str = "", among: Scope | None = None, wait: float | None = None
    ) -> ResolvedScope:
        """What a reply in a location may use; with a person, a private one.

        With `among`, only the channels in it are looked up, which is enough to check whether it is covered. `wait`:
        seconds to wait for suspended spaces.
        """
        own, nothing = audience.scope_for_room(location), audience.EMPTY_SCOPE
        try:
            await self.shared.synchronize()
            await self.shared.wait_until_resumed(location, SUSPENSION_WAIT if wait is None else wait)
        except EngineError as error:
            log.warning("audience.changes_unknown", channel=location.room, error=type(error).__name__)
            return ResolvedScope(nothing if person else own, "unknown")
        try:
            scope, is_complete = await (
                self._person_scope(location, person, among) if person else self._channel_scope(location, among)
            )
        except EngineError as error:
            log.warning("audience.lookup_failed", channel=location.room, error=type(error).__name__)
            return ResolvedScope(own if await self._reads_room(location, person) is not False else nothing, "unknown")
        kept = self._suspensions.remove_suspended(scope)
        if kept != scope:
            log.warning("audience.visibility_pending", channel=location.room)
            room = own if await self._reads_room(location, person) else nothing
            return ResolvedScope(replace(kept, rooms=kept.rooms | room.rooms), "checking")
        return ResolvedScope(scope, "" if is_complete else "partial")

    async def _reads_room(self, location: Location, person: str) -> bool | None:
        """Whether the reader of a reply may read its room; None if that is unknown."""
        try:
            channel = await self._channels.get(location)
        except EngineError:
            return None
        return not person or channel.kind == "open" or person in channel.members

    async def _channel_scope(self, location: Location, among: Scope | None) -> tuple[Scope, bool]:
        """The scope of everyone in a location, and whether it is complete."""
        channel = await self._channels.get(location)
        if channel.kind == "direct" and len(channel.members) == 1:
            [person] = channel.members
            return await self._person_scope(location, person, among)
        if channel.kind != "open" or not channel.guests or channel.shared:
            return audience.scope_for_channel(channel), True
        others, is_complete = await self._guest_channels(location, channel.guests, among)
        return audience.scope_for_channel(channel, others), is_complete

    async def _guest_channels(
        self, location: Location, guests: Collection[str], among: Scope | None
    ) -> tuple[list[Channel], bool]:
        """The channels of a workspace that some guests are in, and whether they are complete."""
        if not self.channel_lists.is_listable(location.platform, location.workspace):
            return await self._bot_channels(location, {location.workspace}, among), True
        if len(guests) > MAX_GUESTS:
            return [], False
        lists = await asyncio.gather(
            *(self._joined_channels(location, location.workspace, guest, among) for guest in sorted(guests))
        )
        found: dict[str, Channel] = {}
        for channel in (listed for channels, _ in lists for listed in channels):
            before = found.get(channel.location.room, channel)
            found[channel.location.room] = replace(channel, members=before.members | channel.members)
        return list(found.values()), all(is_complete for _, is_complete in lists)

    async def _person_scope(self, location: Location, person: str, among: Scope | None) -> tuple[Scope, bool]:
        """The scope of one person, and whether it is complete."""
        grants, is_complete = await self._person_grants(location, person, among)
        return audience.join_grants(grants), is_complete

    async def find_grant(self, location: Location, person: str, room: str) -> audience.Grant | None:
        """The rule by which a person in a location may read a room now; None if they may not, or that is unknown."""
        try:
            space = await self.get_home_space(Location.from_room(room))
            among = Scope(frozenset({space}), frozenset({room}))
            reach = (await self.resolve_scope(location, person, among)).scope
            if not audience.scope_covers(reach, Scope(frozenset(), frozenset({room})), {room: space}):
                return None
            grants, _ = await self._person_grants(location, person, among)
        except EngineError:
            return None
        return audience.find_grant(grants, space, room)

    async def find_readers(self, used: Scope, homes: Mapping[str, str], workspaces: Collection[str]) -> Readers:
        """Who can be told what rests on some spaces and rooms, wherever they ask in some workspaces.

        `homes`: as in scope_covers; all of it belongs to one platform. Raises PlatformError.
        """
        await self.shared.synchronize()
        named = audience.named_rooms(used).union(homes.values())
        places = [Location.from_room(room) for room in sorted(named) if audience.is_channel_room(room)]
        served = [place for place in places if place.platform in self.platforms]
        channels = await asyncio.gather(*map(self._channels.get, served))
        platform = min({*used.spaces, *homes.values()}, default="").partition(":")[0]
        asker = audience.SoleReader("", platform, frozenset(workspaces) - {""}, adult=True)
        return audience.find_readers(used, homes, asker, channels)

    async def _person_grants(
        self, location: Location, person: str, among: Scope | None
    ) -> tuple[list[audience.Grant], bool]:
        """What one person may read and by which rule, and whether it is complete."""
        sole = await self._sole_reader(location, person)
        listable = {
            workspace for workspace in sole.workspaces if self.channel_lists.is_listable(location.platform, workspace)
        }
        found = await self._bot_channels(location, sole.workspaces - listable, among, spaces=not sole.is_guest)
        is_complete = True
        for workspace in sorted(listable):
            channels, complete = await self._joined_channels(location, workspace, person, among)
            found += channels
            is_complete &= complete
        return audience.list_grants(sole, found), is_complete

    async def _joined_channels(
        self, location: Location, workspace: str, person: str, among: Scope | None
    ) -> tuple[list[Channel], bool]:
        """The channels that a person is in, and whether they are complete; always with the location's own one."""
        try:
            listed = await self.channel_lists.get_list(location.platform, workspace, person)
        except PlatformError as error:
            log.warning("audience.memberships_lookup_failed", platform=location.platform, error=type(error).__name__)
            return (await self._channels.get_all([location.without_thread] if location.channel else []))[0], False
        stale = self.channel_lists.list_stale_channels(listed, person)
        found = [each.with_members([person]) for room, each in listed.channels.items() if room not in stale]
        doubtful = [
            channel for channel in stale.values() if channel.workspace == workspace and _is_relevant(channel, among)
        ]
        looked, is_complete = await self._channels.get_all(doubtful)
        return found + looked, is_complete

    async def _sole_reader(self, location: Location, person: str) -> audience.SoleReader:
        if location.workspace:
            known = await self.get_person(location.platform, location.workspace, person)
            adult = await self._is_age_restricted(location)
            workspaces = frozenset() if known.is_deactivated else frozenset({location.workspace})
            return audience.SoleReader(person, location.platform, workspaces, known.is_guest, adult)
        shared = {channel.workspace for channel in await self.store.channels.list_joined(location.platform)} - {""}
        looks = (self._workspace_if_member(location.platform, name, person) for name in sorted(shared))
        found = await asyncio.gather(*looks)
        return audience.SoleReader(person, location.platform, frozenset(filter(None, found)))

    async def _workspace_if_member(self, platform: str, workspace: str, person: str) -> str:
        """The workspace, if the person is a full member of it now."""
        try:
            known = await self.get_person(platform, workspace, person)
        except PlatformError:
            return ""
        return "" if known.is_guest or known.is_deactivated else workspace

    async def _is_age_restricted(self, location: Location) -> bool:
        try:
            return bool(location.channel) and (await self.get_channel_info(location)).adult
        except PlatformError:
            return False

    async def _bot_channels(
        self, location: Location, workspaces: Collection[str], among: Scope | None, *, spaces: bool = False
    ) -> list[Channel]:
        """The known facts of the bot's channels. `spaces`: only channels with a space of their own matter."""
        if not workspaces:
            return []
        joined = await self.store.channels.list_joined(location.platform)
        locations = [channel for channel in joined if channel.workspace in workspaces]
        if spaces:
            locations = [place for place in locations if not self._was_recently_open(place)]
        return (await self._channels.get_all([place for place in locations if _is_relevant(place, among)]))[0]

    def _was_recently_open(self, location: Location) -> bool:
        since = self._channels.find_recently_open(location)
        return since is not None and not self.has_changed_since(location, since)


def _is_relevant(location: Location, among: Scope | None) -> bool:
    """Whether a channel matters if only the rooms and spaces of `among` do."""
    return among is None or location.room in audience.named_rooms(among)
