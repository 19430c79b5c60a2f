"""The durable queue of platform events: each is stored before it is handled, once for all its idempotency keys.

Every step may be repeated: events that a process had not finished when it ended are handled by the next one, or by
another one on the same database. Events with one ordering key are ingested one after another, in the order in which
they arrived, by one process; what follows (an answer, a file) runs concurrently.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol, Self

import structlog
from pydantic import ValidationError

from bot.dispatch.claims import POLL_INTERVAL, EventClaims
from bot.errors import NotConnected, is_transient
from bot.platform import events
from bot.platform.events import decode_event, encode_event
from bot.store.event_queue import NewEvent
from engine.boundary import normalize_value
from engine.errors import EngineError
from engine.scheduling.processes import LocalProcesses
from engine.scheduling.supervisor import Supervisor, backoff_seconds, cancel_tasks, describe_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from types import TracebackType

    from bot.platform.events import PlatformEvent
    from bot.platform.models import Location
    from bot.store import BotStore
    from bot.store.event_queue import QueuedEvent
    from engine import Clock
    from engine.scheduling.processes import Processes


@dataclass(frozen=True, slots=True)
class _Outage:
    """A transient error of an event, and how often it happened in a row."""

    platform: str
    failures: int
    reason: str


class Outages:
    """The outages that events wait for, by the id of the event."""

    def __init__(self) -> None:
        self._outages: dict[int, _Outage] = {}

    def reset_failures(self) -> None:
        """Count the failures of each event from zero: what failed can be reached again."""
        self._outages = {id_: _Outage(each.platform, 0, each.reason) for id_, each in self._outages.items()}

    def record(self, id_: int, platform: str, error: Exception) -> int:
        """Record a transient error of an event; returns how often it happened in a row."""
        known = self._outages.get(id_)
        failures = (known.failures if known else 0) + 1
        self._outages[id_] = _Outage(platform, failures, describe_error(error))
        return failures

    def clear(self, id_: int) -> None:
        """Record that an event was handled, with or without success."""
        self._outages.pop(id_, None)

    def describe(self) -> list[str]:
        """For each platform, the number of events that wait for it and the last error."""
        counts, reasons = dict[str, int](), dict[str, str]()
        for outage in self._outages.values():
            counts[outage.platform] = counts.get(outage.platform, 0) + 1
            reasons[outage.platform] = outage.reason
        return [
            f"Events of {platform} that failed and are being retried: {count}. {reasons[platform].rstrip('.')}."
            for platform, count in sorted(counts.items())
        ]


log = structlog.get_logger(__name__)

TASK_NAME = "event queue"
KEY_RETENTION = 48 * 60 * 60  # seconds that an idempotency key is stored
FIRST_DELAY, MAX_DELAY = 1.0, 600.0  # seconds before a retry; doubled after each
UNCONNECTED_DELAY = 5.0  # seconds before a retry while the platform is not connected
MAX_ATTEMPTS = 12  # of an event that fails; outages do not count
MAX_BUG_ATTEMPTS = 3
DRAIN_TIMEOUT = 20.0  # seconds for events in progress at exit


class EventHandler(Protocol):
    """Handles events. Every method may be called again for the same event."""

    def serves(self, workspace: str) -> bool:
        """Whether this process can handle the events of a workspace (`platform:workspace`) now."""

    def ordering_key(self, event: PlatformEvent) -> str:
        """Events with the same key are ingested in order; empty: in any order."""

    async def ingest(self, event: PlatformEvent) -> None:
        """Ingest an event; sequential for each ordering key."""

    async def process(self, event: PlatformEvent) -> None:
        """Do what follows from an event; concurrent."""

    async def handle_failure(self, event: PlatformEvent, error: Exception) -> None:
        """Report an event that is dropped."""


class EventQueue:
    """Stores events and passes them to the handler: `async with EventQueue(store, handler, clock) as queue`.

    `processes`: those that share the table.
    """

    def __init__(
        self,
        store: BotStore,
        handler: EventHandler,
        clock: Clock,
        supervisor: Supervisor | None = None,
        processes: Processes | None = None,
    ) -> None:
        self._supervisor = supervisor or Supervisor(clock)
        self._rows = store.event_queue
        self._handler = handler
        self._clock = clock
        self._updated = asyncio.Event()
        self._claims = EventClaims(self._rows, processes or LocalProcesses(), handler.serves, clock, self._updated.set)
        self._partitions: dict[str, deque[tuple[QueuedEvent, PlatformEvent]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._outages = Outages()
        self._idle = asyncio.Event()
        self._polling = True
        self._retry_requested = False
        self._pruned_at = 0.0

    async def __aenter__(self) -> Self:
        self._supervisor.add_problem_source(self._outages.describe)
        self._poll_task = self._supervisor.run(TASK_NAME, self._run)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._poll_task.cancel()
        self._partitions.clear()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=DRAIN_TIMEOUT)
        await cancel_tasks(self._poll_task, *self._tasks)

    async def enqueue(self, event: PlatformEvent, *keys: str, suspend: Location | None = None) -> bool:
        """Store an event; durable when it returns. False if an event with one of the keys was stored before.

        `suspend`: as in `EventQueueTable.enqueue`.
        """
        event = normalize_value(event)
        workspace = events.workspace_of(event)
        kind, payload = encode_event(event)
        new = NewEvent(kind, payload, workspace, self._handler.ordering_key(event))
        is_new = await self._rows.enqueue(new, normalize_value(keys), self._clock.time(), suspend)
        if is_new:
            self._idle.clear()
            self._claims.announce(workspace)
        return is_new

    def retry_now(self) -> None:
        """Handle what can be handled since a platform can be reached again, and retry all delayed events at once."""
        self._retry_requested = True
        self._updated.set()

    def leave_to_others(self) -> None:
        """Take no further events, because this process is about to end."""
        self._claims.leave_to_others()

    async def limitations(self) -> list[str]:
        """Sentences on events that were dropped in the last two days."""
        return _describe_failures(await self._rows.count_failures())

    @property
    def is_running(self) -> bool:
        """Whether events are being handled."""
        return not self._poll_task.done()

    async def wait_until_idle(self) -> None:
        """Wait until no event is being handled; delayed ones do not count."""
        await self._idle.wait()

    async def depth(self) -> int:
        """How many events are not handled yet."""
        return await self._rows.count_waiting()

    async def _run(self) -> None:
        while True:
            self._updated.clear()
            await self._poll()
            self._supervisor.record_success(TASK_NAME)
            with suppress(TimeoutError):  # `wait_for` can swallow a cancellation on Python 3.11
                async with asyncio.timeout(await self._claims.seconds_until_due()):
                    await self._updated.wait()

    async def _poll(self) -> None:
        """Take events, and delete old keys."""
        self._polling = True
        if self._retry_requested:
            self._retry_requested = False
            self._outages.reset_failures()
            await self._rows.make_due(self._clock.time())
        for row in await self._claims.take():
            self._add_to_partition(row)
        if self._clock.time() - self._pruned_at > POLL_INTERVAL:
            self._pruned_at = self._clock.time()
            await self._rows.prune(self._clock.time() - KEY_RETENTION)
        self._polling = False
        self._update_idle()

    def _add_to_partition(self, row: QueuedEvent) -> None:
        """Append an event to the partition of its ordering key."""
        self._idle.clear()
        try:
            event = decode_event(row.event_type, row.payload)
        except (KeyError, ValidationError) as error:
            self._claims.hold(row.id)
            self._track_task(self._supervisor.spawn("refuse an event", self._refuse(row, type(error).__name__)))
            return
        key = self._handler.ordering_key(event)
        self._claims.hold(row.id, key)
        partition = key or f"row {row.id}"
        if partition in self._partitions:
            self._partitions[partition].append((row, event))
        else:
            self._partitions[partition] = deque([(row, event)])
            self._track_task(self._supervisor.run("ingest events", partial(self._ingest_partition, partition)))

    async def _refuse(self, row: QueuedEvent, error: str) -> None:
        await self._rows.fail(row.id, error)
        self._claims.release(row.id)

    async def _ingest_partition(self, partition: str) -> None:
        """Ingest the events of a partition in order."""
        while waiting := self._partitions.get(partition):
            row, event = waiting.popleft()
            if await self._attempt(row, event, self._handler.ingest):
                self._track_task(self._supervisor.spawn("handle an event", self._process(row, event)))
        self._partitions.pop(partition, None)

    async def _process(self, row: QueuedEvent, event: PlatformEvent) -> None:
        async def finished(event: PlatformEvent) -> None:
            await self._handler.process(event)
            await self._rows.finish(row.id)
            self._outages.clear(row.id)
            self._claims.release(row.id)

        await self._attempt(row, event, finished)

    async def _attempt(
        self, row: QueuedEvent, event: PlatformEvent, work: Callable[[PlatformEvent], Awaitable[None]]
    ) -> bool:
        try:
            await work(event)
        except Exception as error:  # noqa: BLE001 - every failure is retried or recorded
            await self._handle_error(row, event, error)
            return False
        return True

    async def _handle_error(self, row: QueuedEvent, event: PlatformEvent, error: Exception) -> None:
        if is_transient(error):
            await self._postpone(row, event, error)
            return
        self._outages.clear(row.id)
        name, bug = type(error).__name__, not isinstance(error, EngineError | OSError)
        tries = row.attempts + 1
        if tries >= (MAX_BUG_ATTEMPTS if bug else MAX_ATTEMPTS):
            log.error(
                "event.dropped", event_type=row.event_type, error=name, reason=describe_error(error), attempts=tries
            )
            await self._report_failure(event, error)  # before it is recorded, so that a crash repeats the report
            await self._record_outcome(row.id, self._rows.fail(row.id, name), MAX_DELAY)
            return
        delay = backoff_seconds(tries, FIRST_DELAY, MAX_DELAY)
        log.warning(
            "event.retry_scheduled",
            event_type=row.event_type,
            error=name,
            attempts=tries,
            delay_seconds=delay,
            is_bug=bug,
        )
        await self._record_outcome(row.id, self._rows.delay(row.id, self._clock.time() + delay, name, tries), delay)

    async def _postpone(self, row: QueuedEvent, event: PlatformEvent, error: Exception) -> None:
        """Retry an event after an outage, without counting it as an attempt."""
        failures = self._outages.record(row.id, events.platform_of(event), error)
        delay = (
            UNCONNECTED_DELAY if isinstance(error, NotConnected) else backoff_seconds(failures, FIRST_DELAY, MAX_DELAY)
        )
        name = type(error).__name__
        log.warning("event.postponed", event_type=row.event_type, error=name, failures=failures, delay_seconds=delay)
        await self._record_outcome(
            row.id, self._rows.delay(row.id, self._clock.time() + delay, name, row.attempts), delay
        )

    async def _record_outcome(self, id_: int, work: Awaitable[None], delay: float) -> None:
        """Record the outcome of an event that failed; if that fails too, it is handled again after `delay` seconds."""
        try:
            await work
        except Exception as error:  # noqa: BLE001 - the event itself failed already, and is logged
            self._supervisor.record_failure("record a failed event", error)
            asyncio.get_running_loop().call_later(delay, self._release_and_poll, id_)
        else:
            self._supervisor.record_success("record a failed event")
            self._release_and_poll(id_)

    def _release_and_poll(self, id_: int) -> None:
        self._claims.release(id_)
        self._updated.set()

    async def _report_failure(self, event: PlatformEvent, error: Exception) -> None:
        try:
            await self._handler.handle_failure(event, error)
        except Exception as silent:  # noqa: BLE001 - what waits behind it in its partition must not wait for ever
            log.warning("event.drop_handler_failed", error=type(silent).__name__)

    def _track_task(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._untrack_task)

    def _untrack_task(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._update_idle()

    def _update_idle(self) -> None:
        if not (self._tasks or self._polling or self._updated.is_set()):
            self._idle.set()


def _describe_failures(failures: Mapping[str, int]) -> list[str]:
    which = ", ".join(f"{count} for {name}" for name, count in sorted(failures.items()))
    sentence = f"Events given up in the last two days: {which}. The log has the reasons (event.dropped)."
    return [sentence] if failures else []
