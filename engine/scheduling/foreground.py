"""What background work waits for: people who wait for an answer, and more work for its batch."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from enum import Enum, auto
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator

    from engine.clock import Clock


Item = TypeVar("Item")

YIELD_INTERVAL_SECONDS = 0.005  # seconds of work after which other tasks of the event loop get a turn
# Seconds that background work yields at a stretch, and seconds in which it then does not.
MAX_YIELD_SECONDS, YIELD_PAUSE_SECONDS = 3.0, 0.5
MAX_QUOTED = 1000  # chunks that are remembered
RECENT_REQUEST_SECONDS = 5.0  # seconds after a question in which another one is likely

_is_foreground: ContextVar[bool] = ContextVar("foreground", default=False)


class ForegroundPriority:
    """Counts foreground requests; background work checks before each of its steps."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting = 0
        self._paused_until = float("-inf")  # until when background work does not yield
        self._last_request = float("-inf")
        self._quoted = deque[int](maxlen=MAX_QUOTED)
        self._no_requests = asyncio.Event()
        self._no_requests.set()

    @contextmanager
    def foreground_request(self) -> Iterator[None]:
        """Register a foreground request while this is held."""
        self._waiting += 1
        self._last_request = self._clock.monotonic()
        self._no_requests.clear()
        try:
            with foreground_calls():
                yield
        finally:
            self._waiting -= 1
            self._last_request = self._clock.monotonic()
            if not self._waiting:
                self._no_requests.set()

    def record_quoted(self, chunks: Iterable[int]) -> None:
        """Note the chunks that were found for a question: those that wait for a model are read at once."""
        self._quoted.extend(chunks)

    def has_quoted(self, chunks: Iterable[int]) -> bool:
        """Whether one of the chunks was found for a question lately."""
        return not set(self._quoted).isdisjoint(chunks)

    @property
    def is_recent(self) -> bool:
        """Whether there was a request a moment ago, so that batches should be short."""
        return self._waiting > 0 or self._clock.monotonic() - self._last_request < RECENT_REQUEST_SECONDS

    async def yield_to_foreground(self) -> None:
        """Wait until no foreground request is pending (bounded)."""
        if self._no_requests.is_set() or self._clock.monotonic() < self._paused_until:
            return
        try:
            async with asyncio.timeout(
                MAX_YIELD_SECONDS
            ):  # not `wait_for`: on Python 3.11 that may swallow the cancellation of this task
                await self._no_requests.wait()
        except TimeoutError:
            self._paused_until = self._clock.monotonic() + YIELD_PAUSE_SECONDS


async def iterate_cooperatively(
    items: Iterable[Item], priority: ForegroundPriority | None = None
) -> AsyncIterator[Item]:
    """Iterate with pauses for other tasks: a long loop would block them."""
    loop = asyncio.get_running_loop()
    since = loop.time()
    for item in items:
        yield item
        if loop.time() - since > YIELD_INTERVAL_SECONDS:
            await asyncio.sleep(0)
            if priority is not None:
                await priority.yield_to_foreground()
            since = loop.time()


@contextmanager
def foreground_calls() -> Iterator[None]:
    """Mark all work started inside as foreground work."""
    before = _is_foreground.get()
    _is_foreground.set(True)
    try:
        yield
    finally:
        _is_foreground.set(before)  # no token: a generator may be ended in another context


def is_urgent() -> bool:
    """Whether this runs within `foreground_calls`."""
    return _is_foreground.get()


class NextStep(Enum):
    """The step after a batch: idle (no work), gather (wait for more work), or continue at once."""

    IDLE = auto()
    GATHER = auto()
    CONTINUE = auto()

    @classmethod
    def after_batch(cls, count: int, limit: int) -> NextStep:
        """The step after a batch of `count` items out of at most `limit`: more work follows a full batch."""
        return cls.IDLE if not count else cls.CONTINUE if count >= limit else cls.GATHER


class WaitTarget(Enum):
    """What a caller waits for: the end of all work, or the work that is there already."""

    EVERYTHING = auto()
    PRESENT = auto()


class BatchGate:
    """Tracks waiting callers, to decide whether a batch may be delayed.

    While extraction runs, small batches do not help a caller who waits for the end of all work; they help one who waits
    for existing work.
    """

    def __init__(self) -> None:
        self._waiters: Counter[WaitTarget] = Counter()
        self._extracting = False
        self._no_delay = asyncio.Event()

    def has_waiter(self, target: WaitTarget) -> bool:
        """Whether a caller waits for that."""
        return self._waiters[target] > 0

    @contextmanager
    def register_waiter(self, target: WaitTarget) -> Iterator[None]:
        """Register a waiting caller while this is held."""
        self._waiters[target] += 1
        self._update_delay()
        try:
            yield
        finally:
            self._waiters[target] -= 1
            self._update_delay()

    def set_extracting(self, running: bool) -> None:  # noqa: FBT001 - the state itself
        """Set whether extraction is running."""
        self._extracting = running
        self._update_delay()

    async def wait_for_more(self, seconds: float) -> None:
        """Wait for so many seconds, or until a caller needs the next batch."""
        if seconds > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._no_delay.wait()

    def _update_delay(self) -> None:
        if self.has_waiter(WaitTarget.PRESENT) or (self.has_waiter(WaitTarget.EVERYTHING) and not self._extracting):
            self._no_delay.set()
        else:
            self._no_delay.clear()
