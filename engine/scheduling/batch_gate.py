"""Delay a batch so that more work can join it, unless a caller is waiting."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import contextmanager, suppress
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


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
