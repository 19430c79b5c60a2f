"""Limits of calls that all processes on a database count together, by the clock of the database."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from engine.errors import DatabaseUnreachable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

ANSWER_TIMEOUT = 2.0  # seconds for the database to count a call
UNSEEN_WAIT = 0.02  # seconds until the next attempt, if the call that came first is not visible yet

# The row lock lets one process after another count. `now()` is when the statement began, before it waited for that; a
# call that is much later was counted before the clock of the database was set back.
TAKE_TURN = """
WITH taken AS (
    INSERT INTO call_window AS w (name, calls) VALUES ($1, ARRAY[now()])
    ON CONFLICT (name) DO UPDATE SET calls = w.calls[cardinality(w.calls) - $2::integer + 2 :] || now()
    WHERE w.paused_until <= now() AND (
        cardinality(w.calls) < $2 OR w.calls[cardinality(w.calls) - $2 + 1] <= now() - $3 * interval '1 second'
        OR w.calls[cardinality(w.calls) - $2 + 1] > now() + interval '10 seconds')
    RETURNING 1
)
SELECT CASE WHEN EXISTS (SELECT 1 FROM taken) THEN 0.0 ELSE COALESCE((
    SELECT EXTRACT(EPOCH FROM GREATEST(
        w.paused_until, w.calls[cardinality(w.calls) - $2 + 1] + $3 * interval '1 second') - now())
    FROM call_window w WHERE w.name = $1
), 0.0) END::float8
"""
PAUSE = """
INSERT INTO call_window AS w (name, calls, paused_until) VALUES ($1, '{}', now() + $2 * interval '1 second')
ON CONFLICT (name) DO UPDATE SET paused_until = GREATEST(w.paused_until, excluded.paused_until)
"""
FIND_PAUSE = "SELECT EXTRACT(EPOCH FROM paused_until - now())::float8 FROM call_window WHERE name = $1"
DELETE_UNUSED = """
DELETE FROM call_window WHERE GREATEST(paused_until, calls[cardinality(calls)]) < now() - interval '1 day'
"""


class SharedCallLimits:
    """`CallLimits` in the database. `execute` runs one statement in a transaction of its own."""

    def __init__(self, execute: Callable[[str, tuple[Any, ...]], Awaitable[Sequence[tuple[Any, ...]]]]) -> None:
        self._execute = execute

    async def take_turn(self, window: str, limit: int, span: float) -> float:
        """Count a call and return 0.0, or return the seconds after which a turn may be free. Raises StoreError."""
        async with _answer_timeout():
            [(wait,)] = await self._execute(TAKE_TURN, (window, limit, span))
        return 0.0 if wait == 0.0 else max(float(wait), UNSEEN_WAIT)

    async def pause(self, window: str, seconds: float) -> None:
        """Allow no calls for that long. Raises StoreError."""
        async with _answer_timeout():
            await self._execute(PAUSE, (window, seconds))

    async def find_pause(self, window: str) -> float:
        """The seconds for which no calls are allowed, or 0.0. Raises StoreError."""
        async with _answer_timeout():
            rows = await self._execute(FIND_PAUSE, (window,))
        return max(float(rows[0][0]), 0.0) if rows else 0.0


@asynccontextmanager
async def _answer_timeout() -> AsyncIterator[None]:
    """Raise DatabaseUnreachable if the database does not answer in time."""
    try:
        async with asyncio.timeout(ANSWER_TIMEOUT):
            yield
    except TimeoutError as error:
        raise DatabaseUnreachable("The database did not count a call in time.") from error
