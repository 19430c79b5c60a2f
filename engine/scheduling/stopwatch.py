"""Measure time by stage."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator

    from engine.clock import Clock

Result = TypeVar("Result")


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
