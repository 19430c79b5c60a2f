"""The time of the fake workspace: the real one, which a test may push forward."""

from __future__ import annotations

import asyncio
import contextlib
import time


class Clock:
    """Wall time in seconds; `advance` wakes whoever sleeps on it."""

    def __init__(self) -> None:
        self._ahead = 0.0
        self._moved = asyncio.Event()

    def now(self) -> float:
        return time.time() + self._ahead

    def advance(self, seconds: float) -> None:
        """Let time pass at once."""
        self._ahead += seconds
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()

    async def sleep(self, seconds: float) -> None:
        until = self.now() + seconds
        while (left := until - self.now()) > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._moved.wait(), left)
