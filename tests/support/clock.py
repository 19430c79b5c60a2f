"""The two clocks of the tests: one stands still until a test moves it, and one runs and can be moved ahead."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import UTC, datetime, timedelta

from engine.clock import Clock

START = datetime(2026, 11, 20, 10, tzinfo=UTC)  # a Friday
MONDAY_NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


class ManualClock(Clock):
    """Wall time and monotonic time move together, and only by what a test does; nobody waits on it."""

    def __init__(self, start: datetime = START) -> None:
        self._start = start
        self._passed = 0.0

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._passed)

    def monotonic(self) -> float:
        return self._passed

    def advance(self, seconds: float) -> None:
        """Let some seconds pass."""
        self.move_to(self._passed + seconds)

    def move_to(self, monotonic: float) -> None:
        """Let it be this monotonic time, which is not over yet."""
        assert monotonic >= self._passed, "a clock never goes back"
        self._passed = monotonic

    async def sleep(self, seconds: float) -> None:
        """Let the seconds pass at once."""
        self.advance(seconds)
        await asyncio.sleep(0)


class ShiftedClock(Clock):
    """It runs as that of this machine, from `start` (without one: from now), and a test can let time pass at once.

    Wall time and monotonic time move together. Moving it wakes those who sleep on it.
    """

    def __init__(self, start: datetime | None = None) -> None:
        self._began = super().monotonic()
        self._start = start or super().now()
        self._ahead = 0.0
        self._moved = asyncio.Event()

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self.monotonic() - self._began)

    def monotonic(self) -> float:
        return super().monotonic() + self._ahead

    def set_back(self, seconds: float) -> None:
        """Correct the wall time; the monotonic one goes on."""
        self._start -= timedelta(seconds=seconds)

    def advance(self, seconds: float) -> None:
        """Let time pass at once."""
        assert seconds >= 0, "a clock never goes back"
        self._ahead += seconds
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()

    async def sleep(self, seconds: float) -> None:
        until = self.monotonic() + seconds
        while (left := until - self.monotonic()) > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._moved.wait(), left)
