"""A PostgreSQL database: writes with group commit, one transaction at a time, and a pool of connections that read.

Writers of all processes take turns by an advisory lock: SQL functions read before they write, and expect, as on SQLite,
that nobody changes what they read.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import psycopg
from psycopg import sql
from psycopg_pool import AsyncConnectionPool

from engine.errors import EngineClosed
from engine.scheduling.supervisor import Supervisor
from engine.storage.postgres.connection import (
    POSTGRES_ERRORS,
    READ_SNAPSHOT,
    PostgresConnection,
    connection_options,
    translate_error,
)
from engine.storage.sql.group_commit import GroupCommit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Sequence

    from engine.storage.postgres.connection import Raw
    from engine.storage.postgres.schema import PostgresSchema
    from engine.storage.sql.connection import Connection, Work

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

POOL_SIZE = 5  # one of them writes
POOL_TIMEOUT = 30.0  # seconds that a statement waits for a connection
WRITE_LOCK = "SELECT pg_advisory_xact_lock(hashtext($1))"


class PostgresDatabase:
    """A schema in a PostgreSQL database. Waiting writes share a commit; each is atomic, and durable when it returns.

    `placeholders`: values for the scripts of the schema.
    """

    def __init__(self, url: str, schema: PostgresSchema, **placeholders: str) -> None:
        self._url = url
        self._schema = schema
        self._placeholders = placeholders
        self._options = connection_options(schema.name, "public")
        self._pool: AsyncConnectionPool[Raw] = AsyncConnectionPool(
            url, kwargs=self._options, min_size=1, max_size=POOL_SIZE, timeout=POOL_TIMEOUT, open=False
        )
        self._commits = GroupCommit(schema.label, self._run_transaction, self._translate_error)

    async def _start(self, supervisor: Supervisor | None = None) -> None:
        """Connect, and migrate the schema; `supervisor` runs the writer."""
        try:
            async with await psycopg.AsyncConnection.connect(self._url, **self._options) as connection:
                await self._schema.migrate(connection, **self._placeholders)
            await self._pool.open()
        except POSTGRES_ERRORS as error:
            await self._pool.close()
            raise self._translate_error(error) from error
        self._task = (supervisor or Supervisor()).run(f"{self._schema.label} writer", self._commits.run)

    _task: asyncio.Task[None]

    async def close(self) -> None:
        """Finish waiting writes, and close the connections."""
        self._commits.close()
        await self._task
        await self._pool.close()

    def check_open(self) -> None:
        """Raise EngineClosed once the database is closed, or about to be."""
        if self._commits.is_closing:
            raise EngineClosed(f"The {self._schema.label} is closed.")

    async def write(
        self,
        work: Callable[Concatenate[Connection, Arguments], Coroutine[Any, Any, Result]],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run `work` in a transaction; return when it is durable. It may run again after a rollback."""
        self.check_open()
        result: Result = await self._commits.submit(lambda db: work(db, *args, **kwargs))
        return result

    async def read(
        self,
        work: Callable[Concatenate[Connection, Arguments], Coroutine[Any, Any, Result]],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run `work` in a consistent snapshot."""
        async with self.read_connection() as connection:
            return await work(connection, *args, **kwargs)

    @asynccontextmanager
    async def read_connection(self) -> AsyncIterator[PostgresConnection]:
        """A connection of the pool that reads as of one moment; hold it for a few statements only."""
        self.check_open()
        try:
            async with self._acquire() as raw:
                await raw.execute(READ_SNAPSHOT)
                yield PostgresConnection(raw)
        except POSTGRES_ERRORS as error:
            raise self._translate_error(error) from error

    @asynccontextmanager
    async def stream_connection(self) -> AsyncIterator[PostgresConnection]:
        """A connection of its own that reads as of one moment, for slow consumers of many rows."""
        self.check_open()
        try:
            async with await psycopg.AsyncConnection.connect(self._url, **self._options) as raw:
                await raw.execute(READ_SNAPSHOT)
                yield PostgresConnection(raw)
        except POSTGRES_ERRORS as error:
            raise self._translate_error(error) from error

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Raw]:
        """A connection of psycopg in a transaction; writers of all processes wait."""
        try:
            async with self._acquire() as raw, raw.transaction():
                await raw.execute(WRITE_LOCK, (self._schema.name,))
                yield raw
        except POSTGRES_ERRORS as error:
            raise self._translate_error(error) from error

    async def vacuum(self) -> None:
        """Free the space of deleted rows in all tables.

        The server overwrites it as it writes new rows. Its log and its backups keep deleted bytes until they expire.
        """
        self.check_open()
        async with self._acquire() as raw:
            cursor = await raw.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
            tables = [sql.Identifier(name) for (name,) in await cursor.fetchall()]
            await raw.execute(sql.SQL("VACUUM (ANALYZE) {}").format(sql.SQL(", ").join(tables)))

    @asynccontextmanager
    async def _acquire(self) -> AsyncIterator[Raw]:
        """A connection of the pool, which ends its transaction.

        The pool swallows a cancellation that arrives together with the connection.
        """
        task = asyncio.current_task()
        before = task.cancelling() if task else 0
        async with self._pool.connection() as raw:
            if task and task.cancelling() > before:
                raise asyncio.CancelledError
            yield raw

    async def _run_transaction(self, works: Sequence[Work]) -> list[Any]:
        """The results of all works, in one transaction; writers of other processes wait."""
        async with self.transaction() as raw:
            connection = PostgresConnection(raw)
            return [await work(connection) for work in works]

    def _translate_error(self, error: BaseException) -> BaseException:
        return translate_error(error, self._schema.label)
