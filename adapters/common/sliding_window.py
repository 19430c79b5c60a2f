"""A limit of calls within a span of time, of this process or of all processes together."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

import structlog

from engine.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from engine import Clock
    from engine.scheduling.processes import CallLimits

log = structlog.get_logger(__name__)

MIN_PAUSE = 0.01  # seconds; prevents busy loops on coarse clocks
UNCOUNTED_WAIT = 1.0  # seconds until the next attempt, if the database could not count a call


class SlidingWindow:
    """At most `limit` calls within any `span` seconds; `block` and `block_for_all` stop them for a while.

    With `shared` limits, the calls of all processes under this `name` count. Then a call also waits for a database that
    does not answer.
    """

    def __init__(
        self,
        limit: int,
        span: float,
        clock: Clock,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        *,
        name: str = "",
        shared: CallLimits | None = None,
    ) -> None:
        self._limit = limit
        self._span = span
        self._clock = clock
        self._sleep = sleep
        self._name = name
        self._shared = shared
        self._calls: deque[float] = deque()
        self._blocked_until = 0.0

    @property
    def wait_seconds(self) -> float:
        """Seconds until this process may make its next call, as it knows."""
        now = self._clock.monotonic()
        while self._calls and self._calls[0] + self._span <= now:
            self._calls.popleft()
        full = len(self._calls) >= self._limit
        return max(self._blocked_until - now, self._calls[0] + self._span - now if full else 0.0, 0.0)

    async def try_acquire(self) -> bool:
        """Take a turn if one is free now."""
        if self.wait_seconds > 0:
            return False
        now = self._clock.monotonic()
        self._calls.append(now)
        if wait := await self._count_for_all():
            with suppress(ValueError):  # the answer came after the span
                self._calls.remove(now)
            self.block(wait)
        return not wait

    async def acquire(self, within: float | None = None) -> bool:
        """Wait for a turn; returns False at once if none will be free within `within` seconds."""
        until = None if within is None else self._clock.monotonic() + within
        while not await self.try_acquire():
            pause = max(self.wait_seconds, MIN_PAUSE)
            if until is not None and self._clock.monotonic() + pause > until:
                return False
            await self._sleep(pause)
        return True

    def block(self, seconds: float) -> None:
        """Allow this process no calls for `seconds`."""
        self._blocked_until = max(self._blocked_until, self._clock.monotonic() + seconds)

    async def block_for_all(self, seconds: float) -> None:
        """Allow no process calls for `seconds`: the platform refuses them."""
        self.block(seconds)
        if self._shared is not None:
            try:
                await self._shared.pause(self._name, seconds)
            except StoreError as error:
                log.warning("rate_limit.pause_not_shared", error=type(error).__name__)

    async def _count_for_all(self) -> float:
        """Count a call among those of all processes; returns the seconds to wait if there is no turn."""
        if self._shared is None:
            return 0.0
        try:
            return await self._shared.take_turn(self._name, self._limit, self._span)
        except StoreError as error:
            log.warning("rate_limit.call_not_counted", error=type(error).__name__)
            return UNCOUNTED_WAIT
