"""Pools of connections that the server may end at any time, and that this process may have to give up at once.

A connection that the server ended while nobody used it is replaced before its use. `end` makes all calls fail, whether
they wait for a connection or for the server.
"""

from __future__ import annotations

import asyncio
import math
import threading
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import AsyncCursor, sql
from psycopg.errors import UniqueViolation
from psycopg_pool import AsyncConnectionPool, ConnectionPool, PoolTimeout

from engine.storage.postgres.connection import (
    MAX_PREPARED,
    POSTGRES_ERRORS,
    KnownConnections,
    connection_options,
    has_news,
    translate_error,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from engine.scheduling.processes import Loss
    from engine.storage.postgres.connection import Raw

POOL_SIZE = 6
WAIT_SECONDS = 30.0  # that a statement waits for a connection
POOL_OPTIONS: dict[str, Any] = {"min_size": 1, "timeout": WAIT_SECONDS, "open": False}
ROUND_SECONDS = 5.0  # after which a waiting statement looks whether the pool was closed
MAX_BROKEN = 100  # connections that one statement replaces
BROKEN = "All connections to the server are broken."
CREATE_SCHEMA = sql.SQL("CREATE SCHEMA IF NOT EXISTS {}")
AsyncRaw = psycopg.AsyncConnection[Any]


class ThreadPool(ConnectionPool["Raw"]):
    """A pool for use in threads; all statements stay prepared, which are more than the library keeps."""

    def __init__(self, url: str, options: Mapping[str, Any], size: int) -> None:
        self._known = KnownConnections()
        super().__init__(url, kwargs=dict(options), configure=self._prepare, max_size=size, **POOL_OPTIONS)

    def getconn(self, timeout: float | None = None) -> Raw:
        """A connection that works. Raises psycopg.OperationalError."""
        rounds = _count_rounds(self.timeout if timeout is None else timeout)
        for _ in range(rounds + MAX_BROKEN):
            try:
                raw = super().getconn(ROUND_SECONDS)
            except PoolTimeout:
                if not (rounds := rounds - 1):
                    raise
                continue
            if _is_usable(raw):
                return raw
            raw.close()
            self.putconn(raw)
        raise PoolTimeout(BROKEN)

    def end(self) -> None:
        """Make all calls fail, now and later."""
        self._known.end()
        threading.Thread(target=self.close, daemon=True).start()

    def _prepare(self, raw: Raw) -> None:
        raw.prepared_max = MAX_PREPARED
        self._known.add(raw)


class LoopPool(AsyncConnectionPool[AsyncRaw]):
    """A pool for use in the event loop."""

    def __init__(self, url: str, options: Mapping[str, Any], size: int) -> None:
        self._known = KnownConnections()
        self._closing: asyncio.Task[None] | None = None
        super().__init__(url, kwargs=dict(options), configure=self._prepare, max_size=size, **POOL_OPTIONS)

    async def getconn(self, timeout: float | None = None) -> AsyncRaw:  # noqa: ASYNC109  - as in the library
        """A connection that works. Raises psycopg.OperationalError."""
        rounds = _count_rounds(self.timeout if timeout is None else timeout)
        for _ in range(rounds + MAX_BROKEN):
            try:
                raw = await super().getconn(ROUND_SECONDS)
            except PoolTimeout:
                if not (rounds := rounds - 1):
                    raise
                continue
            if await _is_usable_async(raw):
                return raw
            await raw.close()
            await self.putconn(raw)
        raise PoolTimeout(BROKEN)

    def end(self) -> None:
        """Make all calls fail, now and later."""
        self._known.end()
        self._closing = asyncio.get_running_loop().create_task(self.close())

    async def _prepare(self, raw: AsyncRaw) -> None:
        self._known.add(raw)


def _count_rounds(seconds: float) -> int:
    return max(math.ceil(seconds / ROUND_SECONDS), 1)


def _is_usable(raw: Raw) -> bool:
    """Whether the server has not ended a connection; it is asked only if it has sent something."""
    try:
        if has_news(raw):
            raw.execute("")
    except psycopg.Error:
        return False
    return True


async def _is_usable_async(raw: AsyncRaw) -> bool:
    try:
        if has_news(raw):
            await raw.execute("")
    except psycopg.Error:
        return False
    return True


@asynccontextmanager
async def open_pool(
    url: str, label: str, schema: str, *others: str, lost: Loss | None = None
) -> AsyncIterator[LoopPool]:
    """A pool whose names are those of `schema`, which is created, of `public`, and of other schemas, in this order.

    Raises StoreError. `label`: of the data, for messages. Once `lost` is set, all calls fail.
    """
    pool = LoopPool(url, connection_options(schema, "public", *others) | {"cursor_factory": AsyncCursor}, POOL_SIZE)
    if lost is not None:
        lost.on_set(pool.end)
    try:
        await pool.open()
        with suppress(UniqueViolation):  # another process creates it now
            async with pool.connection() as connection:
                await connection.execute(CREATE_SCHEMA.format(sql.Identifier(schema)))
    except POSTGRES_ERRORS as error:
        await pool.close()
        raise translate_error(error, label) from error
    async with pool:
        yield pool
