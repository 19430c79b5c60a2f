"""Changes of who reads what: doubted at once, believed again once rooms were moved, and made up for if that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.platform.models import Location

if TYPE_CHECKING:
    from bot.dispatch.event_queue import EventQueue
    from bot.ingest.service import IngestService
    from bot.permissions.resolver import AudienceResolver
    from bot.platform.events import VisibilityChanged


class VisibilityChanges:
    """What adapters tell of readers. A doubt that nothing else would end is ended by `make_up`, called now and then."""

    def __init__(self, readers: AudienceResolver, inbox: EventQueue, listening: IngestService) -> None:
        self._audience = readers
        self._event_queue = inbox
        self._ingest_service = listening
        self._unsaved: set[VisibilityChanged] = set()
        self._unreconciled: set[str] = set()

    async def receive(self, changed: VisibilityChanged, *keys: str) -> bool:
        """Keep a change; durable when it returns. False if it was known already by one of the keys.

        It is doubted first: an answer may be on its way to somebody who left. The doubt of one that is only told again
        is withdrawn; that of the first telling stays until it is learnt. Where only people came or went, no room moves:
        it is enough to ask anew who they are.
        """
        if changed.members_only:
            self._audience.invalidate(changed.location, members_only=True)
            return True
        doubted = self._audience.suspend(changed.location)
        try:
            fresh = await self._event_queue.enqueue(changed, *keys)
        except BaseException:
            self.retry_later(changed)
            raise
        if not fresh:
            self._audience.cancel(changed.location, doubted)
        return fresh

    def retry_later(self, changed: VisibilityChanged) -> None:
        """It could not be kept or learnt, and perhaps nobody tells it again."""
        self._unsaved.add(changed)

    def suspend(self, platform: str) -> None:
        """Who reads what there may have changed unnoticed: no space is believed until `catch_up`, which follows."""
        self._audience.suspend(Location(platform, "", ""))

    async def reconcile(self, platform: str) -> None:
        """The connection had been lost: look for what was missed."""
        try:
            await self._ingest_service.start_reconciliation(platform)
        except BaseException:
            self._unreconciled.add(platform)
            raise
        self._unreconciled.discard(platform)

    async def retry_failed(self) -> None:
        """Do what failed before. Raises what still hinders it."""
        for changed in list(self._unsaved):
            await self._event_queue.enqueue(changed)
            self._unsaved.discard(changed)
        for platform in list(self._unreconciled):
            await self.reconcile(platform)
