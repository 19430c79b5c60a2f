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
    from collections.abc import Callable

    from bot.platform.models import Location

LocationKey = tuple[str, ...]


def location_key(location: Location) -> LocationKey:
    """The key of a channel, a workspace or a platform."""
    if location.channel:
        return location.platform, location.workspace, location.channel
    return (location.platform, location.workspace) if location.workspace else (location.platform,)


class VisibilitySuspensions:
    """The suspensions with their times (`clock`); a location includes everything within it."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._active: list[tuple[LocationKey, float]] = []
        self._updated = asyncio.Event()

    def suspend(self, location: Location) -> float:
        """Suspend a location. Returns the time of the suspension."""
        now = self._clock()
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

    def is_suspended(self, platform: str, workspace: str) -> bool:
        """Whether the shared spaces of a workspace are suspended; of any of the platform, if it is empty."""
        wide = (platform, workspace) if workspace else (platform,)
        return any(key[: len(wide)] == wide[: len(key)] for key, _ in self._active)

    async def wait_until_resumed(self, location: Location, seconds: float) -> None:
        """Wait until nothing is suspended in a location's workspace, up to a limit in seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.is_suspended(location.platform, location.workspace):
                    self._updated.clear()
                    await self._updated.wait()

    def remove_suspended(self, scope: Scope) -> Scope:
        """A scope without suspended spaces."""
        shared = {
            space
            for space in scope.spaces
            if (found := audience.parse_workspace_space(space)) and self.is_suspended(*found)
        }
        return Scope(scope.spaces - shared, scope.rooms) if shared else scope
