"""Spaces that are not to be believed for a while: rooms may lie in them that others read than they do.

Only spaces that several rooms share can hold what a reader of the space may not read: those of open channels. A room's
own space holds that room alone, and who may read it is asked anew. So it is the shared spaces that are suspended.
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


def location_key(place: Location) -> LocationKey:
    """A channel, or all of a workspace, or all of a platform."""
    if place.channel:
        return place.platform, place.workspace, place.channel
    return (place.platform, place.workspace) if place.workspace else (place.platform,)


class VisibilitySuspensions:
    """What is suspended, each with its time (`clock`); a place stands for all that is within it."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._active: list[tuple[LocationKey, float]] = []
        self._updated = asyncio.Event()

    def suspend(self, place: Location) -> float:
        """The rooms of a place may lie where they do not belong. Gives the time of it."""
        now = self._clock()
        self._active.append((location_key(place), now))
        return now

    def cancel(self, place: Location, time: float) -> None:
        """That suspension had no reason; earlier ones stay."""
        with suppress(ValueError):  # it may be over already
            self._active.remove((location_key(place), time))
        self._updated.set()

    def resume(self, place: Location, since: float) -> None:
        """The rooms lie where they belonged at that time: those of the place, and of all that is within it."""
        key = location_key(place)
        self._active = [(each, at) for each, at in self._active if each[: len(key)] != key or at > since]
        self._updated.set()

    def is_suspended(self, platform: str, workspace: str) -> bool:
        """Whether the shared spaces of a workspace are suspended; of any of the platform, if it is empty."""
        wide = (platform, workspace) if workspace else (platform,)
        return any(key[: len(wide)] == wide[: len(key)] for key, _ in self._active)

    async def wait_until_resumed(self, place: Location, seconds: float) -> None:
        """Wait until nothing is suspended in a place's workspace any more, but no longer than this."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.is_suspended(place.platform, place.workspace):
                    self._updated.clear()
                    await self._updated.wait()

    def remove_suspended(self, scope: Scope) -> Scope:
        """A scope without the spaces that are suspended."""
        shared = {
            space
            for space in scope.spaces
            if (found := audience.parse_workspace_space(space)) and self.is_suspended(*found)
        }
        return Scope(scope.spaces - shared, scope.rooms) if shared else scope
