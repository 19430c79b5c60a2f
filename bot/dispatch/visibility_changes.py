"""Visibility changes: suspend at once, resume when rooms were moved, retry on failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.platform.models import Location

if TYPE_CHECKING:
    from bot.context import BotContext
    from bot.dispatch.event_queue import EventQueue
    from bot.ingest.service import IngestService
    from bot.platform.events import VisibilityChanged


class VisibilityChanges:
    """Receives visibility changes from adapters; `retry_failed`, called periodically, ends every suspension."""

    def __init__(self, context: BotContext, event_queue: EventQueue, ingest_service: IngestService) -> None:
        self._context = context
        self._audience = context.audience
        self._event_queue = event_queue
        self._ingest_service = ingest_service
        self._unsaved: dict[VisibilityChanged, list[float]] = {}  # with the times of their suspensions
        self._unreconciled: set[tuple[str, str]] = set()  # platform and workspace

    async def receive(self, changed: VisibilityChanged, *keys: str) -> bool:
        """Store a change; durable when it returns. False if it was stored before under one of its keys.

        Visibility is suspended first, because an answer may be on its way to a person who left. If the change was
        stored before, this suspension is cancelled; the first one stays until the change is handled. If only members
        changed, no room moves, and it is enough to look them up again.
        """
        location, shared = changed.location, self._audience.shared
        if changed.members_only:
            self._audience.invalidate(location, members_only=True)
            await shared.record_change(location, members_only=True)
            return True
        suspended_at = self._audience.suspend(location)
        try:
            is_new = await self._event_queue.enqueue(changed, *keys, suspend=location)
        except BaseException:
            self._unsaved.setdefault(changed, []).append(suspended_at)
            raise
        if not is_new:
            self._audience.cancel(location, suspended_at)
        else:
            shared.record_saved(location, suspended_at)
        return is_new

    def retry_later(self, changed: VisibilityChanged) -> None:
        """Retry a change that could not be stored or handled."""
        self._unsaved.setdefault(changed, [])

    def suspend(self, platform: str, workspace: str) -> None:
        """Suspend the spaces of a workspace, or of a platform, until `reconcile` has run."""
        location = Location(platform, workspace, "")
        self._audience.shared.save_suspension(location, self._audience.suspend(location))

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
        """Retry failed changes and reconciliations, also those of ended processes. Raises what still fails."""
        for changed, times in list(self._unsaved.items()):
            await self._event_queue.enqueue(changed, suspend=changed.location)
            del self._unsaved[changed]
            for suspended_at in times:
                self._audience.shared.record_saved(changed.location, suspended_at)
        for platform, workspace in list(self._unreconciled):
            if not workspace or self._context.serves(Location(platform, workspace, "")):  # else another process does
                await self.reconcile(platform, workspace)
        async with self._context.engine_context.engine.processes.try_lease("abandoned suspensions") as is_held:
            for room in await self._audience.shared.list_abandoned() if is_held else ():
                if self._context.serves(room):
                    await self.reconcile(room.platform, room.workspace)
