"""Visibility changes: suspend at once, resume when rooms were moved, retry on failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.platform.models import Location

if TYPE_CHECKING:
    from bot.dispatch.event_queue import EventQueue
    from bot.ingest.service import IngestService
    from bot.permissions.resolver import AudienceResolver
    from bot.platform.events import VisibilityChanged


class VisibilityChanges:
    """Receives visibility changes from adapters; `retry_failed`, called periodically, ends every suspension."""

    def __init__(self, audience: AudienceResolver, event_queue: EventQueue, ingest_service: IngestService) -> None:
        self._audience = audience
        self._event_queue = event_queue
        self._ingest_service = ingest_service
        self._unsaved: set[VisibilityChanged] = set()
        self._unreconciled: set[tuple[str, str]] = set()  # platform and workspace

    async def receive(self, changed: VisibilityChanged, *keys: str) -> bool:
        """Store a change; durable when it returns. False if it was stored before under one of its keys.

        Visibility is suspended first, because an answer may be on its way to a person who left. If the change was
        stored before, this suspension is cancelled; the first one stays until the change is handled. If only members
        changed, no room moves, and it is enough to look them up again.
        """
        if changed.members_only:
            self._audience.invalidate(changed.location, members_only=True)
            return True
        suspended_at = self._audience.suspend(changed.location)
        try:
            is_new = await self._event_queue.enqueue(changed, *keys)
        except BaseException:
            self.retry_later(changed)
            raise
        if not is_new:
            self._audience.cancel(changed.location, suspended_at)
        return is_new

    def retry_later(self, changed: VisibilityChanged) -> None:
        """Retry a change that could not be stored or handled."""
        self._unsaved.add(changed)

    def suspend(self, platform: str, workspace: str) -> None:
        """Suspend the spaces of a workspace, or of a platform, until `reconcile` has run."""
        self._audience.suspend(Location(platform, workspace, ""))

    async def reconcile(self, platform: str, workspace: str) -> None:
        """Start to fetch what was missed without a connection."""
        try:
            await self._ingest_service.start_reconciliation(platform, workspace)
        except BaseException:
            self._unreconciled.add((platform, workspace))
            raise
        self._unreconciled.discard((platform, workspace))

    async def refresh(self, platform: str, workspace: str) -> None:
        """Compare the audiences of all channels with the platform; what fails is retried as a reconciliation."""
        try:
            await self._ingest_service.refresh_visibility(platform, workspace)
        except BaseException:
            self._unreconciled.add((platform, workspace))
            raise

    async def retry_failed(self) -> None:
        """Retry failed changes and reconciliations. Raises what still fails."""
        for changed in list(self._unsaved):
            await self._event_queue.enqueue(changed)
            self._unsaved.discard(changed)
        for platform, workspace in list(self._unreconciled):
            await self.reconcile(platform, workspace)
