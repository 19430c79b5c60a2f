"""Run periodic jobs, and at the same time synchronization, which may take hours."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from bot.ingest.sync.manager_notices import ManagerNotices, ModelNotices, PeopleNotices, PermissionNotices
from bot.platform.models import Location
from engine.scheduling.supervisor import cancel_tasks

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from bot.context import BotContext
    from bot.ingest.sources.service import SourceService
    from bot.ingest.sync.queue import SyncQueue
    from bot.ingest.sync.retention import Retention

log = structlog.get_logger(__name__)

JOBS_TASK, COMPARE_TASK, SYNC_TASK = "periodic jobs", "daily comparison", "channel sync"  # task names
SOURCES_TASK = "sources"
PERMISSIONS_TASK = "missing permissions"
POLL_SECONDS = 15.0  # seconds between two checks
HOUR = 60 * 60.0
TELL_INTERVAL = 60.0  # seconds between two looks for what managers should know
MAX_STEP_BACK = 60.0  # seconds by which a clock may be corrected unnoticed
COMPARE_INTERVAL = timedelta(days=1)  # between two comparisons of all channels


class PeriodicJobs:
    """Runs due jobs. `updated` is set when there is something to synchronize."""

    def __init__(
        self,
        context: BotContext,
        retention: Retention,
        sync_queue: SyncQueue,
        updated: asyncio.Event,
        sources: SourceService,
    ) -> None:
        self._context = context
        self._supervisor = context.engine_context.engine.supervisor
        self._processes = context.engine_context.engine.processes
        self._retention = retention
        self._model_notices = ModelNotices(context, ManagerNotices(context))
        self._people_notices = PeopleNotices(context, ManagerNotices(context))
        self._permission_notices = PermissionNotices(context, ManagerNotices(context))
        self._sync_queue = sync_queue
        self._updated = updated
        self._sources = sources
        self._last_runs: dict[str, float] = {}
        self._offset = self._measure_offset()

    async def run(self) -> None:
        """Run all loops until cancelled; none waits for another."""
        self._processes.subscribe("sync", self._updated.set)
        self._processes.subscribe("sources", self._sources.updated.set)
        run, clock = self._supervisor.run, self._context.clock
        tasks = (
            run(JOBS_TASK, self._run_alone),
            run(COMPARE_TASK, lambda: self._repeat(lambda: self._run_daily_comparison(clock.now()), asyncio.Event())),
            run(SYNC_TASK, lambda: self._repeat(self._sync_queue.run_pending, self._updated)),
            run(SOURCES_TASK, self._sources.run),
            run(PERMISSIONS_TASK, lambda: self._repeat(self._tell_of_permissions, asyncio.Event())),
        )
        try:
            await asyncio.wait(tasks)
        finally:
            await cancel_tasks(*tasks)

    async def _tell_of_permissions(self) -> None:
        await self._run_if_due("tell of permissions", TELL_INTERVAL, self._permission_notices.tell)

    async def _run_alone(self) -> None:
        """Run the jobs while no other process does."""
        async with self._processes.lease("periodic jobs"):
            await self._repeat(lambda: self.run_due(self._context.clock.now()), asyncio.Event())

    async def _run_daily_comparison(self, now: datetime) -> None:
        await self._run_if_due("compare", COMPARE_INTERVAL.total_seconds(), lambda: self._enqueue_everything(now))

    async def _repeat(self, do: Callable[[], Awaitable[None]], news: asyncio.Event) -> None:
        while True:
            news.clear()
            await do()
            with suppress(TimeoutError):  # `wait_for` can swallow a cancellation on Python 3.11
                async with asyncio.timeout(POLL_SECONDS):
                    await news.wait()

    async def run_due(self, now: datetime) -> None:
        """Close conversations, delete expired data, and do for answers what an ended process left undone."""
        await self._run_if_due("notice the clock", 0.0, self._notice_clock)
        await self._run_if_due("close", 0.0, lambda: self._retention.close_idle(now))
        if self._processes.id:
            await self._run_if_due("redact", 0.0, self._context.store.answers.redact_pending)
        await self._run_if_due("forget", HOUR, lambda: self._retention.delete_expired(now))
        await self._run_if_due("continue forgetting", 0.0, lambda: self._retention.continue_held(now))
        await self._run_if_due("tell of texts that wait", TELL_INTERVAL, lambda: self._model_notices.tell(now))
        await self._run_if_due("tell of removed people", TELL_INTERVAL, self._people_notices.tell)
        erasing = self._context.engine_context.erasing_seconds
        await self._run_if_due("compact", erasing, self._context.store.compact)

    def _measure_offset(self) -> float:
        return self._context.clock.time() - self._context.clock.monotonic()

    async def _notice_clock(self) -> None:
        """Run delayed jobs now if the clock was set back: they would wait for as long as that was."""
        former, self._offset = self._offset, self._measure_offset()
        if self._offset < former - MAX_STEP_BACK:
            log.warning("clock.set_back", seconds=round(former - self._offset))
            await self._context.store.make_delayed_due(self._context.clock.time())
            await self._context.engine_context.engine.maintenance.retry()

    async def _enqueue_everything(self, now: datetime) -> None:
        """Schedule a comparison of all channels that were not compared lately."""
        for platform in self._context.platforms:
            await self.enqueue_channels(platform, since=now - COMPARE_INTERVAL / 2)

    async def enqueue_channels(
        self, platform: str, workspace: str | None = None, since: datetime | None = None
    ) -> None:
        """Schedule a comparison of all channels of a platform, or of one of its workspaces.

        With a time, only of those that were not compared since.
        """
        known = await self._context.store.channels.list_joined(platform, workspace, since)
        here = [channel for channel in known if self._context.serves(channel)]
        self._sync_queue.enqueue([*here, Location(platform, "", "")], since)

    async def _run_if_due(self, what: str, seconds: float, do: Callable[[], Awaitable[None]]) -> None:
        """Run a job if it is due; a failed one is retried and does not stop the others."""
        last = self._last_runs.get(what)
        if last is not None and self._context.clock.monotonic() - last < seconds:
            return
        name = f"{JOBS_TASK}: {what}"
        try:
            await do()
        except Exception as error:  # noqa: BLE001 - whatever it is, the rest must be done
            self._supervisor.record_failure(name, error)
        else:
            self._supervisor.record_success(name)
            self._last_runs[what] = self._context.clock.monotonic()
