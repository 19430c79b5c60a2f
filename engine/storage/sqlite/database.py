"""A SQLite database: one writer with group commit, and connections that read."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import aiosqlite

from engine.errors import DiskError, DiskFull, EngineError, StoreError
from engine.scheduling.supervisor import Supervisor
from engine.storage.sql.database import GroupCommit, SqlDatabase
from engine.storage.sqlite import database_file
from engine.storage.sqlite.database_file import (
    SQLITE_ERRORS,
    StreamConnection,
    ThreadConnection,
    run_in_thread,
    run_snapshot,
    run_transaction,
    translate_error,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence
    from pathlib import Path

    from engine.clock import Clock
    from engine.storage.sql.connection import Connection, Work
    from engine.storage.sqlite.schema import Schema

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

# Tries to empty the log while it is read; seconds that each try blocks readers, and that it then waits.
EMPTY_LOG_ATTEMPTS, EMPTY_LOG_PAUSE = 20, 0.1
BUSY_TIMEOUT_MS = 10_000  # that a statement waits for a lock
PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",
    f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA wal_autocheckpoint = 0",  # with constant readers, it would run at every commit and never finish
)

READER_PRAGMAS = (f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}", "PRAGMA temp_store = MEMORY", "PRAGMA query_only = ON")

# With exclusive locks, the index of the log is in memory instead of a file, which could not be made.
READ_ONLY_PRAGMAS = ("PRAGMA locking_mode = EXCLUSIVE", "PRAGMA temp_store = MEMORY")


def configure(db: sqlite3.Connection, cache: int, pragmas: Sequence[str] = PRAGMAS) -> None:
    """Set how a connection reads and writes; `cache`: KiB."""
    for pragma in (*pragmas, f"PRAGMA cache_size = -{cache}"):
        db.execute(pragma)


def has_no_room() -> bool:
    """Whether space was made on a full disk: none, because nothing keeps any."""
    return False


@dataclass(frozen=True, slots=True)
class FileAccess:
    """How a database uses its disk.

    `make_room` is called when the disk is full; a transaction runs again if it made some. `refusal`: why nothing can be
    written; then the file is only read, as it was left.
    """

    make_room: Callable[[], bool] = has_no_room
    refusal: DiskError | None = None


WRITABLE = FileAccess()


def open_for_reading(path: Path, access: FileAccess) -> sqlite3.Connection:
    """A connection without automatic transactions, for a program that copies the file. Raises sqlite3.Error."""
    if access.refusal is None:
        return sqlite3.connect(path, isolation_level=None)
    connection = sqlite3.connect(database_file.read_only_address(path), isolation_level=None, uri=True)
    for pragma in READ_ONLY_PRAGMAS:
        connection.execute(pragma)
    return connection


class SqliteDatabase(SqlDatabase):
    """A SQLite file in WAL mode. Waiting writes share a commit; each is atomic, and durable when it returns.

    `placeholders`: values for the scripts of the schema.
    """

    reader_count = 3  # at most: all but one are opened when they are needed
    writer_cache, reader_cache = 32_000, 8_000  # KiB; the file system caches most pages that readers need

    def __init__(
        self,
        path: Path,
        schema: Schema,
        clock: Clock,
        access: FileAccess = WRITABLE,
        **placeholders: str,
    ) -> None:
        self.path = path
        self.name = f"{schema.label} {path}"
        self._clock = clock
        self._schema = schema
        self._placeholders = placeholders
        self._access = access
        self._commits = GroupCommit(schema.label, self._run_transaction, self._translate_error)
        # None: one more can be opened. Those that are open are taken first.
        self._readers: asyncio.LifoQueue[aiosqlite.Connection | None] = asyncio.LifoQueue()
        self._opening: set[asyncio.Task[aiosqlite.Connection]] = set()
        self._connections: list[aiosqlite.Connection] = []
        self._log_limit = database_file.MAX_LOG_SIZE
        self._readable = asyncio.Event()
        self._readable.set()

    async def _start(self, supervisor: Supervisor | None = None) -> None:
        """Open or create the file, and migrate its schema; `supervisor` runs the writer."""
        try:
            self._writer = await self._connect(self.writer_cache, PRAGMAS)
            await run_in_thread(self._writer, self._migrate if self._access.refusal is None else self._check_schema)
            for _ in range(1, self.reader_count):
                self._readers.put_nowait(None)
            self._readers.put_nowait(await self._connect_reader())
        except BaseException as error:
            await self._close_all()
            raise self._translate_error(error) from error
        writer = partial(self._commits.run, self._shorten_log)
        self._task = (supervisor or Supervisor(self._clock)).run(f"{self._schema.label} writer", writer)

    def _migrate(self, db: sqlite3.Connection) -> None:
        self._schema.migrate(db, self.path, **self._placeholders)

    def _check_schema(self, db: sqlite3.Connection) -> None:
        """Check that the file can be read as it is."""
        version = self._schema.check_version(db, f"{self._schema.label} {self.path}")
        if version < self._schema.source.latest:
            raise DiskError(
                f"The {self._schema.label} has to be updated first, and nothing can be written. {self._access.refusal}"
            )

    def _translate_error(self, error: BaseException) -> BaseException:
        return translate_error(error, self._schema.label, self.path)

    _writer: aiosqlite.Connection
    _task: asyncio.Task[None]

    async def close(self) -> None:
        """Finish waiting writes, and release the file."""
        self._commits.close()
        await self._task
        await asyncio.gather(*self._opening, return_exceptions=True)
        await self._close_all()

    def abandon(self) -> None:
        """Do nothing: no other process can take over a file that this one has locked."""

    def check_writable(self) -> None:
        """Raise the error that says why nothing can be written, if so."""
        if (refusal := self._access.refusal) is not None:
            raise type(refusal)(str(refusal), hint=refusal.hint)

    async def read(
        self,
        work: Callable[Concatenate[Connection, Arguments], Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run `work` in a consistent snapshot."""
        async with self._reader_connection() as connection:
            try:
                return await run_in_thread(
                    connection, lambda db: run_snapshot(db, lambda db: work(self._build_reader(db), *args, **kwargs))
                )
            except SQLITE_ERRORS as error:
                raise self._translate_error(error) from error

    def _build_reader(self, db: sqlite3.Connection) -> Connection:
        """The connection that works which only read are given, for one snapshot."""
        return ThreadConnection(db)

    @asynccontextmanager
    async def stream_connection(self) -> AsyncIterator[StreamConnection]:
        """A connection of its own that reads as of one moment, for slow consumers of many rows.

        Large sorts use a temporary file.
        """
        self.check_open()
        try:
            connection = await asyncio.shield(self._connect_reader())
        except SQLITE_ERRORS as error:
            raise self._translate_error(error) from error
        try:
            self.check_open()
            await connection.execute("PRAGMA temp_store = FILE")
            async with self._hold_snapshot(connection):
                yield StreamConnection(connection)
        except ValueError:  # raised by the library for a closed connection
            self.check_open()
            raise
        finally:
            await asyncio.shield(self._disconnect(connection))

    async def empty_log(self) -> None:
        """Write the log back into the file and empty it. Raises StoreError if readers of an old snapshot prevent it."""
        for _ in range(EMPTY_LOG_ATTEMPTS):
            if await self._empty_log():
                return
            await asyncio.sleep(EMPTY_LOG_PAUSE)
        raise StoreError(
            f"The log of {self.path} cannot be emptied while it is read.",
            hint="It will be retried; wait for exports to finish.",
        )

    @asynccontextmanager
    async def _hold_snapshot(self, connection: aiosqlite.Connection) -> AsyncIterator[None]:
        """Let the connection read as of one moment within the block."""
        try:
            await connection.execute("BEGIN")
            yield
        except SQLITE_ERRORS as error:
            raise self._translate_error(error) from error
        finally:
            with suppress(sqlite3.Error):
                await connection.rollback()

    @asynccontextmanager
    async def _reader_connection(self) -> AsyncIterator[aiosqlite.Connection]:
        """A connection of the pool of readers."""
        self.check_open()
        since = self._clock.monotonic()
        await self._readable.wait()
        connection = await self._take_reader()
        self.waited_seconds += self._clock.monotonic() - since
        try:
            self.check_open()
            yield connection
        finally:
            self._readers.put_nowait(connection)

    async def _take_reader(self) -> aiosqlite.Connection:
        """A connection of the pool; it is opened if the others are busy, and may be in the pool if the caller ends."""
        if (connection := await self._readers.get()) is not None:
            return connection
        opening = asyncio.create_task(self._connect_reader())
        self._opening.add(opening)
        opening.add_done_callback(self._opening.discard)
        try:
            return await asyncio.shield(opening)
        except BaseException as error:
            opening.add_done_callback(self._return_reader)
            raise self._translate_error(error) from error

    def _return_reader(self, opening: asyncio.Task[aiosqlite.Connection]) -> None:
        """Put what was opened for somebody who ended meanwhile into the pool."""
        has_failed = opening.cancelled() or opening.exception() is not None
        self._return_readers([None if has_failed else opening.result()])

    def _return_readers(self, readers: Iterable[aiosqlite.Connection | None]) -> None:
        """Put readers into the pool, so that those that are open are taken first."""
        free = [*readers, *(self._readers.get_nowait() for _ in range(self._readers.qsize()))]
        for reader in sorted(free, key=lambda each: each is not None):
            self._readers.put_nowait(reader)

    async def _connect_reader(self) -> aiosqlite.Connection:
        """A connection that can write nothing."""
        return await self._connect(self.reader_cache, READER_PRAGMAS)

    async def _connect(self, cache: int, pragmas: Sequence[str]) -> aiosqlite.Connection:
        is_read_only = self._access.refusal is not None
        place = database_file.read_only_address(self.path) if is_read_only else self.path
        connection = aiosqlite.connect(place, isolation_level=None, uri=is_read_only)
        try:
            await connection
        except sqlite3.Error:
            await asyncio.to_thread(connection._thread.join)  # noqa: SLF001 - it still has to report to this loop
            raise
        self._connections.append(connection)
        try:
            await run_in_thread(
                connection, lambda db: configure(db, cache, READ_ONLY_PRAGMAS if is_read_only else pragmas)
            )
        except sqlite3.Error:
            await self._disconnect(connection)
            raise
        return connection

    async def _disconnect(self, connection: aiosqlite.Connection) -> None:
        await connection.close()
        if connection in self._connections:
            self._connections.remove(connection)

    async def _close_all(self) -> None:
        for connection in self._connections[::-1]:
            await self._disconnect(connection)

    async def _empty_log(self) -> bool:
        """Write the log back and empty it, in the writer's thread between transactions; returns whether it is empty.

        New readers wait for a moment; a long read is not interrupted.
        """
        held = list[aiosqlite.Connection | None]()
        try:
            await run_in_thread(self._writer, database_file.checkpoint_log)
            self._readable.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(EMPTY_LOG_PAUSE):
                    while len(held) < self.reader_count:
                        held.append(await self._readers.get())
            return await run_in_thread(self._writer, lambda db: database_file.truncate_log(db, BUSY_TIMEOUT_MS))
        except sqlite3.Error as error:
            raise self._translate_error(error) from error
        finally:
            self._return_readers(held)
            self._readable.set()

    async def _shorten_log(self) -> None:
        """Empty the log once it is long; after a failure, when it has grown as much again."""
        length = database_file.log_size(self.path)
        if length > self._log_limit and self._access.refusal is None:
            emptied = False
            with suppress(sqlite3.Error, EngineError):  # the next write reports a full disk
                emptied = await self._empty_log()
            self._log_limit = database_file.MAX_LOG_SIZE + (0 if emptied else length)

    async def _run_transaction(self, works: Sequence[Work]) -> list[Any]:
        try:
            return await run_in_thread(self._writer, lambda db: run_transaction(db, works))
        except sqlite3.Error as error:
            if not (isinstance(self._translate_error(error), DiskFull) and self._access.make_room()):
                raise
        return await run_in_thread(self._writer, lambda db: run_transaction(db, works))
