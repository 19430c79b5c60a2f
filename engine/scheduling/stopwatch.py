"""Measure time by stage."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable

Result = TypeVar("Result")


@dataclass(slots=True)
class Stopwatch:
    """Milliseconds by stage; repeated stages add up."""

    timings: dict[str, float] = field(default_factory=dict)

    async def measure(self, stage: str, work: Awaitable[Result]) -> Result:
        """Await `work` and record its time."""
        since = time.perf_counter()
        try:
            return await work
        finally:
            self.record(stage, since)

    def record(self, stage: str, since: float) -> None:
        """Add the time since then (perf_counter) to a stage."""
        self.timings[stage] = self.timings.get(stage, 0.0) + (time.perf_counter() - since) * 1000
