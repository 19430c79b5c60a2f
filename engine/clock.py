"""The clock: the only module that reads the time; and a stopwatch, which measures it by stage."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator


Result = TypeVar("Result")


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


@dataclass(slots=True)
class Stopwatch:
    """Milliseconds by stage; repeated stages add up."""

    clock: Clock
    timings: dict[str, float] = field(default_factory=dict)

    async def measure(self, stage: str, work: Awaitable[Result]) -> Result:
        """Await `work` and record its time."""
        with self.record(stage):
            return await work

    @contextmanager
    def record(self, stage: str) -> Iterator[None]:
        """Add the time that is spent inside to a stage."""
        since = self.clock.monotonic()
        try:
            yield
        finally:
            self.timings[stage] = self.timings.get(stage, 0.0) + (self.clock.monotonic() - since) * 1000
