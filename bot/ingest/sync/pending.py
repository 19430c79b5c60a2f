"""Pending syncs with back-off: which channel, when it is due, and how often it was tried. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.platform.models import Location

FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 60.0, 60 * 60.0  # seconds before a retry; doubled after each


@dataclass(frozen=True, slots=True)
class PendingSync:
    """A channel to synchronize at a time (seconds of a monotonic clock)."""

    location: Location
    due_at: float = 0.0
    attempts: int = 0


class RetryQueue:
    """Pending syncs in the order of their creation. One that is added again while it runs stays pending."""

    def __init__(self) -> None:
        self._pending: dict[Location, PendingSync] = {}

    @property
    def locations(self) -> set[Location]:
        """All channels with a pending sync."""
        return set(self._pending)

    def add(self, locations: Iterable[Location]) -> None:
        """Make a sync of each channel due at once."""
        for location in locations:
            self._pending[location] = PendingSync(location)

    def list_due(self, now: float) -> list[PendingSync]:
        """The syncs that are due now."""
        return [each for each in self._pending.values() if each.due_at <= now]

    def is_current(self, debt: PendingSync) -> bool:
        """Whether a sync is still pending and unchanged."""
        return self._pending.get(debt.location) is debt

    def finish(self, debt: PendingSync) -> None:
        """Remove a finished sync."""
        if self.is_current(debt):
            del self._pending[debt.location]

    def delay(self, debt: PendingSync, now: float) -> None:
        """Delay a failed sync, longer each time."""
        if self.is_current(debt):
            wait = min(MAX_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2**debt.attempts)
            self._pending[debt.location] = replace(debt, due_at=now + wait, attempts=debt.attempts + 1)

    def delete_workspace(self, platform: str, workspace: str) -> None:
        """Remove the syncs of a workspace."""
        self._pending = {
            location: each
            for location, each in self._pending.items()
            if (location.platform, location.workspace) != (platform, workspace)
        }
