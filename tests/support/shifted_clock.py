"""The clock that a simulated platform shares with the bot: it runs, and a test can let time pass at once."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import datetime, timedelta

from engine import Clock


class ShiftedClock(Clock):
    """The clock of this machine plus what a test added to it; that wakes those who sleep on it."""

    def __init__(self) -> None:
        self._ahead = 0.0
        self._moved = asyncio.Event()

    def now(self) -> datetime:
        return super().now() + timedelta(seconds=self._ahead)

    def monotonic(self) -> float:
        return super().monotonic() + self._ahead

    def advance(self, seconds: float) -> None:
        """Let time pass at once."""
        self._ahead += seconds
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()

    async def sleep(self, seconds: float) -> None:
        until = self.monotonic() + seconds
        while (left := until - self.monotonic()) > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._moved.wait(), left)
