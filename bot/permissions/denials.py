"""What the platforms refused because the bot lacks a permission, kept in memory until managers are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import PermissionDenied

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.platform.models import Location

MAX_KEPT = 1000  # of one process; managers are told of each within a minute


class Denials:
    """The permissions that were missing, by the channel in which they were, or by the workspace."""

    def __init__(self) -> None:
        self._lacking: dict[Location, set[str]] = {}

    def note(self, error: BaseException, location: Location) -> None:
        """Keep what a refusal names."""
        if isinstance(error, PermissionDenied):
            self.add(location.without_thread, error.permissions)

    def add(self, location: Location, permissions: Iterable[str]) -> None:
        """Keep what a channel lacks; without a channel, the workspace."""
        named = set(permissions)
        if named and (location in self._lacking or len(self._lacking) < MAX_KEPT):
            self._lacking.setdefault(location, set()).update(named)

    def take(self) -> list[tuple[Location, tuple[str, ...]]]:
        """What was kept since the last call."""
        taken, self._lacking = self._lacking, {}
        return [(location, tuple(sorted(permissions))) for location, permissions in taken.items()]
