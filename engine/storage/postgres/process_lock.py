"""A lock in the database: one process at a time works on it, another takes over once its connection has ended."""

from __future__ import annotations

import asyncio
import hashlib
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import structlog

from engine.errors import DatabaseInUse
from engine.scheduling.tasks import cancel_tasks
from engine.storage.postgres.connection import translate_error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from engine.scheduling.supervisor import Supervisor

log = structlog.get_logger(__name__)

LABEL = "ledger"
LOCK_NUMBER = int.from_bytes(hashlib.sha256(b"threadlore process").digest()[:7])
# The server notices within some 15 seconds that a machine is gone, and frees its lock.
KEEPALIVES = "-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=3 -c tcp_keepalives_count=3"
CHECK_SECONDS = 3.0  # between two checks of the connection that holds the lock
CHECK_TIMEOUT = 6.0  # seconds after which a check counts as failed


@asynccontextmanager
async def hold_database(url: str, supervisor: Supervisor, lost: asyncio.Event) -> AsyncIterator[None]:
    """Hold the database for this process. Raises DatabaseInUse, and StoreError if it cannot be reached.

    `lost` is set when the connection is lost: another process may take over, so this one must stop.
    """
    try:
        connection = await psycopg.AsyncConnection.connect(url, autocommit=True, options=KEEPALIVES)
    except psycopg.Error as error:
        raise translate_error(error, LABEL) from error
    async with connection:
        cursor = await connection.execute("SELECT pg_try_advisory_lock(%s)", (LOCK_NUMBER,))
        if await cursor.fetchone() != (True,):
            raise DatabaseInUse("The database is in use by another process.")
        watching = supervisor.run("database lock", lambda: _watch(connection, lost))
        try:
            yield
        finally:
            await cancel_tasks(watching)


async def _watch(connection: psycopg.AsyncConnection[Any], lost: asyncio.Event) -> None:
    """Set `lost` once the connection does not answer."""
    while True:
        await asyncio.sleep(CHECK_SECONDS)
        try:
            async with asyncio.timeout(CHECK_TIMEOUT):
                await connection.execute("SELECT 1")
        except (psycopg.Error, TimeoutError) as error:
            log.critical("database.lost", error=type(error).__name__)
            lost.set()
            return
