"""A lock in the database: one process at a time works on it, another takes over once its connection has ended."""

from __future__ import annotations

import asyncio
import hashlib
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import structlog

from engine.errors import DatabaseInUse, StoreError
from engine.scheduling.tasks import cancel_tasks
from engine.storage.postgres.connection import CLIENT_KEEPALIVES, SERVER_KEEPALIVES, translate_error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from engine.scheduling.supervisor import Supervisor
    from engine.storage.sql.hold import DatabaseHold

log = structlog.get_logger(__name__)

LABEL = "ledger"
LOCK_NUMBER = int.from_bytes(hashlib.sha256(b"threadlore process").digest()[:7])
ADDRESS_HINT = "Write postgresql://user:password@host/name, and special characters of the password as %XX."
CREATE_SCHEMA = "CREATE SCHEMA IF NOT EXISTS threadlore_process"
CREATE_HOLDER = (
    "CREATE TABLE IF NOT EXISTS threadlore_process.holder"
    " (id integer PRIMARY KEY CHECK (id = 1), epoch bigint NOT NULL)"
)
NEXT_EPOCH = (
    "INSERT INTO threadlore_process.holder VALUES (1, 1)"
    " ON CONFLICT (id) DO UPDATE SET epoch = holder.epoch + 1 RETURNING epoch"
)
CHECK_SECONDS = 3.0  # between two checks of the connection that holds the lock
CHECK_TIMEOUT = 6.0  # seconds after which a check counts as failed


@asynccontextmanager
async def hold_database(url: str, supervisor: Supervisor, hold: DatabaseHold) -> AsyncIterator[None]:
    """Hold the database for this process. Raises DatabaseInUse, and StoreError if it cannot be reached.

    `hold.lost` is set when the connection is lost: another process may take over, so this one must stop. Its writes
    fail from the moment at which the other one has begun its epoch.
    """
    check_address(url)
    options: dict[str, Any] = {"options": SERVER_KEEPALIVES, **CLIENT_KEEPALIVES}
    try:
        connection = await psycopg.AsyncConnection.connect(url, autocommit=True, **options)
    except psycopg.Error as error:
        raise translate_error(error, LABEL) from error
    async with connection:
        cursor = await connection.execute("SELECT pg_try_advisory_lock(%s)", (LOCK_NUMBER,))
        if await cursor.fetchone() != (True,):
            raise DatabaseInUse("The database is in use by another process.")
        await _begin_epoch(connection, hold)
        watching = supervisor.run("database lock", lambda: _watch(connection, hold.lost))
        try:
            yield
        finally:
            await cancel_tasks(watching)


async def _begin_epoch(connection: psycopg.AsyncConnection[Any], hold: DatabaseHold) -> None:
    """Begin an epoch; waits for the last writes of the process before."""
    try:
        async with connection.transaction():
            await connection.execute(CREATE_SCHEMA)
            await connection.execute(CREATE_HOLDER)
            cursor = await connection.execute(NEXT_EPOCH)
            row = await cursor.fetchone()
    except psycopg.Error as error:
        raise translate_error(error, LABEL) from error
    hold.epoch = int(row[0]) if row else None


def check_address(url: str) -> None:
    """Raise StoreError for an address that cannot be read; libraries would quote parts of it, perhaps the password."""
    try:
        psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        raise StoreError("The address of the database cannot be read.", hint=ADDRESS_HINT) from None


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
