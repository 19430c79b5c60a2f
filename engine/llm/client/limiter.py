"""A concurrency limit that serves the urgent first."""

from __future__ import annotations

import asyncio
import heapq
from contextlib import asynccontextmanager
from itertools import count
from typing import TYPE_CHECKING

from engine.scheduling.urgency import is_urgent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

# A question brings its own text and two lists of keywords to an embedder. What brings more is work in the background,
# unless it is done within `urgent`: an answer by quotation compares a hundred sentences.
QUESTION_TEXTS = 3
URGENT = 0
LONGEST, PAUSE = 1.0, 0.2  # seconds that the background is kept waiting at a stretch, and then is not


def embedding_rank(texts: int) -> int:
    """The rank of a call that embeds so many texts."""
    return URGENT if is_urgent() or texts <= QUESTION_TEXTS else URGENT + 1


class PrioritySemaphore:
    """At most `limit` at once; who waits is let in by rank (0 first), then in the order of coming.

    Ranks other than 0 leave `reserved` places alone, so that a question need not wait for work in the background; and
    none of them begins within a `moment` (seconds) after one of rank 0 came or left: the same question will ask again.
    """

    def __init__(self, limit: int, reserved: int = 0, moment: float = 0.0) -> None:
        if limit < 1:
            raise ValueError(f"limit must be at least 1, not {limit}")
        self._limit = limit
        self._background_limit = max(1, limit - reserved)
        self._running = 0
        self._background = 0
        self._moment = moment
        self._hurry: tuple[float, float] | None = None  # since and until when the background waits
        self._left_alone = 0.0  # until when it does not
        self._tickets = count()
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def place(self, rank: int) -> AsyncIterator[None]:
        """Hold one place."""
        self._hasten(rank)
        await self._enter(rank)
        try:
            yield
        finally:
            self._hasten(rank)
            self._leave(rank)

    def _hasten(self, rank: int) -> None:
        """Keep the background waiting for a moment, if this is urgent."""
        if rank > URGENT or not self._moment:
            return
        loop = asyncio.get_running_loop()
        if loop.time() < self._left_alone:
            return
        since = self._hurry[0] if self._hurry else loop.time()
        self._hurry = since, min(loop.time() + self._moment, since + LONGEST)
        loop.call_at(self._hurry[1], self._calm_down, self._hurry)

    def _calm_down(self, hurry: tuple[float, float]) -> None:
        if self._hurry is hurry:
            self._hurry = None
            if hurry[1] >= hurry[0] + LONGEST:
                self._left_alone = hurry[1] + PAUSE
            self._admit()

    async def _enter(self, rank: int) -> None:
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        heapq.heappush(self._waiting, (rank, next(self._tickets), turn))
        if rank > URGENT and self._hurry:
            # The timer of the question is gone if the event loop that served it has ended.
            loop.call_at(self._hurry[1], self._calm_down, self._hurry)
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
        hurry = self._hurry is not None and asyncio.get_running_loop().time() < self._hurry[1]
        if rank > URGENT and (hurry or self._background >= self._background_limit):
            return False
        return self._running < self._limit
