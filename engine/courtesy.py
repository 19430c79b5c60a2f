"""Courtesy: background work steps aside while somebody waits for an answer."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator

Item = TypeVar("Item")

BREATH = 0.005  # seconds of work after which whatever else waits on the loop has its turn
LONGEST = 1.0  # seconds that background work steps aside at a stretch, so that many questions do not starve it


class Courtesy:
    """Counts those who wait for an answer; background work asks before each of its steps."""

    def __init__(self) -> None:
        self._waiting = 0
        self._free = asyncio.Event()
        self._free.set()

    @contextmanager
    def asked(self) -> Iterator[None]:
        """Somebody waits, for as long as this is held."""
        self._waiting += 1
        self._free.clear()
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._free.set()

    async def after_you(self) -> None:
        """Wait until nobody waits, but not for ever."""
        if not self._free.is_set():
            with suppress(TimeoutError):  # not `wait_for`: on Python 3.11 that may swallow the end of this task
                async with asyncio.timeout(LONGEST):
                    await self._free.wait()


async def in_turns(items: Iterable[Item]) -> AsyncIterator[Item]:
    """The items, with turns for others in between: a long loop would keep them waiting."""
    since = time.monotonic()
    for item in items:
        yield item
        if time.monotonic() - since > BREATH:
            await asyncio.sleep(0)
            since = time.monotonic()
