"""Client-side rate limits for Slack calls."""

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


class RateLimits:
    """Rate limits of one workspace, shared by all its replies.

    chat.startStream, chat.stopStream: 20 a minute; chat.appendStream: 100; chat.update: 50; chat.postMessage: one a
    second in a channel (docs.slack.dev, rate limits). Appends and updates are spread over the minute. `urgent` calls
    remove text that must not stay visible, and do not queue behind others.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.clock = clock
        self.sleep = sleep
        self.starts = SlidingWindow(20, 60.0, clock, sleep)
        self.appends = SlidingWindow(16, 10.0, clock, sleep)
        self.stops = SlidingWindow(20, 60.0, clock, sleep)
        self.updates = SlidingWindow(8, 10.0, clock, sleep)
        self.urgent = SlidingWindow(8, 10.0, clock, sleep)
        self._posts: dict[str, SlidingWindow] = {}

    def posts(self, channel: str) -> SlidingWindow:
        """The limit for posts in a channel."""
        return self._posts.setdefault(channel, SlidingWindow(1, 1.05, self.clock, self.sleep))
