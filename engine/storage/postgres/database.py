"""A PostgreSQL database: writes with group commit, one transaction at a time, and a pool of connections that read.

Writers of all processes take turns by an advisory lock: SQL functions read before they write, and expect, as on SQLite,
that nobody changes what they read. Hence the ledger's generations are numbered in the order of commits, which a
sequence would not ensure: a document is indexed once no stale key has a generation as old as its own.

While a transaction holds the lock and waits for the server's answer, everybody waits. So a function sends what does not
depend on each other together (`fetch_later`), and needs no answer where it can do without.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import psycopg
from psycopg import sql

from engine.errors import LOST, DatabaseLost
from engine.scheduling.supervisor import Supervisor
from engine.storage.postgres.connection import (
    POSTGRES_ERRORS,
    BlockingConnection,
    KnownConnections,
    ServerConnection,
    connection_options,
    locked_transaction,
    run_snapshot,
    translate_error,
)
from engine.storage.postgres.faults import is_of_server, is_undone
from engine.storage.postgres.pool import ThreadPool
from engine.storage.postgres.schema import PROCESS_SCHEMA
from engine.storage.sql.database import GroupCommit, SqlDatabase

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence

    from engine.clock import Clock
    from engine.storage.postgres.connection import Raw
    from engine.storage.postgres.schema import PostgresSchema
    from engine.storage.sql.connection import Connection, Work

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

MAX_ATTEMPTS = 5  # of a transaction that the server undoes because of another one
READERS = 4  # connections besides the one that writes, and those of work that takes minutes
MAX_REWRITTEN_BYTES = 64 << 20  # of a table with its indexes; that takes well below a second
LOCK_WAIT = "1s"


class PostgresDatabase(SqlDatabase):
    """A schema in a PostgreSQL database. Waiting writes share a commit; each is atomic, and durable when it returns.

    `process`: this one's number in the registry; writes fail once it was removed. `placeholders`: values for the
    scripts of the schema.
    """

    def __init__(
        self, url: str, schema: PostgresSchema, clock: Clock, process: int | None = None, **placeholders: str
    ) -> None:
        self._clock = clock
        self._process = process
        self._rewritten: dict[str, int] = {}  # the changes of tables that had been counted when they were rewritten
        self._url = url
        self._schema = schema
        self.name = schema.label
        self._placeholders = placeholders
        self._options = connection_options(schema.name, "public")
        self._connections = KnownConnections()  # besides those of the pool
        self._reading = ThreadPool(url, self._options, READERS)
        self._writing = ThreadPool(url, self._options, 1)  # the same connection: its statements are prepared
        self._threads = ThreadPoolExecutor(READERS + 1, f"{schema.name} database")
        self._readable = asyncio.Semaphore(READERS)  # no thread waits for a connection
        self._is_abandoned = False
        self._commits = GroupCommit(
            schema.label, self._run_transaction, self._translate_error, is_undone=is_undone, is_of_server=is_of_server
        )

    async def _start(self, supervisor: Supervisor | None = None) -> None:
        """Connect, and migrate the schema; `supervisor` runs the writer."""
        try:
            await self._run(self._migrate)
        except POSTGRES_ERRORS as error:
            self._release()
            raise self._translate_error(error) from error
        except BaseException:
            self._release()
            raise
        self._task = (supervisor or Supervisor(self._clock)).run(f"{self._schema.label} writer", self._commits.run)

    def _connect(self) -> Raw:
        raw: Raw = psycopg.connect(self._url, **self._options)
        self._connections.add(raw)
        return raw

    def _migrate(self) -> None:
        with self._connect() as raw:
            PROCESS_SCHEMA.migrate(raw)  # tables refer to the processes that have claimed their rows
            self._schema.migrate(raw, self._process, **self._placeholders)
        self._reading.open()
        self._writing.open()

    _task: asyncio.Task[None]

    async def close(self) -> None:
        """Finish waiting writes, and close the connections."""
        self._commits.close()
        await self._task
        await asyncio.to_thread(self._release)

    def abandon(self) -> None:
        """Make all calls fail from now on, also those that wait for the server: others may have taken over."""
        self._is_abandoned = True
        self._connections.end()
        self._reading.end()
        self._writing.end()

    def _release(self) -> None:
        self._reading.close()
        self._writing.close()
        self._threads.shutdown(wait=False)

    async def read(
        self,
        work: Callable[Concatenate[Connection, Arguments], Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run `work` in a consistent snapshot."""
        self.check_open()
        since = self._clock.monotonic()
        async with self._readable:
            self.waited_seconds += self._clock.monotonic() - since
            self.check_open()
            try:
                return await self._run(self._read, lambda db: work(db, *args, **kwargs))
            except POSTGRES_ERRORS as error:
                raise self._translate_error(error) from error

    def _read(self, work: Work) -> Any:
        with self._reading.connection() as raw:
            return run_snapshot(raw, lambda raw: work(self._build_reader(raw)))

    def _build_reader(self, raw: Raw) -> Connection:
        """The connection that works which only read are given."""
        return BlockingConnection(raw)

    def _build_writer(self, raw: Raw) -> Connection:
        """The connection that the works of a transaction are given, once it holds the lock."""
        return BlockingConnection(raw)

    @asynccontextmanager
    async def stream_connection(self) -> AsyncIterator[ServerConnection]:
        """A connection of its own that reads as of one moment; it is released whenever a cancellation comes."""
        self.check_open()
        try:
            connecting = asyncio.ensure_future(asyncio.to_thread(self._connect))
            try:
                raw = await asyncio.shield(connecting)
            except asyncio.CancelledError:
                await asyncio.shield(asyncio.ensure_future(_close_connected(connecting)))
                raise
            connection = ServerConnection(raw)
            try:
                await connection.begin()
                yield connection
            finally:
                await asyncio.shield(asyncio.ensure_future(_settle(connection, raw)))
        except POSTGRES_ERRORS as error:
            raise self._translate_error(error) from error

    async def vacuum(self) -> None:
        """Free the space of deleted rows in all tables, and rewrite those of up to MAX_REWRITTEN_BYTES without it.

        In larger tables the server overwrites it as it writes new rows. Its log, its replicas and its backups keep
        deleted bytes until they expire.
        """
        self.check_open()
        try:
            await self._run(self._vacuum)
        except POSTGRES_ERRORS as error:
            raise self._translate_error(error) from error

    def _vacuum(self) -> None:
        with self._connect() as raw:
            found = raw.execute(
                "SELECT relname, pg_total_relation_size(relid), n_tup_del + n_tup_upd FROM pg_stat_user_tables"
                " WHERE schemaname = current_schema() ORDER BY 1"
            ).fetchall()
            names = [sql.Identifier(name) for name, *_ in found]
            raw.execute(sql.SQL("VACUUM (ANALYZE) {}").format(sql.SQL(", ").join(names)))
            changed = {name: changes for name, size, changes in found if size <= MAX_REWRITTEN_BYTES}
            due = [name for name, changes in changed.items() if self._rewritten.get(name) != changes]
            self._rewritten |= {name: changed[name] for name in _rewrite(raw, due)}

    async def run_locked(self, work: Callable[[Raw], Result]) -> Result:
        """Run a function on a connection of psycopg in a transaction; writers of all processes wait."""
        self.check_open()
        try:
            return await self._run(self._run_locked, work)
        except POSTGRES_ERRORS as error:
            raise self._translate_error(error) from error

    def _run_locked(self, work: Callable[[Raw], Result]) -> Result:
        with self._connect() as raw, locked_transaction(raw, self._schema.name, self._process):
            return work(raw)

    async def _run_transaction(self, works: Sequence[Work]) -> list[Any]:
        """Run works in one transaction, and again if the server undid it because of another one."""
        for _ in range(MAX_ATTEMPTS - 1):
            with suppress(psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure):
                return await self._run(self._run_works, works)
        return await self._run(self._run_works, works)

    def _run_works(self, works: Sequence[Work]) -> list[Any]:
        """Run works in one transaction. In a pipeline, statements without rows wait for no answer of their own."""
        with (
            self._writing.connection() as raw,
            raw.pipeline(),
            locked_transaction(raw, self._schema.name, self._process),
        ):
            connection = self._build_writer(raw)
            return [work(connection) for work in works]

    async def _run(self, function: Callable[..., Result], *arguments: Any) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)

    def _translate_error(self, error: BaseException) -> BaseException:
        if self._is_abandoned and isinstance(error, POSTGRES_ERRORS):
            return DatabaseLost(LOST)
        return translate_error(error, self._schema.label)


async def _settle(connection: ServerConnection, raw: Raw) -> None:
    await connection.settle()
    await asyncio.to_thread(raw.close)


async def _close_connected(connecting: asyncio.Future[Raw]) -> None:
    """Close a connection that is made after its task was cancelled."""
    with suppress(*POSTGRES_ERRORS):
        await asyncio.to_thread((await connecting).close)


def _rewrite(raw: Raw, tables: Iterable[str]) -> list[str]:
    """Write tables anew without deleted bytes; gives those that were not in use, as the others are left for later."""
    done = list[str]()
    raw.execute(sql.SQL("SET lock_timeout = {}").format(LOCK_WAIT))
    try:
        for name in tables:
            with suppress(psycopg.errors.LockNotAvailable):
                raw.execute(sql.SQL("VACUUM (FULL) {}").format(sql.Identifier(name)))
                done.append(name)
    finally:
        raw.execute("RESET lock_timeout")
    return done
