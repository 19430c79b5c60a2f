"""A clock on which nobody waits."""

from __future__ import annotations

import asyncio

from tests.support.clock import ManualClock


class SleepersClock(ManualClock):
    """A clock that advances when somebody sleeps."""

    async def sleep(self, seconds: float) -> None:
        self.advance(seconds)
        await asyncio.sleep(0)
