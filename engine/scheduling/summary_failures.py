"""Summaries that failed: when each is tried again, and why the last one failed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.errors import IndexingBudgetSpent, InvalidReply, ModelPaused, ModelTimeout, ModelUnavailable, RateLimited
from engine.scheduling.supervisor import backoff_seconds

if TYPE_CHECKING:
    from engine.errors import ModelError

    Key = tuple[int, int]  # its kind, and its number in the ledger

FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 600.0, 86_400.0
SUMMARIES_WAIT = "They wait for the indexing budget."
OTHERS_SUCCEEDED = "The model summarizes other texts, but not these."


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
