"""Looks that are owed: of which channel, when it is due, and how often it was tried without coming to an end. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.platform.models import Location

FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 60.0, 60 * 60.0  # seconds until the next try; they double


@dataclass(frozen=True, slots=True)
class PendingSync:
    """A look at a channel that is due at a time (seconds of a clock that never goes back)."""

    location: Location
    due_at: float = 0.0
    attempts: int = 0


class RetryQueue:
    """The looks that are owed, in the order in which they came to be. One that is owed anew meanwhile stays owed."""

    def __init__(self) -> None:
        self._pending: dict[Location, PendingSync] = {}

    @property
    def locations(self) -> set[Location]:
        """The channels that a look is owed to, due or not."""
        return set(self._pending)

    def add(self, locations: Iterable[Location]) -> None:
        """A look at each of them is due at once."""
        for location in locations:
            self._pending[location] = PendingSync(location)

    def list_due(self, now: float) -> list[PendingSync]:
        """What is due by now."""
        return [each for each in self._pending.values() if each.due_at <= now]

    def is_current(self, debt: PendingSync) -> bool:
        """Whether it is owed still, as it was."""
        return self._pending.get(debt.location) is debt

    def finish(self, debt: PendingSync) -> None:
        """That look is done."""
        if self.is_current(debt):
            del self._pending[debt.location]

    def delay(self, debt: PendingSync, now: float) -> None:
        """It has to be looked at again, later each time."""
        if self.is_current(debt):
            wait = min(MAX_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2**debt.attempts)
            self._pending[debt.location] = replace(debt, due_at=now + wait, attempts=debt.attempts + 1)

    def delete_workspace(self, platform: str, workspace: str) -> None:
        """No channel of this workspace is looked at any more."""
        self._pending = {
            location: each
            for location, each in self._pending.items()
            if (location.platform, location.workspace) != (platform, workspace)
        }
