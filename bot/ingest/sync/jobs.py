"""Run periodic jobs, and at the same time synchronization, which may take hours."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from bot.platform.models import Location
from engine import cancel_tasks

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from bot.context import BotContext
    from bot.ingest.sync.queue import SyncQueue
    from bot.ingest.sync.retention import Retention

JOBS_TASK, SYNC_TASK = "periodic jobs", "channel sync"  # task names
POLL_SECONDS = 15.0  # seconds between two checks
HOUR, DAY = 60 * 60.0, 24 * 60 * 60.0
COMPACT_INTERVAL_SECONDS = 600.0  # seconds between two compactions of the bot's store


class PeriodicJobs:
    """Runs due jobs. `updated` is set when there is something to synchronize."""

    def __init__(
        self, context: BotContext, retention: Retention, sync_queue: SyncQueue, updated: asyncio.Event
    ) -> None:
        self._context = context
        self._supervisor = context.engine_context.engine.supervisor
        self._retention = retention
        self._sync_queue = sync_queue
        self._updated = updated
        self._last_runs: dict[str, float] = {}

    async def run(self, clock: Callable[[], datetime]) -> None:
        """Run both loops until cancelled; neither waits for the other."""
        run = self._supervisor.run
        tasks = (
            run(JOBS_TASK, lambda: self._repeat(lambda: self.run_due(clock()), asyncio.Event())),
            run(SYNC_TASK, lambda: self._repeat(self._sync_queue.run_pending, self._updated)),
        )
        try:
            await asyncio.wait(tasks)
        finally:
            await cancel_tasks(*tasks)

    async def _repeat(self, do: Callable[[], Awaitable[None]], news: asyncio.Event) -> None:
        while True:
            news.clear()
            await do()
            with suppress(TimeoutError):  # `wait_for` can swallow a cancellation on Python 3.11
                async with asyncio.timeout(POLL_SECONDS):
                    await news.wait()

    async def run_due(self, now: datetime) -> None:
        """Close conversations, delete expired data, and once a day compare all channels."""
        await self._run_if_due("close", 0.0, lambda: self._retention.close_idle(now))
        await self._run_if_due("forget", HOUR, lambda: self._retention.delete_expired(now))
        await self._run_if_due("compact", COMPACT_INTERVAL_SECONDS, self._context.store.compact)
        await self._run_if_due("compare", DAY, lambda: self.enqueue_platforms(*self._context.platforms))

    async def enqueue_platforms(self, *platforms: str) -> None:
        """Schedule a comparison of all channels of these platforms."""
        for platform in platforms:
            known = await self._context.store.channels.list_joined(platform)
            self._sync_queue.enqueue([*known, Location(platform, "", "")])

    async def _run_if_due(self, what: str, seconds: float, do: Callable[[], Awaitable[None]]) -> None:
        """Run a job if it is due; a failed one is retried and does not stop the others."""
        last = self._last_runs.get(what)
        if last is not None and time.monotonic() - last < seconds:
            return
        name = f"{JOBS_TASK}: {what}"
        try:
            await do()
        except Exception as error:  # noqa: BLE001 - whatever it is, the rest must be done
            self._supervisor.record_failure(name, error)
        else:
            self._supervisor.record_success(name)
            self._last_runs[what] = time.monotonic()
