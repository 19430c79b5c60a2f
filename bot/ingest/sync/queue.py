"""Synchronize channels one after another: reconcile them, then continue back-fills."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import structlog

from bot.errors import WorkspaceGone
from bot.ingest.sync.pending import RetryQueue
from bot.platform.events import WorkspaceLeft

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.ingest.channels import ChannelMembership
    from bot.ingest.documents import ConversationDocuments
    from bot.ingest.sync.backfill import Backfill
    from bot.ingest.sync.deletions import DeletionCheck
    from bot.ingest.sync.pending import PendingSync
    from bot.ingest.sync.reconcile import Reconciler
    from bot.platform.models import Location

log = structlog.get_logger(__name__)


class SyncQueue:
    """Synchronizes channels one after another.

    A location without a channel means everything outside of channels that are read.
    """

    def __init__(
        self,
        documents: ConversationDocuments,
        membership: ChannelMembership,
        past: Backfill,
        catching_up: Reconciler,
        missing: DeletionCheck,
    ) -> None:
        self._documents = documents
        self._membership = membership
        self._backfill = past
        self._reconciler = catching_up
        self._deletion_check = missing
        self._pending = RetryQueue()
        self._unannounced: set[Location] = set()
        self._lock = asyncio.Lock()

    @property
    def pending_syncs(self) -> set[Location]:
        return self._pending.locations

    def enqueue(self, locations: Iterable[Location]) -> None:
        """Schedule channels."""
        self._pending.add(locations)
        self._membership.updated.set()

    def enqueue_unannounced(self, locations: Iterable[Location]) -> None:
        """Schedule channels that the bot was added to while it was offline."""
        new = set(locations)
        self._unannounced |= new
        self.enqueue(new)

    async def run_pending(self) -> None:
        """Synchronize all channels that are due, and continue back-fills."""
        async with self._lock:
            await self._run_due()
            while await self._backfill.run_due():
                await self._run_due()

    async def _run_due(self) -> None:
        for debt in self._pending.list_due(time.monotonic()):
            if self._pending.is_current(debt):  # false if the bot left the workspace
                await self._sync_channel(debt)

    async def _sync_channel(self, debt: PendingSync) -> None:
        location = debt.location
        try:
            sure = await self._reconcile(location)
        except WorkspaceGone:
            await self._membership.leave_workspace(
                WorkspaceLeft(location.platform, location.workspace, "removed while nobody listened")
            )
            self._pending.delete_workspace(location.platform, location.workspace)
        except Exception as error:  # noqa: BLE001 - one channel that cannot be read must not keep the others waiting
            log.warning("sync.reconciliation_retry_scheduled", channel=location.room, error=type(error).__name__)
            self._pending.delay(debt, time.monotonic())
        else:
            if sure:
                self._pending.finish(debt)
            else:
                self._pending.delay(debt, time.monotonic())

    async def _reconcile(self, location: Location) -> bool:
        """Reconcile one channel; false if it must be repeated."""
        if not location.channel:
            return await self._deletion_check.check_files(location.platform)
        async with self._documents.lock(location.room):
            there = await self._membership.refresh(location)
            if there and location in self._unannounced:
                await self._membership.ensure_joined(location)
                self._unannounced.discard(location)
        return await self._reconciler.reconcile(location) if there else True
