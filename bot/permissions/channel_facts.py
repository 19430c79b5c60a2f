"""The facts of channels, one by one, cached briefly."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from bot.errors import NotConnected, PermissionDenied, PlatformError
from bot.permissions.suspensions import location_key
from bot.platform.ttl_cache import TTLCache

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bot.platform.models import Channel, Location
    from bot.platform.ports import Platform
    from engine import Clock

log = structlog.get_logger(__name__)

MAX_CONCURRENT_LOOKUPS = 8  # of channels of one workspace
OPEN_CHANNEL_TTL = 600.0  # seconds for which an open channel counts as open without a lookup


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
