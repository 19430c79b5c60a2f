"""Whether an optional feature of a service is used: after a refusal it is tried again, ever more rarely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.scheduling.supervisor import backoff_seconds

if TYPE_CHECKING:
    from engine.clock import Clock

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 60.0, 3600.0


@dataclass(slots=True, eq=False)
class FeatureBreaker:
    """Circuit breaker of one feature. `threshold`: refusals in a row that open it; times in seconds."""

    clock: Clock
    threshold: int = 1
    first_pause: float = FIRST_PAUSE_SECONDS
    longest_pause: float = LONGEST_PAUSE_SECONDS
    _refusals: int = 0
    _refused_at: float = float("-inf")
    _paused_until: float = float("-inf")

    @property
    def is_closed(self) -> bool:
        """Whether to use the feature now: it was not refused, or it is time to try it again."""
        return self.clock.monotonic() >= self._paused_until

    @property
    def seconds_left(self) -> float:
        """Seconds until the feature is tried again."""
        return max(0.0, self._paused_until - self.clock.monotonic())

    def record_refusal(self) -> None:
        """Record that the service refused the feature.

        It counts as the first refusal if the last one, or its pause, was over for more than `longest_pause`.
        """
        now = self.clock.monotonic()
        if now - max(self._refused_at, self._paused_until) > self.longest_pause:
            self._refusals = 0
        self._refusals, self._refused_at = self._refusals + 1, now
        if self._refusals >= self.threshold:
            pause = backoff_seconds(self._refusals - self.threshold + 1, self.first_pause, self.longest_pause)
            self._paused_until = now + pause

    def record_success(self) -> None:
        """Record that the feature works."""
        self._refusals, self._paused_until = 0, float("-inf")
