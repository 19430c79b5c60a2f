"""Suspended spaces, whose rooms may no longer belong to them.

Only shared spaces, those of open channels, can contain something that a reader of the space may not read. The space of
a single room contains that room alone, and its readers are looked up again. So only shared spaces are suspended.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from bot.permissions import audience
from engine import Scope

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from bot.platform.models import Location
    from engine import Clock

LocationKey = tuple[str, ...]


def location_key(location: Location) -> LocationKey:
    """The key of a channel, a workspace or a platform."""
    if location.channel:
        return location.platform, location.workspace, location.channel
    return (location.platform, location.workspace) if location.workspace else (location.platform,)


class VisibilitySuspensions:
    """The suspensions of this process with their monotonic times, and those that the database holds for all processes.

    A location includes everything within it.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._active: list[tuple[LocationKey, float]] = []
        self._saved: list[tuple[LocationKey, float]] = []
        self._shared: list[LocationKey] = []
        self._updated = asyncio.Event()

    def suspend(self, location: Location) -> float:
        """Suspend a location. Returns the time of the suspension."""
        now = self._clock.monotonic()
        self._active.append((location_key(location), now))
        return now

    def cancel(self, location: Location, time: float) -> None:
        """Cancel the suspension of that time; earlier ones stay."""
        with suppress(ValueError):  # it may have ended already
            self._active.remove((location_key(location), time))
        self._updated.set()

    def resume(self, location: Location, since: float) -> None:
        """End the suspensions until that time, of a location and everything within it."""
        key = location_key(location)
        self._active = [(each, at) for each, at in self._active if each[: len(key)] != key or at > since]
        self._updated.set()

    def record_saved(self, location: Location, time: float) -> None:
        """Record that the database holds the suspension of that time, too."""
        self._saved.append((location_key(location), time))

    def list_saved(self) -> list[tuple[LocationKey, float]]:
        """The suspensions that the database holds; a state that is read from now on contains them."""
        return list(self._saved)

    def replace_shared(self, locations: Iterable[Location], saved: Collection[tuple[LocationKey, float]]) -> None:
        """Use the suspensions that the database holds, instead of the former ones and of those `saved` before."""
        self._shared = [location_key(location) for location in locations]
        self._saved = [row for row in self._saved if row not in saved]
        self._active = [row for row in self._active if row not in saved]
        self._updated.set()

    def is_suspended(self, platform: str, workspace: str) -> bool:
        """Whether the shared spaces of a workspace are suspended; of any of the platform, if it is empty."""
        wide = (platform, workspace) if workspace else (platform,)
        keys = (*(key for key, _ in self._active), *self._shared)
        return any(key[: len(wide)] == wide[: len(key)] for key in keys)

    async def wait_for_update(self, seconds: float) -> None:
        """Wait until a suspension ended, up to a limit in seconds."""
        self._updated.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._updated.wait()

    def remove_suspended(self, scope: Scope) -> Scope:
        """A scope without suspended spaces."""
        shared = {
            space
            for space in scope.spaces
            if (found := audience.parse_workspace_space(space)) and self.is_suspended(*found)
        }
        return Scope(scope.spaces - shared, scope.rooms) if shared else scope
