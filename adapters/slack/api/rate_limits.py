"""How often Slack may be called: what is asked for is given now, in a while, or not in time."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

LEAST = 0.01  # seconds; nobody waits for less, so that clocks of coarse grain cannot make a loop spin


class Window:
    """At most `limit` calls within any `span` seconds; closed altogether for as long as the platform asks."""

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
        self._taken: deque[float] = deque()
        self._opens = 0.0

    @property
    def wait(self) -> float:
        """Seconds until the next call may be made."""
        now = self._clock()
        while self._taken and self._taken[0] + self._span <= now:
            self._taken.popleft()
        full = len(self._taken) >= self._limit
        return max(self._opens - now, self._taken[0] + self._span - now if full else 0.0, 0.0)

    def grab(self) -> bool:
        """A turn if there is one now."""
        if self.wait > 0:
            return False
        self._taken.append(self._clock())
        return True

    async def take(self, within: float | None = None) -> bool:
        """Wait for a turn; False, at once, if none can come within so many seconds."""
        until = None if within is None else self._clock() + within
        while not self.grab():
            pause = max(self.wait, LEAST)
            if until is not None and self._clock() + pause > until:
                return False
            await self._sleep(pause)
        return True

    def close(self, seconds: float) -> None:
        """Give no turns for so long."""
        self._opens = max(self._opens, self._clock() + seconds)


class Pace:
    """The turns of one workspace, shared by all its replies.

    chat.startStream, chat.stopStream: 20 a minute; chat.appendStream: 100; chat.update: 50; chat.postMessage: one a
    second in a channel (docs.slack.dev, rate limits). Appends and updates are spread over the minute. `urgent` calls
    take something back that must not be seen, and do not queue behind others.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.clock = clock
        self.sleep = sleep
        self.starts = Window(20, 60.0, clock, sleep)
        self.appends = Window(16, 10.0, clock, sleep)
        self.stops = Window(20, 60.0, clock, sleep)
        self.updates = Window(8, 10.0, clock, sleep)
        self.urgent = Window(8, 10.0, clock, sleep)
        self._posts: dict[str, Window] = {}

    def posts(self, channel: str) -> Window:
        """The turns to post in a channel."""
        return self._posts.setdefault(channel, Window(1, 1.05, self.clock, self.sleep))
