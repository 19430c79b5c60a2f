"""A pool of connections for stores with tables of their own beside the ledger's."""

from __future__ import annotations

from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from psycopg import AsyncCursor, sql
from psycopg.errors import UniqueViolation
from psycopg_pool import AsyncConnectionPool

from engine.storage.postgres.connection import (
    POSTGRES_ERRORS,
    KnownConnections,
    connection_options,
    translate_error,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from engine.scheduling.processes import Loss

POOL_SIZE = 6
POOL_TIMEOUT = 30.0  # seconds that a statement waits for a connection
CREATE_SCHEMA = sql.SQL("CREATE SCHEMA IF NOT EXISTS {}")


@asynccontextmanager
async def open_pool(
    url: str, label: str, schema: str, *others: str, lost: Loss | None = None
) -> AsyncIterator[AsyncConnectionPool[Any]]:
    """A pool whose names are those of `schema`, which is created, of `public`, and of other schemas, in this order.

    Raises StoreError. `label`: of the data, for messages. Once `lost` is set, all calls fail.
    """
    connections = KnownConnections()
    options = connection_options(schema, "public", *others) | {"cursor_factory": AsyncCursor}
    pool: AsyncConnectionPool[Any] = AsyncConnectionPool(
        url,
        kwargs=options,
        configure=connections.add_async,
        min_size=1,
        max_size=POOL_SIZE,
        timeout=POOL_TIMEOUT,
        open=False,
    )
    if lost is not None:
        lost.on_set(connections.end)
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
