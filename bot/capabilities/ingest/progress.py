"""Wait until everything is indexed, with progress updates."""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.capabilities.results import ProgressUpdate
from engine.errors import (
    BadModelSettings,
    DiskError,
    EngineError,
    InvalidApiKey,
    ModelError,
    ModelNotFound,
    ModelNotInstalled,
    ModelUnreachable,
    OutOfCredit,
)
from engine.scheduling.supervisor import child_task

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
    from typing import Any

    from engine import Clock, Engine, IndexStatus, Scope

STALL_SECONDS = 4.0  # without an extraction, before the reason is shown
STALL_MESSAGE = "the model has not replied yet; Ctrl-C stops, and the next run continues."
OUTAGE_TIMEOUT_SECONDS = 30.0  # without a model, before waiting ends
RESUME_MESSAGE = "Indexing continues when it is reachable."
RETRY_MESSAGE = "Retrying automatically."
# Somebody has to do something about them.
LASTING_ERRORS = (InvalidApiKey, ModelNotFound, ModelNotInstalled, OutOfCredit, BadModelSettings)
APPLY_TIMEOUT_SECONDS = 1.0  # without a model that is not needed
MIN_POLL_SECONDS = 0.2  # minimum seconds between two status queries
POLL_COST_FACTOR = 20  # pause as a multiple of the duration of a query, so that polling does not slow down the work


async def poll_until_done(
    work: Coroutine[Any, Any, object], check: Callable[[], Awaitable[ProgressUpdate]], clock: Clock
) -> AsyncGenerator[ProgressUpdate]:
    """Yield what `check` returns until the work is done; cancels the work on exit. Raises what it raises."""
    async with child_task(work) as task:
        while not task.done():
            began = clock.monotonic()
            yield await check()
            took = clock.monotonic() - began
            await asyncio.wait({task}, timeout=max(MIN_POLL_SECONDS, POLL_COST_FACTOR * took))
        await task


async def wait_until_indexed(
    engine: Engine, scope: Scope, stage: str, total: int = 0, *, most: float = OUTAGE_TIMEOUT_SECONDS
) -> AsyncGenerator[ProgressUpdate]:
    """Yield how many of `total` documents are indexed until all are; without a total, of the pending ones.

    Raises the cause (such as a model that cannot be reached) after `most` seconds without progress; the next run
    continues.
    """
    total = total or count_unindexed(await engine.maintenance.get_status(scope))
    stall, outage = StallDetector(engine.clock.monotonic()), OutageDetector(most)

    async def check() -> ProgressUpdate:
        status, now = await engine.maintenance.get_status(scope), engine.clock.monotonic()
        away = outage.check_outage(
            engine.maintenance.indexing_error, now, (count_unindexed(status), status.unextracted, status.stale)
        )
        trouble = away or status.trouble or stall.check_stall(status.unextracted, now)
        done, steps = max(0, total - count_unindexed(status)), status.unextracted + status.stale
        return ProgressUpdate(stage, done, total, trouble, format_remaining(status), steps)

    async for step in poll_until_done(_wait_for_engine(engine), check, engine.clock):
        yield step
    status = await engine.maintenance.get_status(scope)
    left = count_unindexed(status) if status.spent_budget else 0
    yield ProgressUpdate(stage, max(0, total - left), total, status.spent_budget)


async def _wait_for_engine(engine: Engine) -> None:
    while True:
        try:
            return await engine.wait_until_indexed()
        except DiskError:
            raise
        except EngineError:  # `check` raises a failure that lasts
            await asyncio.sleep(MIN_POLL_SECONDS)


async def wait_until_applied(engine: Engine, scope: Scope) -> AsyncGenerator[ProgressUpdate]:
    """Wait until a manual correction is visible; a failing model does not matter, since none is needed."""
    with suppress(ModelError):
        async for step in wait_until_indexed(engine, scope, "applying", most=APPLY_TIMEOUT_SECONDS):
            yield step


async def run_with_progress(
    engine: Engine, stage: str, work: Coroutine[Any, Any, object]
) -> AsyncGenerator[ProgressUpdate]:
    """Yield the progress of work without a known size. Raises what the work raises, and an outage that lasts."""
    outage = OutageDetector(OUTAGE_TIMEOUT_SECONDS)

    async def check() -> ProgressUpdate:
        return ProgressUpdate(
            stage, trouble=outage.check_outage(engine.maintenance.indexing_error, engine.clock.monotonic())
        )

    async for step in poll_until_done(work, check, engine.clock):
        yield step


async def reindex_with_progress(engine: Engine) -> AsyncGenerator[ProgressUpdate]:
    """Rebuild the indexes, and yield how many of their entries are made. Raises as `run_with_progress`."""
    outage, total = OutageDetector(OUTAGE_TIMEOUT_SECONDS), 0

    async def check() -> ProgressUpdate:
        nonlocal total
        left = await engine.maintenance.count_stale()
        total = max(total, left)
        trouble = outage.check_outage(engine.maintenance.indexing_error, engine.clock.monotonic(), left)
        return ProgressUpdate("reindexing", total - left, total, trouble)

    async for step in poll_until_done(engine.maintenance.reindex(), check, engine.clock):
        yield step


@dataclass(slots=True)
class OutageDetector:
    """Detects that an error keeps the work from continuing, and for how long. Times in seconds."""

    max_seconds: float
    since: float = math.nan
    remaining: object = 0

    def check_outage(self, error: EngineError | None, now: float, left: object = 0) -> str:
        """The outage as a sentence, empty if there is none; `left`: the work that remains. Raises a lasting outage."""
        if error is None:
            self.since = math.nan
            return ""
        if math.isnan(self.since) or left != self.remaining:
            self.since, self.remaining = now, left
        waits_for_ever = self.max_seconds == math.inf
        if now - self.since >= self.max_seconds or (isinstance(error, LASTING_ERRORS) and not waits_for_ever):
            raise error
        return f"{error} {RESUME_MESSAGE if isinstance(error, ModelUnreachable) else RETRY_MESSAGE}"


@dataclass(slots=True)
class StallDetector:
    """Detects that extraction is stalled, long before the last attempt of a call fails. Times in seconds."""

    since: float
    unextracted: int = 0

    def check_stall(self, unread: int, now: float) -> str:
        """The notice that extraction is stalled; empty while the number of unextracted chunks changes."""
        if unread != self.unextracted:
            self.unextracted, self.since = unread, now
        return STALL_MESSAGE if unread and now - self.since >= STALL_SECONDS else ""


def format_remaining(status: IndexStatus) -> str:
    """What is left to do within documents, "" if nothing: of a large one, hardly anything else can be seen."""
    waits = (
        (status.unextracted, "piece of text to read", "pieces of text to read"),
        (status.stale, "name to update", "names to update"),
    )
    return ", ".join(f"{number:,} {one if number == 1 else many}" for number, one, many in waits if number)


def count_unindexed(status: IndexStatus) -> int:
    """Number of documents that are not indexed yet."""
    return status.documents.get("pending", 0) + status.documents.get("searchable", 0)
