"""Haste: a batch lets more come together before the next one, unless somebody waits for it."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from contextlib import contextmanager, suppress
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class NextStep(Enum):
    """What follows a step: rest, for there was nothing to do; letting more come together; or the next one at once."""

    IDLE = auto()
    GATHER = auto()
    CONTINUE = auto()

    @classmethod
    def after_batch(cls, taken: int, most: int) -> NextStep:
        """What follows a batch of so many where at most `most` are taken: a full one has more behind it."""
        return cls.IDLE if not taken else cls.CONTINUE if taken >= most else cls.GATHER


class WaitTarget(Enum):
    """What somebody waits for: the end of everything, or what is there already."""

    EVERYTHING = auto()
    PRESENT = auto()


class BatchGate:
    """Knows for whom a batch must not wait.

    Who waits for the end gains nothing by small batches while more is being read; who waits for what is there already
    does.
    """

    def __init__(self) -> None:
        self._waiters: Counter[WaitTarget] = Counter()
        self._extracting = False
        self._no_delay = asyncio.Event()

    def has_waiter(self, wish: WaitTarget) -> bool:
        """Whether somebody waits for that."""
        return self._waiters[wish] > 0

    @contextmanager
    def register_waiter(self, wish: WaitTarget) -> Iterator[None]:
        """Somebody waits for that, for as long as this is held."""
        self._waiters[wish] += 1
        self._update_delay()
        try:
            yield
        finally:
            self._waiters[wish] -= 1
            self._update_delay()

    def set_extracting(self, reading: bool) -> None:  # noqa: FBT001 - the state itself
        """Whether more is being read, from now on."""
        self._extracting = reading
        self._update_delay()

    async def wait_for_more(self, until: float) -> None:
        """Wait up to that time (monotonic), or until there is haste."""
        left = until - time.monotonic()
        if left > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._no_delay.wait()

    def _update_delay(self) -> None:
        if self.has_waiter(WaitTarget.PRESENT) or (self.has_waiter(WaitTarget.EVERYTHING) and not self._extracting):
            self._no_delay.set()
        else:
            self._no_delay.clear()
