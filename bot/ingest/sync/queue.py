"""Synchronize channels one after another: reconcile them, continue back-fills, and retry those that failed later."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from bot.errors import WorkspaceGone
from bot.platform.events import WorkspaceLeft
from engine.scheduling.supervisor import backoff_seconds, cancel_tasks, child_task

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from bot.context import BotContext
    from bot.ingest.channels import ChannelMembership
    from bot.ingest.documents import ConversationDocuments
    from bot.ingest.sync.backfill import Backfill
    from bot.ingest.sync.reconcile import Reconciler
    from bot.platform.models import Location

WorkspaceKey = tuple[str, str]  # platform and workspace

FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 60.0, 60 * 60.0  # seconds before a retry; doubled after each

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class PendingSync:
    """A channel to synchronize at a time (seconds of a monotonic clock).

    `since`: by the clock of the database; another process may have begun to compare the channel later than that.
    """

    location: Location
    due_at: float = 0.0
    attempts: int = 0
    since: datetime | None = None


class RetryQueue:
    """Pending syncs in the order of their creation. One that is added again while it runs stays pending."""

    def __init__(self) -> None:
        self._pending: dict[Location, PendingSync] = {}

    @property
    def locations(self) -> set[Location]:
        """All channels with a pending sync."""
        return set(self._pending)

    def add(self, locations: Iterable[Location], since: datetime | None = None) -> None:
        """Make a sync of each channel due at once."""
        for location in locations:
            self._pending[location] = PendingSync(location, since=since)

    def list_due(self, now: float) -> list[PendingSync]:
        """The syncs that are due now."""
        return [sync for sync in self._pending.values() if sync.due_at <= now]

    def is_current(self, sync: PendingSync) -> bool:
        """Whether a sync is still pending and unchanged."""
        return self._pending.get(sync.location) is sync

    def finish(self, sync: PendingSync) -> None:
        """Remove a finished sync."""
        if self.is_current(sync):
            del self._pending[sync.location]

    def delay(self, sync: PendingSync, now: float) -> None:
        """Delay a failed sync, longer each time; its channel is then compared here."""
        if self.is_current(sync):
            attempts = sync.attempts + 1
            wait = backoff_seconds(attempts, FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS)
            self._pending[sync.location] = PendingSync(sync.location, now + wait, attempts)

    def delete_workspace(self, platform: str, workspace: str) -> None:
        """Remove the syncs of a workspace."""
        self._pending = {
            location: each
            for location, each in self._pending.items()
            if (location.platform, location.workspace) != (platform, workspace)
        }


class SyncQueue:
    """Synchronizes channels: those of a workspace one after another, the workspaces at the same time.

    A platform's rate limits are those of a workspace, so that none waits for another. A location without a channel
    means everything outside of channels that are read.
    """

    def __init__(
        self,
        context: BotContext,
        documents: ConversationDocuments,
        membership: ChannelMembership,
        past: Backfill,
        reconciler: Reconciler,
    ) -> None:
        self._processes = context.engine_context.engine.processes
        self._clock = context.clock
        self._documents = documents
        self._membership = membership
        self._backfill = past
        self._reconciler = reconciler
        self._pending = RetryQueue()
        self._unannounced: set[Location] = set()
        self._lock = asyncio.Lock()

    @property
    def pending_syncs(self) -> set[Location]:
        return self._pending.locations

    def enqueue(self, locations: Iterable[Location], since: datetime | None = None) -> None:
        """Schedule channels. `since`: a comparison that another process began later than that is enough."""
        self._pending.add(locations, since)
        self._membership.updated.set()

    def enqueue_unannounced(self, locations: Iterable[Location], since: datetime | None = None) -> None:
        """Schedule channels that the bot was added to while it was offline. `since`: as in `enqueue`."""
        new = set(locations)
        self._unannounced |= new
        self.enqueue(new, since)

    async def run_pending(self) -> None:
        """Synchronize all channels that are due, and continue back-fills; also what is added in the meantime."""
        running: dict[WorkspaceKey, asyncio.Task[None]] = {}
        ended, outdated = set[WorkspaceKey](), set[WorkspaceKey]()  # outdated: begun before something was added
        async with self._lock:
            try:
                while True:
                    self._membership.updated.clear()
                    for key in await self._list_due_workspaces() - running.keys() - ended:
                        running[key] = asyncio.create_task(self._run_workspace(*key))
                    if not running:
                        return
                    now_ended = await self._wait_for_any(running)
                    ended |= now_ended - outdated
                    outdated -= now_ended
                    if self._membership.updated.is_set():
                        ended, outdated = set(), set(running)
            finally:
                await cancel_tasks(*running.values())

    async def _wait_for_any(self, running: dict[WorkspaceKey, asyncio.Task[None]]) -> set[WorkspaceKey]:
        """Wait until a workspace ends or something is added; removes those that ended, and raises their errors."""
        async with child_task(self._membership.updated.wait(), "sync update") as updated:
            await asyncio.wait({updated, *running.values()}, return_when=asyncio.FIRST_COMPLETED)
        ended = {key for key, task in running.items() if task.done()}
        for key in ended:
            running.pop(key).result()
        return ended

    async def _list_due_workspaces(self) -> set[WorkspaceKey]:
        due = {
            (sync.location.platform, sync.location.workspace)
            for sync in self._pending.list_due(self._clock.monotonic())
        }
        return due | await self._backfill.list_due_workspaces()

    async def _run_workspace(self, platform: str, workspace: str) -> None:
        await self._run_due(platform, workspace)
        while await self._backfill.run_due(platform, workspace):
            await self._run_due(platform, workspace)

    async def _run_due(self, platform: str, workspace: str) -> None:
        """Synchronize what is due; first what no other process synchronizes now."""
        due = [
            sync
            for sync in self._pending.list_due(self._clock.monotonic())
            if (sync.location.platform, sync.location.workspace) == (platform, workspace)
        ]
        elsewhere = list[PendingSync]()
        for sync in due:
            async with self._processes.try_lease(_lease_name(sync)) as is_held:
                if is_held:
                    await self._sync_if_current(sync)
                else:
                    elsewhere.append(sync)
        for sync in elsewhere:
            async with self._processes.lease(_lease_name(sync)):
                await self._sync_if_current(sync)

    async def _sync_if_current(self, sync: PendingSync) -> None:
        if self._pending.is_current(sync):  # it is not if the bot left the workspace
            await self._sync_channel(sync)

    async def _sync_channel(self, sync: PendingSync) -> None:
        location = sync.location
        try:
            sure = await self._reconcile(sync)
        except WorkspaceGone:
            await self._membership.leave_workspace(
                WorkspaceLeft(location.platform, location.workspace, "removed while nobody listened")
            )
            self._pending.delete_workspace(location.platform, location.workspace)
        except Exception as error:  # noqa: BLE001 - one channel that cannot be read must not keep the others waiting
            log.warning("sync.reconciliation_retry_scheduled", channel=location.room, error=type(error).__name__)
            self._pending.delay(sync, self._clock.monotonic())
        else:
            if sure:
                self._pending.finish(sync)
            else:
                self._pending.delay(sync, self._clock.monotonic())

    async def _reconcile(self, sync: PendingSync) -> bool:
        """Reconcile one channel; false if it must be repeated."""
        location = sync.location
        if not location.channel:
            return await self._reconciler.reconcile_unread(location.platform)
        async with self._documents.lock(location.room):
            there = await self._membership.refresh(location)
            if there and location in self._unannounced:
                await self._membership.ensure_joined(location)
                self._unannounced.discard(location)
        return await self._reconciler.reconcile(location, sync.since) if there else True


def _lease_name(sync: PendingSync) -> str:
    return f"sync {sync.location.room}"
