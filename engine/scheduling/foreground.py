"""Courtesy: background work steps aside while somebody waits for an answer."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from engine.scheduling.urgency import foreground_calls

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator

Item = TypeVar("Item")

YIELD_INTERVAL_SECONDS = 0.005  # seconds of work after which whatever else waits on the loop has its turn
MAX_YIELD_SECONDS, YIELD_PAUSE_SECONDS = (
    3.0,
    0.5,
)  # seconds that background work steps aside at a stretch, and then does not
RECENT_REQUEST_SECONDS = 5.0  # seconds after a question in which another one is likely


class ForegroundPriority:
    """Counts those who wait for an answer; background work asks before each of its steps."""

    def __init__(self) -> None:
        self._waiting = 0
        self._paused_until = 0.0  # until when nobody steps aside
        self._last_request = float("-inf")
        self._no_requests = asyncio.Event()
        self._no_requests.set()

    @contextmanager
    def foreground_request(self) -> Iterator[None]:
        """Somebody waits, for as long as this is held."""
        self._waiting += 1
        self._last_request = time.monotonic()
        self._no_requests.clear()
        try:
            with foreground_calls():
                yield
        finally:
            self._waiting -= 1
            self._last_request = time.monotonic()
            if not self._waiting:
                self._no_requests.set()

    @property
    def is_recent(self) -> bool:
        """Whether somebody asked a moment ago, so that batches are to be short."""
        return self._waiting > 0 or time.monotonic() - self._last_request < RECENT_REQUEST_SECONDS

    async def yield_to_foreground(self) -> None:
        """Wait until nobody waits, but not for ever."""
        if self._no_requests.is_set() or time.monotonic() < self._paused_until:
            return
        try:
            async with asyncio.timeout(
                MAX_YIELD_SECONDS
            ):  # not `wait_for`: on Python 3.11 that may swallow the end of this task
                await self._no_requests.wait()
        except TimeoutError:
            self._paused_until = time.monotonic() + YIELD_PAUSE_SECONDS


async def iterate_cooperatively(
    items: Iterable[Item], courtesy: ForegroundPriority | None = None
) -> AsyncIterator[Item]:
    """The items, with turns for others in between: a long loop would keep them waiting."""
    since = time.monotonic()
    for item in items:
        yield item
        if time.monotonic() - since > YIELD_INTERVAL_SECONDS:
            await asyncio.sleep(0)
            if courtesy is not None:
                await courtesy.yield_to_foreground()
            since = time.monotonic()
