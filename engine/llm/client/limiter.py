"""Limits of model calls: concurrency by priority, foreground calls first."""

from __future__ import annotations

import asyncio
import heapq
from contextlib import asynccontextmanager
from itertools import count
from typing import TYPE_CHECKING

from engine.scheduling.foreground import is_urgent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

# A question embeds its own text and two lists of keywords. More texts mean background work, unless the task is in the
# foreground: an answer by quotation compares a hundred sentences.
MAX_QUESTION_TEXTS = 3
FOREGROUND_RANK = 0
# Seconds that background calls are delayed at a stretch, and seconds in which they then are not.
MAX_BACKGROUND_DELAY, BACKGROUND_WINDOW = 1.0, 0.2


def embedding_rank(texts: int) -> int:
    """Rank of a call that embeds this many texts."""
    return FOREGROUND_RANK if is_urgent() or texts <= MAX_QUESTION_TEXTS else FOREGROUND_RANK + 1


class PrioritySemaphore:
    """Runs at most `limit` at once; waiting calls start by rank (0 first), then in order of arrival.

    Ranks other than 0 leave `reserved` slots free, so that a question need not wait for background work. None of them
    starts within `question_gap` seconds after a call of rank 0 came or left, since the same question will call again.
    """

    def __init__(self, limit: int, reserved: int = 0, question_gap: float = 0.0) -> None:
        if limit < 1:
            raise ValueError(f"limit must be at least 1, not {limit}")
        self._limit = limit
        self._background_limit = max(1, limit - reserved)
        self._running = 0
        self._background = 0
        self._delay_seconds = question_gap
        self._delay: tuple[float, float] | None = None  # since and until when background calls are delayed
        self._no_delay_until = 0.0  # until when they are not delayed
        self._sequence = count()
        self._waiters: list[tuple[int, int, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def acquire(self, rank: int) -> AsyncIterator[None]:
        """Hold one slot."""
        self._delay_background(rank)
        await self._wait_for_slot(rank)
        try:
            yield
        finally:
            self._delay_background(rank)
            self._release_slot(rank)

    async def give_way(self, rank: int) -> None:
        """Wait while background calls are delayed: what follows the reply to one of them would delay the question."""
        if rank > FOREGROUND_RANK and self._delay is not None:
            await asyncio.sleep(max(0.0, self._delay[1] - asyncio.get_running_loop().time()))

    def _delay_background(self, rank: int) -> None:
        """Delay background calls for a moment if this call is urgent."""
        if rank > FOREGROUND_RANK or not self._delay_seconds:
            return
        loop = asyncio.get_running_loop()
        if loop.time() < self._no_delay_until:
            return
        since = self._delay[0] if self._delay else loop.time()
        self._delay = since, min(loop.time() + self._delay_seconds, since + MAX_BACKGROUND_DELAY)
        loop.call_at(self._delay[1], self._end_delay, self._delay)

    def _end_delay(self, delay: tuple[float, float]) -> None:
        if self._delay is delay:
            self._delay = None
            if delay[1] >= delay[0] + MAX_BACKGROUND_DELAY:
                self._no_delay_until = delay[1] + BACKGROUND_WINDOW
            self._wake_waiters()

    async def _wait_for_slot(self, rank: int) -> None:
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        heapq.heappush(self._waiters, (rank, next(self._sequence), turn))
        if rank > FOREGROUND_RANK and self._delay:
            # The timer of the question is gone if its event loop has ended.
            loop.call_at(self._delay[1], self._end_delay, self._delay)
        self._wake_waiters()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # admitted and cancelled at the same moment
                self._release_slot(rank)
            raise

    def _release_slot(self, rank: int) -> None:
        self._running -= 1
        self._background -= rank > FOREGROUND_RANK
        self._wake_waiters()

    def _wake_waiters(self) -> None:
        while self._waiters:
            rank, _, turn = self._waiters[0]
            if turn.cancelled():
                heapq.heappop(self._waiters)
            elif self._has_free_slot(rank):
                heapq.heappop(self._waiters)
                self._running += 1
                self._background += rank > FOREGROUND_RANK
                turn.set_result(None)
            else:
                return

    def _has_free_slot(self, rank: int) -> bool:
        is_delayed = self._delay is not None and asyncio.get_running_loop().time() < self._delay[1]
        if rank > FOREGROUND_RANK and (is_delayed or self._background >= self._background_limit):
            return False
        return self._running < self._limit
