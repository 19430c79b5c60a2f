"""The clock: the only module that reads the time."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class Clock:
    """The time of this machine. A program gives one to `Engine.open` and `Bot.open`; a test gives one that it sets."""

    def now(self) -> datetime:
        """The wall time, in UTC."""
        return datetime.now(UTC)

    def time(self) -> float:
        """The wall time in seconds since 1970."""
        return self.now().timestamp()

    def monotonic(self) -> float:
        """Seconds since an arbitrary moment, which never go back; for durations and time limits."""
        return time.monotonic()


SYSTEM_CLOCK = Clock()
