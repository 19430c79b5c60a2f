"""A clock that stands still until a test moves it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from engine.clock import Clock

START = datetime(2026, 11, 20, 10, tzinfo=UTC)  # a Friday
MONDAY_NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


class ManualClock(Clock):
    """Wall time and monotonic time move together, and only by `advance`."""

    def __init__(self, start: datetime = START) -> None:
        self._start = start
        self._passed = 0.0

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._passed)

    def monotonic(self) -> float:
        return self._passed

    def advance(self, seconds: float) -> None:
        """Let some seconds pass."""
        self._passed += seconds

    def move_to(self, monotonic: float) -> None:
        """Let it be this monotonic time."""
        self._passed = monotonic
