"""Connections on PostgreSQL, for use in a thread and from the event loop, and how its errors read.

SQL functions run in threads, as on SQLite: a statement of psycopg's asynchronous connection takes 130 µs of processor
time and runs in the event loop, one of the blocking connection takes 40 µs and does not.
"""

from __future__ import annotations

import asyncio
import os
import select
import socket
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

import psycopg
from psycopg import RawCursor, RawServerCursor
from psycopg_pool import PoolClosed, PoolTimeout

from engine.errors import (
    CorruptLedger,
    DatabaseBusy,
    DatabaseLost,
    DatabaseMisconfigured,
    DatabaseReadOnly,
    DatabaseUnreachable,
    DiskError,
    StoreError,
    UnstorableText,
)
from engine.storage.postgres.faults import Fault, classify
from engine.storage.postgres.values import build_adapters, build_row_set
from engine.storage.sql.connection import Dialect
from engine.storage.sql.fragments import for_postgres

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence

    from engine.storage.sql.connection import Connection

    Raw = psycopg.Connection[tuple[Any, ...]]
    AnyConnection = psycopg.Connection[Any] | psycopg.AsyncConnection[Any]

Result = TypeVar("Result")

POSTGRES_ERRORS = (psycopg.Error, PoolTimeout, PoolClosed)
ROWS_PER_FETCH = 25  # of a stream
BEGIN_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
REPLACED = "Other processes have taken over the work of this one."
# A process that hangs inside a write must not keep the others from writing, nor from taking over its work.
LIMIT_IDLE_TIME = "SELECT set_config('idle_in_transaction_session_timeout', '10s', true)"
# Whoever removes the row of this process waits for the transaction.
CHECK_PROCESS = f"{LIMIT_IDLE_TIME} FROM threadlore_process.process WHERE id = $1 FOR KEY SHARE"
WRITE_LOCK = "SELECT pg_advisory_xact_lock(hashtext($1))"
MAX_PREPARED = 1_000  # statements of one connection
CANCEL_TIMEOUT = 5.0  # seconds to ask the server to end a statement
DISK_HINT = "Make room on the disk of the database server, and check that disk; it will be retried."
DAMAGE_HINT = "Check the disk of the database server, and restore a backup of it or of Threadlore."
TRANSLATIONS: Mapping[Fault, tuple[type[StoreError], str, str]] = {
    Fault.UNREACHABLE: (DatabaseUnreachable, "could not be reached", ""),
    Fault.READ_ONLY: (DatabaseReadOnly, "takes no changes", ""),
    Fault.DISK: (DiskError, "could not write", DISK_HINT),
    Fault.BUSY: (DatabaseBusy, "ended a statement", ""),
    Fault.SETUP: (DatabaseMisconfigured, "refused a statement", ""),
    Fault.DAMAGED: (CorruptLedger, "is damaged", DAMAGE_HINT),
    Fault.REFUSED: (UnstorableText, "refused a text or a number", ""),
}
ADAPTERS = build_adapters()
# A reader that hangs must not keep the server from removing old rows, nor schemas from being updated.
LIMIT_IDLE_READS = "-c idle_in_transaction_session_timeout=1h"
# Both sides notice within some 15 seconds that the other machine is gone; the server then frees its locks.
SERVER_KEEPALIVES = (
    "-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=3 -c tcp_keepalives_count=3 -c tcp_user_timeout=15000"
)
CLIENT_KEEPALIVES = {
    "connect_timeout": 10,
    "keepalives_idle": 5,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}


class BlockingConnection:
    """A `Connection` on one of psycopg, for use in a thread."""

    __slots__ = ("_raw",)
    dialect = Dialect.POSTGRES

    def __init__(self, raw: Raw) -> None:
        self._raw = raw

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> None:
        self._raw.execute(for_postgres(sql), parameters)

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> None:
        execute_many(self._raw, sql, parameters)

    def fetch_each(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> list[tuple[Any, ...]]:
        return self.fetch_each_later(sql, parameters)()

    def fetch_each_later(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Callable[[], list[tuple[Any, ...]]]:
        rows = list(parameters)
        return self._raw.execute(*_build_statement(sql, rows)).fetchall if rows else list

    def execute_fetchall(self, sql: str, parameters: Sequence[Any] = (), /) -> list[tuple[Any, ...]]:
        return self.fetch_later(sql, parameters)()

    def fetch_later(self, sql: str, parameters: Sequence[Any] = (), /) -> Callable[[], list[tuple[Any, ...]]]:
        return partial(fetch_rows, self._raw.execute(for_postgres(sql), parameters))


class ServerConnection:
    """A `StreamingConnection` on a connection of psycopg; each call switches threads."""

    def __init__(self, raw: Raw) -> None:
        self._raw = raw
        self._pending: asyncio.Future[Any] | None = None

    async def begin(self) -> None:
        """Begin the snapshot that everything is read in."""
        await self._run(self._raw.execute, BEGIN_SNAPSHOT)

    async def run(self, work: Callable[[Connection], Result], /) -> Result:
        """Run a SQL function in a thread."""
        return await self._run(work, BlockingConnection(self._raw))

    async def stream(self, sql: str, parameters: Sequence[Any] = (), /) -> AsyncGenerator[tuple[Any, ...], None]:
        """The rows of one statement through a cursor of the server."""
        cursor = RawServerCursor(self._raw, "stream")
        try:
            await self._run(cursor.execute, for_postgres(sql), parameters)
            while rows := await self._run(cursor.fetchmany, ROWS_PER_FETCH):
                for row in rows:
                    yield row
        finally:
            await self._run(cursor.close)

    async def settle(self) -> None:
        """Wait for the call that was cancelled, if any: the connection is used until then."""
        if self._pending is not None and not self._pending.done():
            await asyncio.to_thread(self._raw.cancel_safe, timeout=CANCEL_TIMEOUT)
            await asyncio.wait({self._pending})
            self._pending.exception()  # nobody else asks for it

    async def _run(self, function: Callable[..., Result], *arguments: Any) -> Result:
        await self.settle()
        self._pending = asyncio.ensure_future(asyncio.to_thread(function, *arguments))
        return await asyncio.shield(self._pending)


def execute_many(raw: Raw, sql: str, parameters: Iterable[Sequence[Any]]) -> None:
    """Run one statement for all rows of parameters at once."""
    if rows := list(parameters):
        raw.execute(*_build_statement(sql, rows))


def _build_statement(sql: str, rows: Sequence[Sequence[Any]]) -> tuple[str, Sequence[Any]]:
    return (for_postgres(sql), rows[0]) if len(rows) == 1 else build_row_set(sql, rows)


def fetch_rows(cursor: psycopg.Cursor[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The rows of a statement, none of one that gives no rows."""
    try:
        return cursor.fetchall()
    except psycopg.ProgrammingError as error:
        if error.sqlstate is None and cursor.description is None:
            return []
        raise


@contextmanager
def locked_transaction(raw: Raw, lock: str, process: int | None) -> Iterator[None]:
    """A transaction; writers of other processes with the same lock wait.

    Raises DatabaseLost if this process, registered by that number, was removed; whoever removes it waits for this.
    """
    with raw.transaction():
        if process is None:
            raw.execute(LIMIT_IDLE_TIME)
        elif raw.execute(CHECK_PROCESS, (process,)).fetchone() is None:
            raise DatabaseLost(REPLACED)
        raw.execute(WRITE_LOCK, (lock,))
        yield


async def check_process(connection: psycopg.AsyncConnection[Any], process: int | None) -> None:
    """Raise DatabaseLost in a transaction if this process, registered by that number, was removed."""
    if process is None:
        return
    async with psycopg.AsyncRawCursor(connection) as cursor:
        await cursor.execute(CHECK_PROCESS, (process,))
        if await cursor.fetchone() is None:
            raise DatabaseLost(REPLACED)


def run_snapshot(raw: Raw, work: Callable[[Raw], Result]) -> Result:
    """The result of a work that reads as of one moment. In a pipeline, its start waits for no answer of its own."""
    with raw.pipeline():
        raw.execute(BEGIN_SNAPSHOT)
        try:
            return work(raw)
        finally:
            if not raw.closed:
                raw.rollback()


def connection_options(*schemas: str) -> dict[str, Any]:
    """Arguments of a connection whose unqualified names are those of these schemas; we begin transactions ourselves."""
    return {
        "autocommit": True,
        "cursor_factory": RawCursor,
        "context": ADAPTERS,
        "options": f"-c search_path={','.join(schemas)} -c client_encoding=UTF8 {LIMIT_IDLE_READS} {SERVER_KEEPALIVES}",
        **CLIENT_KEEPALIVES,
    }


class KnownConnections:
    """Connections that can be ended at once, whoever waits for their server, which perhaps never answers."""

    def __init__(self) -> None:
        self._known: WeakSet[AnyConnection] = WeakSet()
        self._is_ended = False

    def add(self, raw: AnyConnection) -> None:
        """End this connection, too, when the others are ended."""
        self._known.add(raw)
        if self._is_ended:
            shut_down(raw)

    def end(self) -> None:
        """Make every call on these connections fail, now and later."""
        self._is_ended = True
        for raw in list(self._known):
            shut_down(raw)


def has_news(raw: AnyConnection) -> bool:
    """Whether the server has sent something unasked, as when it ends a connection. Takes microseconds."""
    polling = select.poll()
    polling.register(raw.fileno(), select.POLLIN)
    return bool(polling.poll(0))


def shut_down(raw: AnyConnection) -> None:
    """End a connection under those who wait for its server; the server itself need not answer."""
    with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(raw.fileno())) as used:
        used.shutdown(socket.SHUT_RDWR)


def translate_error(error: BaseException, label: str) -> BaseException:
    """The engine's error for an error of PostgreSQL; mistakes of the program, and other errors, unchanged.

    `label`: of the data, for messages.
    """
    fault = classify(error)
    if fault is None or fault not in TRANSLATIONS:
        return error
    kind, happened, hint = TRANSLATIONS[fault]
    return kind(f"The database of the {label} {happened}: {first_line(error)}", hint=hint)


def first_line(error: BaseException) -> str:
    """The first line of an error's message; further ones may quote texts."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
