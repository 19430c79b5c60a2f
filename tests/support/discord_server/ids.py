"""The platform's time and its snowflakes: ids that carry the moment of their making, and so sort by time."""

from __future__ import annotations

import itertools
import time
from datetime import UTC, datetime, timedelta

EPOCH_MS = 1_420_070_400_000


class Clock:
    """The machine's time, and as much later as a test says."""

    def __init__(self) -> None:
        self._ahead = 0.0

    def seconds(self) -> float:
        """Seconds since 1970."""
        return time.time() + self._ahead

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.seconds(), UTC)

    def advance(self, seconds: float) -> None:
        """Let time pass at once: deadlines and expiries see it, rate limits and heartbeats do not."""
        self._ahead += seconds


class Snowflakes:
    """Ids as decimal strings; two of the same millisecond still keep their order."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._count = itertools.count(1)
        self._last = 0

    def next(self) -> str:
        self._last = max(self._last + 1, self._at(self._clock.now()))
        return str(self._last)

    def at(self, moment: datetime) -> str:
        """An id that was made then."""
        return str(self._at(moment))

    def _at(self, moment: datetime) -> int:
        return (int(moment.timestamp() * 1000) - EPOCH_MS << 22) | (next(self._count) & 0x3FFFFF)


def created_at(snowflake: str) -> datetime:
    """When an id was made."""
    return datetime.fromtimestamp(EPOCH_MS / 1000, UTC) + timedelta(milliseconds=int(snowflake) >> 22)


def format_time(moment: datetime) -> str:
    """A time as the wire writes it."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
