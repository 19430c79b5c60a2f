"""A concurrency limit that serves the urgent first."""

from __future__ import annotations

import asyncio
import heapq
from contextlib import asynccontextmanager
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

URGENT = 0


class PrioritySemaphore:
    """At most `limit` at once; who waits is let in by rank (0 first), then in the order of coming.

    Ranks other than 0 leave `reserved` places alone, so that a question need not wait for work in the background.
    """

    def __init__(self, limit: int, reserved: int = 0) -> None:
        if limit < 1:
            raise ValueError(f"limit must be at least 1, not {limit}")
        self._limit = limit
        self._background_limit = max(1, limit - reserved)
        self._running = 0
        self._background = 0
        self._tickets = count()
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def place(self, rank: int) -> AsyncIterator[None]:
        """Hold one place."""
        await self._enter(rank)
        try:
            yield
        finally:
            self._leave(rank)

    async def _enter(self, rank: int) -> None:
        turn = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (rank, next(self._tickets), turn))
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # let in and cancelled at the same moment
                self._leave(rank)
            raise

    def _leave(self, rank: int) -> None:
        self._running -= 1
        self._background -= rank > URGENT
        self._admit()

    def _admit(self) -> None:
        while self._waiting:
            rank, _, turn = self._waiting[0]
            if turn.cancelled():
                heapq.heappop(self._waiting)
            elif self._has_room(rank):
                heapq.heappop(self._waiting)
                self._running += 1
                self._background += rank > URGENT
                turn.set_result(None)
            else:
                return

    def _has_room(self, rank: int) -> bool:
        return self._running < self._limit and (rank <= URGENT or self._background < self._background_limit)
