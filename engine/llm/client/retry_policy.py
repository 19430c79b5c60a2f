"""Decide whether a failed call is tried again soon, and after how long."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.errors import InvalidReply, ModelPaused, ModelUnavailable, ModelUnreachable, OutOfCredit, RateLimited
from engine.scheduling.supervisor import backoff_seconds

if TYPE_CHECKING:
    from engine.clock import Clock
    from engine.errors import ModelError
    from engine.llm.config import CallTimeouts

# Attempts to reach an endpoint, and the seconds between them: soon, since a person may be waiting.
UNREACHABLE_ATTEMPTS, UNREACHABLE_WAIT = 2, 0.3
RETRIED = (ModelUnavailable, RateLimited)
NOT_RETRIED = (ModelPaused, OutOfCredit, InvalidReply)


@dataclass(slots=True)
class RetryPolicy:
    """The tries of one call. `is_failing`: its provider was known to fail when it began, so that it has one try."""

    timeouts: CallTimeouts
    clock: Clock
    is_failing: bool
    failures: int = 0
    _started_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._started_at = self.clock.monotonic()

    def next_wait(self, error: ModelError) -> float | None:
        """Count a failure; the seconds until the next try, None if there is none.

        Quick failures are retried, a call that used up its time is not.
        """
        self.failures += 1
        is_late = self.clock.monotonic() - self._started_at >= self.timeouts.timeout
        if self.is_failing or is_late or isinstance(error, NOT_RETRIED) or not isinstance(error, RETRIED):
            return None
        if isinstance(error, ModelUnreachable):
            return UNREACHABLE_WAIT if self.failures < UNREACHABLE_ATTEMPTS else None
        if self.failures >= self.timeouts.max_attempts or (error.retry_after or 0.0) > self.timeouts.max_wait:
            return None
        if error.retry_after is not None:
            return error.retry_after
        wait = backoff_seconds(self.failures, self.timeouts.initial_wait, self.timeouts.max_wait)
        return min(wait + random.uniform(0.0, self.timeouts.jitter), self.timeouts.max_wait)
