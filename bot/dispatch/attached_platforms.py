"""Which platforms are expected and which are attached."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bot.errors import NotConnected

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.platform.ports import Platform

CONNECT_TIMEOUT = 60.0  # seconds that an event waits for its platform to be attached


class AttachedPlatforms:
    """The platforms by name, shared with BotContext, and an event for each that is expected or attached."""

    def __init__(self, platforms: dict[str, Platform]) -> None:
        self._platforms = platforms
        self._events: dict[str, asyncio.Event] = {}

    @property
    def events(self) -> Mapping[str, asyncio.Event]:
        """By platform name; set once the platform is attached."""
        return self._events

    def expect(self, name: str) -> None:
        """Let events of a platform wait until it is attached."""
        self._events.setdefault(name, asyncio.Event())

    def attach(self, platform: Platform) -> None:
        """Add a platform, or replace the one of the same name."""
        self._platforms[platform.name] = platform
        self.expect(platform.name)
        self._events[platform.name].set()

    async def wait_for(self, name: str) -> None:
        """Wait until an expected platform is attached. Raises NotConnected after CONNECT_TIMEOUT."""
        attached = self._events.get(name)
        if attached is not None and not attached.is_set():
            try:
                async with asyncio.timeout(CONNECT_TIMEOUT):
                    await attached.wait()
            except TimeoutError:
                raise NotConnected(f"There is no connection to {name} yet.") from None
