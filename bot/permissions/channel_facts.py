"""The facts of channels, and lists of channels that the bot or a person is in; cached briefly.

An event wins over a list: a channel that changed after a list was started is not taken from it. Versions are counted,
not timed, so that no two are equal.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from bot.errors import NotConnected, PermissionDenied, PlatformError
from bot.permissions.shared_audiences import location_key
from bot.platform.ttl_cache import TTLCache

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bot.platform.models import Channel, ListedChannel, Location
    from bot.platform.ports import Platform
    from engine import Clock


log = structlog.get_logger(__name__)

MAX_CONCURRENT_LOOKUPS = 8  # of channels of one workspace
OPEN_CHANNEL_TTL = 600.0  # seconds for which an open channel counts as open without a lookup
LIST_TIMEOUT = 300.0  # seconds to fetch a list; 20,000 channels are 21 pages
EVENT_LAG = 2.0  # seconds after an event in which a list may still lack it
MAX_SINGLE_LOOKUPS = 4  # changed channels that are looked up one by one before the list is fetched again
MAX_LISTS = 256


class ChannelFacts:
    """Looks channels up on their platforms. `max_age`: seconds for which a fact is cached."""

    def __init__(self, platforms: Mapping[str, Platform], max_age: float, clock: Clock) -> None:
        self._platforms = platforms
        self._clock = clock
        self._cache: TTLCache[Channel] = TTLCache(max_age, clock)
        self._last_open_at: dict[str, float] = {}

    async def get(self, location: Location) -> Channel:
        """The facts of a channel. Raises PlatformError."""
        where = location.without_thread
        found = await self._cache.get_or_fetch(
            location_key(where), lambda: find_platform(self._platforms, where.platform).fetch_channel(where)
        )
        if found.kind == "open" and not found.shared:
            self._last_open_at[where.room] = self._clock.monotonic()
        else:
            self._last_open_at.pop(where.room, None)
        return found

    def get_cached(self, location: Location) -> Channel | None:
        """The facts of a channel, if they are cached and fresh."""
        return self._cache.get_cached(location_key(location.without_thread))

    def invalidate(self, key: tuple[str, ...]) -> None:
        """Drop the facts of all channels whose keys start like this."""
        self._cache.invalidate(key)

    def find_recently_open(self, location: Location) -> float | None:
        """The time at which a channel was last known to be open, if that is recent."""
        since = self._last_open_at.get(location.room)
        return since if since is not None and self._clock.monotonic() - since < OPEN_CHANNEL_TTL else None

    async def get_all(self, locations: Iterable[Location]) -> tuple[list[Channel], bool]:
        """The facts of channels, and whether the platform returned all of them."""
        gate = asyncio.Semaphore(MAX_CONCURRENT_LOOKUPS)

        async def one(location: Location) -> Channel | PlatformError:
            async with gate:
                try:
                    return await self.get(location)
                except PlatformError as error:
                    log.warning("audience.channel_lookup_failed", channel=location.room, error=type(error).__name__)
                    return error

        found = await asyncio.gather(*map(one, locations))
        refused = [result for result in found if isinstance(result, PlatformError)]
        known = [result for result in found if not isinstance(result, PlatformError)]
        return known, all(isinstance(result, PermissionDenied) for result in refused)


def find_platform(platforms: Mapping[str, Platform], name: str) -> Platform:
    """The platform with this name. Raises NotConnected."""
    try:
        return platforms[name]
    except KeyError as error:
        raise NotConnected(f"There is no connection to {name}.") from error


@dataclass(frozen=True, slots=True)
class ChannelList:
    """A complete list by room, with the version and the monotonic time of its start."""

    channels: Mapping[str, ListedChannel]
    version: int
    started_at: float


@dataclass(frozen=True, slots=True)
class _ChannelChange:
    """The latest change of a channel: its version, and when it was received."""

    location: Location
    version: int
    received_at: float


class ChannelListCache:
    """Lists by platform, workspace and person; the bot's own if the person is empty."""

    def __init__(self, platforms: Mapping[str, Platform], max_age: float, clock: Clock) -> None:
        self._platforms = platforms
        self._clock = clock
        self._cache: TTLCache[ChannelList] = TTLCache(max_age, clock, LIST_TIMEOUT, MAX_LISTS)
        self._version = 0
        self._channel_changes: dict[str, _ChannelChange] = {}
        self._membership_changes: dict[str, _ChannelChange] = {}

    def is_listable(self, platform: str, workspace: str) -> bool:
        """Whether the channels of a workspace can be listed."""
        found = self._platforms.get(platform)
        return found is not None and workspace in found.listable_workspaces

    async def get_list(self, platform: str, workspace: str, person: str = "") -> ChannelList:
        """A list, fetched again if it is too old or many of its channels changed. Raises PlatformError."""
        key = (platform, workspace, person)
        found = await self._cache.get_or_fetch(key, lambda: self._fetch_list(*key))
        newer = [touch for touch in self._changes_since(found, person) if touch.version > found.version]
        if len(newer) > MAX_SINGLE_LOOKUPS:
            self._cache.invalidate(key)
            found = await self._cache.get_or_fetch(key, lambda: self._fetch_list(*key))
        return found

    async def _fetch_list(self, platform: str, workspace: str, person: str) -> ChannelList:
        version, began = self._version, self._clock.monotonic()
        channels = await self._platforms[platform].list_channels(workspace, person)
        return ChannelList({channel.location.room: channel for channel in channels}, version, began)

    def list_stale_channels(self, found: ChannelList, person: str = "") -> dict[str, Location]:
        """The channels, by room, that changed since a list was fetched, including ones missing from it."""
        return {touch.location.room: touch.location for touch in self._changes_since(found, person)}

    def _changes_since(self, found: ChannelList, person: str) -> Iterator[_ChannelChange]:
        """The changes since shortly before a list was fetched, latest first."""
        touches = self._membership_changes if person else self._channel_changes
        for touch in reversed(touches.values()):
            if touch.version <= found.version and found.started_at - touch.received_at >= EVENT_LAG:
                return
            yield touch

    def record_change(self, location: Location, *, members_only: bool = False) -> None:
        """Record a change of a channel, or of a whole workspace or platform if the location has no channel."""
        self._version += 1
        if not location.channel:
            self._cache.invalidate(
                (location.platform, location.workspace) if location.workspace else (location.platform,)
            )
            return
        touch = _ChannelChange(location.without_thread, self._version, self._clock.monotonic())
        for touches in (
            (self._membership_changes,) if members_only else (self._membership_changes, self._channel_changes)
        ):
            touches.pop(location.room, None)  # keep the dictionary in order of time
            touches[location.room] = touch
