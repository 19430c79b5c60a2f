"""The ledger as a database: one writer with group commit, readers apart, numbered migrations."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, Self, TypeVar

import aiosqlite

from engine.errors import Closed, DamagedLedger, EngineError, NewerSchema, StoreError
from engine.scheduling.supervisor import Supervisor
from engine.storage.ledger.queries.checksum import checksum
from engine.storage.sqlite import integrity, wal
from engine.storage.sqlite.errors import FAILURES, translated
from engine.storage.sqlite.migration_scripts import migration_scripts
from engine.storage.sqlite.transactions import held_snapshot, snapshot, transaction, within_thread

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine
    from pathlib import Path

    from engine.storage.sqlite.connection import Connection
    from engine.storage.sqlite.transactions import Work

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")
Words = Literal["porter unicode61", "trigram"]

READERS = 3
# How often compaction tries to empty the log while somebody reads it; seconds that readers are kept from it, and not.
LOOKS, PAUSE = 20, 0.1
WRITER_CACHE, READER_CACHE = 32_000, 8_000  # KiB; what readers look for, the system mostly has in memory
BUSY = 10_000  # milliseconds that a statement waits for a lock
PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",
    f"PRAGMA busy_timeout = {BUSY}",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA wal_autocheckpoint = 0",  # with a reader always there it would write back at every commit, and end none
)


@dataclass(slots=True)
class _Job:
    work: Work
    done: asyncio.Future[Any]


class Ledger:
    """SQLite in WAL mode. Writes that wait together are committed together; each is all or nothing, and durable."""

    def __init__(self, path: Path, words: Words) -> None:
        self.path = path
        self._words = words
        self._jobs: asyncio.Queue[_Job | None] = asyncio.Queue()
        self._readers: asyncio.Queue[aiosqlite.Connection] = asyncio.Queue()
        self._open: list[aiosqlite.Connection] = []
        self._closing = False
        self._long = wal.SHORT
        self._readable = asyncio.Event()
        self._readable.set()

    @classmethod
    async def open(cls, path: Path, words: Words = "porter unicode61", supervisor: Supervisor | None = None) -> Self:
        """Open or create the file, and bring its schema up to date. `supervisor` runs the writer."""
        database = cls(path, words)
        try:
            database._writer = await database._connect(WRITER_CACHE)
            await database._migrate()
            for _ in range(READERS):
                database._readers.put_nowait(await database._connect())
        except BaseException as error:
            await database._close_all()
            raise translated(error) from error
        database._task = (supervisor or Supervisor()).run("ledger writer", database._write_all)
        return database

    _writer: aiosqlite.Connection
    _task: asyncio.Task[None]

    async def close(self) -> None:
        """Finish the writes that wait, and release the file."""
        self._closing = True
        self._jobs.put_nowait(None)
        await self._task
        await self._close_all()

    def must_be_open(self) -> None:
        """Raise Closed once the ledger is closed, or about to be."""
        if self._closing:
            raise Closed(f"The ledger {self.path} is closed.")

    async def write(
        self,
        work: Callable[Concatenate[Connection, Arguments], Coroutine[Any, Any, Result]],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run `work` in a transaction and return once that is on the disk. It may be run anew, after a roll-back."""
        self.must_be_open()
        job = _Job(lambda db: work(db, *args, **kwargs), asyncio.get_running_loop().create_future())
        self._jobs.put_nowait(job)
        result: Result = await job.done
        return result

    async def read(
        self,
        work: Callable[Concatenate[Connection, Arguments], Coroutine[Any, Any, Result]],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run `work` in a consistent snapshot."""
        async with self._lent() as connection:
            try:
                return await within_thread(connection, lambda db: snapshot(db, lambda c: work(c, *args, **kwargs)))
            except FAILURES as error:
                raise translated(error) from error

    @asynccontextmanager
    async def reader(self) -> AsyncIterator[aiosqlite.Connection]:
        """A connection that reads, in one consistent snapshot for as long as it is held; for a few statements."""
        async with self._lent() as connection, held_snapshot(connection):
            yield connection

    @asynccontextmanager
    async def stream(self) -> AsyncIterator[aiosqlite.Connection]:
        """Like `reader`, with a connection of its own, so that whoever takes long over the rows hinders no reader.

        What has to be sorted there goes to a file once it is much.
        """
        self.must_be_open()
        connection = await asyncio.shield(self._connect())
        try:
            self.must_be_open()
            await connection.execute("PRAGMA temp_store = FILE")
            async with held_snapshot(connection):
                yield connection
        except ValueError:  # what the library says of a connection that was closed meanwhile
            self.must_be_open()
            raise
        finally:
            await asyncio.shield(self._disconnect(connection))

    async def compact(self) -> None:
        """Remove the bytes of deleted rows from the files: full text is rewritten, the log written back and emptied.

        StoreError if somebody reads an old snapshot all the while, so that the log cannot be emptied.
        """

        async def rewrite(db: Connection) -> None:
            await db.execute("INSERT INTO chunk_words (chunk_words) VALUES ('optimize')")
            await db.execute("INSERT INTO entity_words (entity_words) VALUES ('optimize')")

        await self.write(rewrite)
        for _ in range(LOOKS):
            if await self._emptied_log():
                return
            await asyncio.sleep(PAUSE)
        raise StoreError(
            f"The log of {self.path} cannot be emptied while it is read.", hint="It is tried again; let exports end."
        )

    async def check(self) -> None:
        """Raise DamagedLedger, with all that is wrong, unless structure, indexes and constraints are as they should."""
        async with self.stream() as db:
            found = await within_thread(db, integrity.problems)
        if found:
            raise DamagedLedger(f"The ledger is damaged: {'; '.join(found)}.")

    async def copy_to(self, path: Path) -> str:
        """Copy the database as of one moment into one file; gives the checksum of what it held at that moment."""
        async with aiosqlite.connect(path) as target, self.stream() as source:
            found = await checksum(source)
            await source.backup(target)
        return found

    @asynccontextmanager
    async def _lent(self) -> AsyncIterator[aiosqlite.Connection]:
        """A reader's connection."""
        self.must_be_open()
        await self._readable.wait()
        connection = await self._readers.get()
        try:
            self.must_be_open()
            yield connection
        finally:
            self._readers.put_nowait(connection)

    async def _connect(self, cache: int = READER_CACHE) -> aiosqlite.Connection:
        connection = aiosqlite.connect(self.path, isolation_level=None)
        try:
            await connection
        except sqlite3.Error:
            await asyncio.to_thread(connection._thread.join)  # noqa: SLF001 - it has yet to speak to this very loop
            raise
        self._open.append(connection)
        for pragma in (*PRAGMAS, f"PRAGMA cache_size = -{cache}"):
            await connection.execute(pragma)
        return connection

    async def _disconnect(self, connection: aiosqlite.Connection) -> None:
        await connection.close()
        if connection in self._open:
            self._open.remove(connection)

    async def _close_all(self) -> None:
        for connection in self._open[::-1]:
            await self._disconnect(connection)

    async def _migrate(self) -> None:
        [[version]] = await self._writer.execute_fetchall("PRAGMA user_version")
        scripts = migrations()
        if version > len(scripts):
            raise NewerSchema(f"The ledger {self.path} has schema {version}; this program knows up to {len(scripts)}.")
        for number, script in enumerate(scripts[version:], version + 1):
            sql = Template(script).safe_substitute(tokenizer=self._words)
            await self._writer.executescript(f"BEGIN;\n{sql}\nPRAGMA user_version = {number};\nCOMMIT;")

    async def _emptied_log(self) -> bool:
        """Write the log back and empty it, in the writer's thread, between transactions; says whether it is empty.

        Readers are kept from it for a moment; one that goes on reading all the while is left alone.
        """
        held = list[aiosqlite.Connection]()
        try:
            await within_thread(self._writer, wal.write_back)
            self._readable.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(PAUSE):
                    while len(held) < READERS:
                        held.append(await self._readers.get())
            return await within_thread(self._writer, lambda db: wal.emptied(db, BUSY))
        except sqlite3.Error as error:
            raise translated(error) from error
        finally:
            for connection in held:
                self._readers.put_nowait(connection)
            self._readable.set()

    async def _shorten_log(self) -> None:
        """Empty the log once it is long; if that cannot be, when it has grown as much again."""
        length = wal.size(self.path)
        if length > self._long:
            emptied = False
            with suppress(sqlite3.Error, EngineError):  # a full disk is told by the next write
                emptied = await self._emptied_log()
            self._long = wal.SHORT + (0 if emptied else length)

    async def _write_all(self) -> None:
        while not (self._closing and self._jobs.empty()):
            taken = [await self._jobs.get()]
            while not self._jobs.empty():
                taken.append(self._jobs.get_nowait())
            jobs = [job for job in taken if job is not None]
            try:
                await self._commit(jobs)
            except BaseException:
                for job in jobs:  # nobody else will answer them
                    _fail(job, StoreError("The ledger's writer failed; nothing of this was written."))
                raise
            await self._shorten_log()

    async def _commit(self, jobs: list[_Job]) -> None:
        if not jobs:
            return
        try:
            results = await within_thread(self._writer, lambda db: transaction(db, [job.work for job in jobs]))
        except Exception as error:  # noqa: BLE001 - it belongs to whoever asked for the write
            if len(jobs) == 1:
                _fail(jobs[0], error)
                return
            for job in jobs:
                await self._commit([job])
            return
        for job, result in zip(jobs, results, strict=True):
            if not job.done.done():
                job.done.set_result(result)


def _fail(job: _Job, error: Exception) -> None:
    if not job.done.done():
        job.done.set_exception(translated(error))


def migrations() -> list[str]:
    """The scripts in order; the first is the schema, each later one leads from its predecessor to itself."""
    return [(files("engine.storage.ledger") / "schema.sql").read_text(), *migration_scripts("engine.storage.ledger")]
