"""Waiting until everything is indexed, and telling how far it is."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.events import Advanced

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from engine.engine import Engine
    from engine.ledger.census import Status
    from engine.records import Scope

LONG = 4.0  # seconds without a reading, after which a person wants to know why
SILENT = "the model has not answered yet; Ctrl-C leaves, and the next run goes on."
OFTEN = 0.2  # seconds between two looks, at least
SHARE = 20  # … and as many times as long as a look takes, so that looking does not slow the work down


async def waiting(work: Awaitable[object], look: Callable[[], Awaitable[Advanced]]) -> AsyncGenerator[Advanced]:
    """What `look` sees now and then until the work is done; raises what the work raises, and ends it if left."""
    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            began = time.monotonic()
            yield await look()
            took = time.monotonic() - began
            await asyncio.wait({task}, timeout=max(OFTEN, SHARE * took))
        await task
    finally:
        task.cancel()


async def settling(engine: Engine, scope: Scope, stage: str, total: int = 0) -> AsyncGenerator[Advanced]:
    """How many of `total` documents are indexed, until all are; without a total, of those that wait now."""
    total = total or unfinished(await engine.status(scope))
    patience = Patience(time.monotonic())

    async def look() -> Advanced:
        status = await engine.status(scope)
        return Advanced(
            stage,
            max(0, total - unfinished(status)),
            total,
            status.trouble or patience.complaint(status.unread, time.monotonic()),
        )

    async for step in waiting(engine.settled(), look):
        yield step
    yield Advanced(stage, total, total)


@dataclass(slots=True)
class Patience:
    """Notices that nothing is read any more, long before the last try of a call has failed. Times in seconds."""

    since: float
    unread: int = 0

    def complaint(self, unread: int, now: float) -> str:
        """What to tell of so many chunks that wait to be read, "" while their number still changes."""
        if unread != self.unread:
            self.unread, self.since = unread, now
        return SILENT if unread and now - self.since >= LONG else ""


def unfinished(status: Status) -> int:
    """How many documents are not indexed yet."""
    return status.documents.get("pending", 0) + status.documents.get("searchable", 0)
