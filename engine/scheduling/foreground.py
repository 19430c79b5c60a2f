"""Courtesy: background work steps aside while somebody waits for an answer."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from engine.scheduling.urgency import urgent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator

Item = TypeVar("Item")

BREATH = 0.005  # seconds of work after which whatever else waits on the loop has its turn
LONGEST, LEFT_ALONE = 3.0, 0.5  # seconds that background work steps aside at a stretch, and then does not
RECENT = 5.0  # seconds after a question in which another one is likely


class Courtesy:
    """Counts those who wait for an answer; background work asks before each of its steps."""

    def __init__(self) -> None:
        self._waiting = 0
        self._left_alone = 0.0  # until when nobody steps aside
        self._asked = float("-inf")
        self._free = asyncio.Event()
        self._free.set()

    @contextmanager
    def asked(self) -> Iterator[None]:
        """Somebody waits, for as long as this is held."""
        self._waiting += 1
        self._asked = time.monotonic()
        self._free.clear()
        try:
            with urgent():
                yield
        finally:
            self._waiting -= 1
            self._asked = time.monotonic()
            if not self._waiting:
                self._free.set()

    @property
    def recent(self) -> bool:
        """Whether somebody asked a moment ago, so that batches are to be short."""
        return self._waiting > 0 or time.monotonic() - self._asked < RECENT

    async def after_you(self) -> None:
        """Wait until nobody waits, but not for ever."""
        if self._free.is_set() or time.monotonic() < self._left_alone:
            return
        try:
            async with asyncio.timeout(LONGEST):  # not `wait_for`: on Python 3.11 that may swallow the end of this task
                await self._free.wait()
        except TimeoutError:
            self._left_alone = time.monotonic() + LEFT_ALONE


async def in_turns(items: Iterable[Item], courtesy: Courtesy | None = None) -> AsyncIterator[Item]:
    """The items, with turns for others in between: a long loop would keep them waiting."""
    since = time.monotonic()
    for item in items:
        yield item
        if time.monotonic() - since > BREATH:
            await asyncio.sleep(0)
            if courtesy is not None:
                await courtesy.after_you()
            since = time.monotonic()
