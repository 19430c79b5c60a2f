"""Connections on PostgreSQL, and how its errors read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import AsyncRawCursor, AsyncRawServerCursor
from psycopg_pool import PoolClosed, PoolTimeout

from engine.errors import DiskError, StoreError
from engine.storage.postgres.dialect import translate
from engine.storage.postgres.values import build_adapters
from engine.storage.sql.connection import Dialect

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Sequence

    Raw = psycopg.AsyncConnection[tuple[Any, ...]]

POSTGRES_ERRORS = (psycopg.Error, PoolTimeout, PoolClosed)
ROWS_PER_FETCH = 50  # of a stream
READ_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
UNREACHABLE_HINT = "Check that the database server runs and that the address is right; it will be retried."
FULL_HINT = "Make room on the disk of the database server; it will be retried."
ADAPTERS = build_adapters()


class PostgresConnection:
    """A `StreamingConnection` on a connection of psycopg; its statements are those of SQLite, translated."""

    __slots__ = ("_raw",)
    dialect = Dialect.POSTGRES

    def __init__(self, raw: Raw) -> None:
        self._raw = raw

    async def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> None:
        await self._raw.execute(translate(sql), parameters)

    async def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> None:
        rows = list(parameters)
        if len(rows) == 1:
            await self._raw.execute(translate(sql), rows[0])
        elif rows:
            async with self._raw.cursor() as cursor:
                await cursor.executemany(translate(sql), rows)

    async def execute_fetchall(self, sql: str, parameters: Sequence[Any] = (), /) -> list[tuple[Any, ...]]:
        cursor = await self._raw.execute(translate(sql), parameters)
        return await cursor.fetchall() if cursor.description is not None else []

    async def stream(self, sql: str, parameters: Sequence[Any] = (), /) -> AsyncGenerator[tuple[Any, ...], None]:
        """The rows of one statement through a cursor of the server."""
        async with AsyncRawServerCursor(self._raw, "stream") as cursor:
            cursor.itersize = ROWS_PER_FETCH
            await cursor.execute(translate(sql), parameters)
            async for row in cursor:
                yield row


def connection_options(*schemas: str) -> dict[str, Any]:
    """Arguments of a connection whose unqualified names are those of these schemas; we begin transactions ourselves."""
    return {
        "autocommit": True,
        "cursor_factory": AsyncRawCursor,
        "context": ADAPTERS,
        "options": f"-c search_path={','.join(schemas)} -c client_encoding=UTF8",
    }


def translate_error(error: BaseException, label: str) -> BaseException:
    """The engine's error for an error of PostgreSQL; other errors unchanged. `label`: of the data, for messages."""
    if isinstance(error, (psycopg.errors.DiskFull, psycopg.errors.OutOfMemory)):
        return DiskError(f"The database of the {label} could not write: {error}", hint=FULL_HINT)
    if isinstance(error, (psycopg.OperationalError, PoolTimeout, PoolClosed)):
        return StoreError(f"The database of the {label} could not be reached: {error}", hint=UNREACHABLE_HINT)
    return error
