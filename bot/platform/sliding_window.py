"""A limit of calls within a span of time."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

MIN_PAUSE = 0.01  # seconds; prevents busy loops on coarse clocks


class SlidingWindow:
    """At most `limit` calls within any `span` seconds; `block` stops all calls for a while."""

    def __init__(
        self,
        limit: int,
        span: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._limit = limit
        self._span = span
        self._clock = clock
        self._sleep = sleep
        self._calls: deque[float] = deque()
        self._blocked_until = 0.0

    @property
    def is_empty(self) -> bool:
        """Whether no call was made within the last `span` seconds."""
        return not self._calls or self._calls[-1] + self._span <= self._clock()

    @property
    def wait_seconds(self) -> float:
        """Seconds until the next call may be made."""
        now = self._clock()
        while self._calls and self._calls[0] + self._span <= now:
            self._calls.popleft()
        full = len(self._calls) >= self._limit
        return max(self._blocked_until - now, self._calls[0] + self._span - now if full else 0.0, 0.0)

    def try_acquire(self) -> bool:
        """Take a turn if one is free now."""
        if self.wait_seconds > 0:
            return False
        self._calls.append(self._clock())
        return True

    async def acquire(self, within: float | None = None) -> bool:
        """Wait for a turn; returns False at once if none will be free within `within` seconds."""
        until = None if within is None else self._clock() + within
        while not self.try_acquire():
            pause = max(self.wait_seconds, MIN_PAUSE)
            if until is not None and self._clock() + pause > until:
                return False
            await self._sleep(pause)
        return True

    def block(self, seconds: float) -> None:
        """Allow no calls for `seconds`."""
        self._blocked_until = max(self._blocked_until, self._clock() + seconds)
