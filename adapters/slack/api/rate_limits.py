"""Client-side rate limits for Slack calls."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from bot.platform.sliding_window import SlidingWindow

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


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
