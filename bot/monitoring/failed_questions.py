"""How many of the last questions failed, so that health says so while they do."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine import Clock

WINDOW_SECONDS = 300.0
MAX_OUTCOMES = 1_000
MIN_SHARE = 0.5  # of the questions in the window


class FailedQuestions:
    """The outcomes of the questions of the last five minutes. A question that was refused, or stopped, is none."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._outcomes: deque[tuple[float, bool]] = deque(maxlen=MAX_OUTCOMES)

    def record(self, *, failed: bool) -> None:
        """Record a question that has ended."""
        self._outcomes.append((self._clock.monotonic(), failed))

    def list_problems(self) -> list[str]:
        """A sentence if at least half of the questions failed."""
        now = self._clock.monotonic()
        recent = [(at, failed) for at, failed in self._outcomes if now - at <= WINDOW_SECONDS]
        failures = [at for at, failed in recent if failed]
        if not failures or len(failures) < MIN_SHARE * len(recent):
            return []
        ago = now - failures[-1]
        return [f"{len(failures)} of the last {len(recent)} questions failed, the last one {ago:.0f} seconds ago."]
