"""Let the answers of one thread wait for each other, so that each has the former ones as history."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.platform.models import Location


class ThreadTurns:
    """The turns of the answers in each thread, in the order in which they were asked for."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Location, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def take(self, location: Location) -> AsyncIterator[None]:
        """Wait until the answers of a thread, or of direct messages, that came before are finished."""
        if location.workspace and not location.thread:
            yield  # questions in a channel have nothing to do with each other
            return
        lock = self._locks.setdefault(location, asyncio.Lock())
        async with lock:
            yield
