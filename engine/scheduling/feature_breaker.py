"""When what failed is tried again, ever more rarely: an optional feature of a service, a summary."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.errors import IndexingBudgetSpent, InvalidReply, ModelPaused, ModelTimeout, ModelUnavailable, RateLimited
from engine.scheduling.supervisor import backoff_seconds

if TYPE_CHECKING:
    from engine.clock import Clock
    from engine.errors import ModelError

    Key = tuple[int, int]  # its kind, and its number in the ledger


FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 60.0, 3600.0
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 600.0, 86_400.0
SUMMARIES_WAIT = "They wait for the indexing budget."
OTHERS_SUCCEEDED = "The model summarizes other texts, but not these."


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


@dataclass(slots=True)
class SummaryFailures:
    """The failures in a row of each key since the start. `reason`: of the last one."""

    reason: str = ""
    _tries: dict[Key, int] = field(default_factory=dict)

    def record(self, key: Key, error: ModelError | None) -> float:
        """Count a failed summary; returns the seconds until it is tried again: ever more if its text is the cause.

        `error`: of its call, None if others of the call succeeded.
        """
        self.reason = _word_reason(error)
        if not _may_pass(error):
            self._tries[key] = self._tries.get(key, 0) + 1
        return backoff_seconds(self._tries.get(key, 0), FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS)

    @property
    def waits_for_budget(self) -> bool:
        """Whether the last summary was not made because of the budget for indexing."""
        return self.reason == SUMMARIES_WAIT

    def clear(self, key: Key) -> None:
        """Forget the failures of a key that is summarized, or needs no summary."""
        self._tries.pop(key, None)


def _word_reason(error: ModelError | None) -> str:
    if isinstance(error, IndexingBudgetSpent):
        return SUMMARIES_WAIT
    return OTHERS_SUCCEEDED if error is None else str(error)


def _may_pass(error: ModelError | None) -> bool:
    """Whether an outage explains the error; a text that the model cannot read may always be too slow for it."""
    if isinstance(error, ModelPaused | RateLimited):
        return True
    return isinstance(error, ModelUnavailable) and not isinstance(error, InvalidReply | ModelTimeout)
