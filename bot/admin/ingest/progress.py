"""Waiting until everything is indexed, and telling how far it is."""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.admin.results import Advanced
from engine.errors import DiskTrouble, EngineError, LanguageError, Unreachable
from engine.scheduling.tasks import child_task

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
    from typing import Any

    from engine.engine import Engine
    from engine.models import Scope
    from engine.storage.ledger.queries.stats import Status

LONG = 4.0  # seconds without a reading, after which a person wants to know why
SILENT = "the model has not answered yet; Ctrl-C leaves, and the next run goes on."
LOST = 30.0  # seconds without a model, after which nobody waits for it any longer
AGAIN = "It goes on once it can be reached."
AGAIN_LATER = "It is tried again."
SOON = 1.0  # … where it is not needed
OFTEN = 0.2  # seconds between two looks, at least
SHARE = 20  # … and as many times as long as a look takes, so that looking does not slow the work down


async def waiting(
    work: Coroutine[Any, Any, object], look: Callable[[], Awaitable[Advanced]]
) -> AsyncGenerator[Advanced]:
    """What `look` sees now and then until the work is done; raises what the work raises, and ends it if left."""
    async with child_task(work) as task:
        while not task.done():
            began = time.monotonic()
            yield await look()
            took = time.monotonic() - began
            await asyncio.wait({task}, timeout=max(OFTEN, SHARE * took))
        await task


async def settling(
    engine: Engine, scope: Scope, stage: str, total: int = 0, *, most: float = LOST
) -> AsyncGenerator[Advanced]:
    """How many of `total` documents are indexed, until all are; without a total, of those that wait now.

    Raises what hinders it (a model that is out of reach or fails, for instance) once nothing went on because of that
    for `most` seconds; the next run goes on.
    """
    total = total or unfinished(await engine.status(scope))
    patience, absence = Patience(time.monotonic()), Absence(most)

    async def look() -> Advanced:
        status, now = await engine.status(scope), time.monotonic()
        away = absence.told(engine.hindrance, now, (unfinished(status), status.unread, status.stale))
        trouble = away or status.trouble or patience.complaint(status.unread, now)
        return Advanced(stage, max(0, total - unfinished(status)), total, trouble, inside(status))

    async for step in waiting(_settled(engine), look):
        yield step
    yield Advanced(stage, total, total)


async def _settled(engine: Engine) -> None:
    while True:
        try:
            return await engine.settled()
        except DiskTrouble:
            raise
        except EngineError:  # `settling` raises what lasts
            await asyncio.sleep(OFTEN)


async def applying(engine: Engine, scope: Scope) -> AsyncGenerator[Advanced]:
    """Until what was changed by hand shows; a model that fails is not waited for, since that needs none."""
    with suppress(LanguageError):
        async for step in settling(engine, scope, "applying", most=SOON):
            yield step


async def enduring(engine: Engine, stage: str, work: Coroutine[Any, Any, object]) -> AsyncGenerator[Advanced]:
    """Work of which nobody knows how much there is. Raises what it raises, and what lasts as `settling` does."""
    absence = Absence(LOST)

    async def look() -> Advanced:
        return Advanced(stage, trouble=absence.told(engine.hindrance, time.monotonic()))

    async for step in waiting(work, look):
        yield step


@dataclass(slots=True)
class Absence:
    """Notices that something hinders the work, and for how long nothing went on in spite of it. Times in seconds."""

    most: float
    since: float = math.nan
    left: object = 0

    def told(self, error: EngineError | None, now: float, left: object = 0) -> str:
        """What to tell while so much is left to do, "" if nothing; raises what lasts too long."""
        if error is None:
            self.since = math.nan
            return ""
        if math.isnan(self.since) or left != self.left:
            self.since, self.left = now, left
        if now - self.since >= self.most:
            raise error
        return f"{error} {AGAIN if isinstance(error, Unreachable) else AGAIN_LATER}"


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


def inside(status: Status) -> str:
    """What is left to do within documents, "" if nothing: of a large one, hardly anything else can be seen."""
    waits = ((status.unread, "chunk", "to read"), (status.stale, "key", "to project"))
    return ", ".join(f"{number:,} {noun}{'s' * (number != 1)} {what}" for number, noun, what in waits if number)


def unfinished(status: Status) -> int:
    """How many documents are not indexed yet."""
    return status.documents.get("pending", 0) + status.documents.get("searchable", 0)
