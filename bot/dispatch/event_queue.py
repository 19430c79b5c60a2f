"""The inbox: what the platforms tell is stored before it is worked on, once however often it is told.

What is not handled when the process ends is worked on again at the next start; so everything done with it may be
repeated. Happenings of one lane are listened to one after another, in the order in which they came; what comes of them
(an answer, a file) goes its own way.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, Self, get_args

import structlog
from pydantic import TypeAdapter, ValidationError

from bot.dispatch.delayed_events import DelayedEvents
from bot.errors import NotConnected, is_transient
from bot.platform import events
from engine.boundary import cleaned
from engine.errors import EngineError
from engine.scheduling.supervisor import Supervisor, backoff, reason
from engine.scheduling.tasks import end

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from types import TracebackType

    from bot.platform.events import Happening
    from bot.store import Store
    from bot.store.event_queue import Waiting

log = structlog.get_logger(__name__)

NAME = "inbox"  # of the task that reads it
KEPT = 48 * 60 * 60  # seconds that a key is remembered
FIRST, LONGEST = 1.0, 600.0  # seconds until the next try; they double
UNCONNECTED = 5.0  # seconds until what needs a platform that is not connected yet is tried again
TRIES = 12  # of what was refused; what cannot be reached is tried again without a limit
TRIES_OF_A_BUG = 3
LOOK = 60 * 60.0  # seconds after which the inbox is looked into even if nothing came
DRAIN = 20.0  # seconds for what is under way when the process ends

_RECORDS: dict[str, TypeAdapter[Any]] = {kind.__name__: TypeAdapter(kind) for kind in get_args(events.Happening)}


class Worker(Protocol):
    """Who handles happenings. Everything may be called again for the same one."""

    def lane(self, happening: Happening) -> str:
        """What it must be heard in order with; empty: with nothing."""

    async def listen(self, happening: Happening) -> None:
        """Learn from it; one after another within a lane."""

    async def follow(self, happening: Happening) -> None:
        """Do what comes of it; many at once."""

    async def give_up(self, happening: Happening, error: Exception) -> None:
        """It failed for good."""


class Inbox:
    """`async with Inbox(store, worker) as inbox`: takes happenings in, and hands them to the worker."""

    def __init__(
        self,
        store: Store,
        worker: Worker,
        clock: Callable[[], float] = time.time,
        supervisor: Supervisor | None = None,
    ) -> None:
        self._supervisor = supervisor or Supervisor()
        self._rows = store.inbox
        self._worker = worker
        self._clock = clock
        self._news = asyncio.Event()
        self._lanes: dict[str, deque[tuple[Waiting, Happening]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._delayed = DelayedEvents(self._enter)
        self._idle = asyncio.Event()
        self._looking = True
        self._seen = 0
        self._pruned = 0.0

    async def __aenter__(self) -> Self:
        self._supervisor.observe(self._delayed.sentences)
        self._pump = self._supervisor.run(NAME, self._pumping)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pump.cancel()
        self._delayed.close()
        self._lanes.clear()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=DRAIN)
        await end(self._pump, *self._tasks)

    async def put(self, happening: Happening, *keys: str) -> bool:
        """Keep a happening, its texts well-formed; durable when it returns. False if it is known by one of its keys."""
        kind, happening = type(happening).__name__, cleaned(happening)
        payload = _RECORDS[kind].dump_json(happening).decode()
        fresh = await self._rows.put(kind, payload, cleaned(keys), self._clock())
        if fresh:
            self._idle.clear()
            self._news.set()
        return fresh

    def retry_now(self) -> None:
        """Try again at once whatever waits for its next attempt: a platform can be reached again."""
        self._delayed.release()

    async def limitations(self) -> list[str]:
        """Sentences on what was given up lately."""
        return _given_up(await self._rows.failures())

    @property
    def working(self) -> bool:
        """Whether what comes in is worked on."""
        return not self._pump.done()

    async def idle(self) -> None:
        """Return once nothing is being worked on; what is to be tried again later is not waited for."""
        await self._idle.wait()

    async def depth(self) -> int:
        """How many happenings are not handled yet."""
        return await self._rows.depth()

    async def _pumping(self) -> None:
        while True:
            self._news.clear()
            await self._look()
            self._supervisor.succeeded(NAME)
            with suppress(TimeoutError):  # not `wait_for`: on Python 3.11 that may swallow the end of this task
                async with asyncio.timeout(LOOK):
                    await self._news.wait()

    async def _look(self) -> None:
        """Enter what came, and forget old keys."""
        self._looking = True
        for row in await self._rows.waiting(after=self._seen):
            self._seen = row.id
            self._delayed.add(row.due - self._clock(), row)
        if self._clock() - self._pruned > LOOK:
            self._pruned = self._clock()
            await self._rows.prune(self._clock() - KEPT)
        self._looking = False
        self._rest()

    def _enter(self, row: Waiting) -> None:
        """Put a happening at the end of its lane."""
        self._idle.clear()
        try:
            happening: Happening = _RECORDS[row.kind].validate_json(row.payload)
        except (KeyError, ValidationError) as error:
            self._start(self._supervisor.spawn("refuse an event", self._rows.fail(row.id, type(error).__name__)))
            return
        lane = self._worker.lane(happening) or f"row {row.id}"
        if lane in self._lanes:
            self._lanes[lane].append((row, happening))
        else:
            self._lanes[lane] = deque([(row, happening)])
            self._start(self._supervisor.run("hear events", partial(self._walk, lane)))

    async def _walk(self, lane: str) -> None:
        """Listen to what waits in a lane, in order."""
        while waiting := self._lanes.get(lane):
            row, happening = waiting.popleft()
            if await self._tried(row, happening, self._worker.listen):
                self._start(self._supervisor.spawn("handle an event", self._follow(row, happening)))
        self._lanes.pop(lane, None)

    async def _follow(self, row: Waiting, happening: Happening) -> None:
        async def finished(happening: Happening) -> None:
            await self._worker.follow(happening)
            await self._rows.done(row.id)
            self._delayed.reached(row.id)

        await self._tried(row, happening, finished)

    async def _tried(self, row: Waiting, happening: Happening, work: Callable[[Happening], Awaitable[None]]) -> bool:
        try:
            await work(happening)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is tried again or recorded
            await self._failed(row, happening, error)
            return False
        return True

    async def _failed(self, row: Waiting, happening: Happening, error: Exception) -> None:
        if is_transient(error):
            await self._postpone(row, happening, error)
            return
        self._delayed.reached(row.id)
        name, bug = type(error).__name__, not isinstance(error, EngineError | OSError)
        tries = row.tries + 1
        if tries >= (TRIES_OF_A_BUG if bug else TRIES):
            log.error("happening_given_up", kind=row.kind, error=name, reason=reason(error), tries=tries)
            await self._give_up(happening, error)  # first: told twice is better than never
            await self._noted(self._rows.fail(row.id, name))  # or it comes again at the next start
            return
        delay = backoff(tries, FIRST, LONGEST)
        log.warning("happening_delayed", kind=row.kind, error=name, tries=tries, seconds=delay, bug=bug)
        await self._noted(self._rows.delay(row.id, self._clock() + delay, name, tries))
        self._delayed.add(delay, replace(row, tries=tries))

    async def _postpone(self, row: Waiting, happening: Happening, error: Exception) -> None:
        """Try it again later; that does not count as a try, however often it fails so."""
        failures = self._delayed.unreached(row.id, events.platform_of(happening), error)
        delay = UNCONNECTED if isinstance(error, NotConnected) else backoff(failures, FIRST, LONGEST)
        if not isinstance(error, NotConnected):  # before the first connection nothing is written
            name = type(error).__name__
            log.warning("event_postponed", kind=row.kind, error=name, failures=failures, seconds=delay)
            await self._noted(self._rows.delay(row.id, self._clock() + delay, name, row.tries))
        self._delayed.add(delay, row)

    async def _noted(self, work: Awaitable[None]) -> None:
        """Write down what became of an event; where that cannot be, what waits behind it goes on all the same."""
        try:
            await work
        except Exception as error:  # noqa: BLE001 - the event itself failed already, and is logged
            self._supervisor.failed("record a failed event", error)
        else:
            self._supervisor.succeeded("record a failed event")

    async def _give_up(self, happening: Happening, error: Exception) -> None:
        try:
            await self._worker.give_up(happening, error)
        except Exception as silent:  # noqa: BLE001 - what waits behind it in its lane must not wait for ever
            log.warning("nobody_was_told", error=type(silent).__name__)

    def _start(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._rest()

    def _rest(self) -> None:
        if not (self._tasks or self._looking or self._news.is_set()):
            self._idle.set()


def _given_up(failures: Mapping[str, int]) -> list[str]:
    if not failures:
        return []
    which = ", ".join(f"{count} for {name}" for name, count in sorted(failures.items()))
    return [f"Events given up in the last two days: {which}. The log has the reasons (happening_given_up)."]
