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

from engine.errors import DiskTrouble, NewerSchema, StoreError
from engine.ledger.connection import Direct, run

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
    from pathlib import Path

    from engine.ledger.connection import Connection

    Work = Callable[[Connection], Coroutine[Any, Any, Any]]

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")
Words = Literal["porter unicode61", "trigram"]

READERS = 3
LOOKS, PAUSE = 20, 0.1  # how often compaction looks whether nobody reads the log any more, and seconds in between
BUSY = 10_000  # milliseconds that a statement waits for a lock
PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",
    f"PRAGMA busy_timeout = {BUSY}",
    "PRAGMA cache_size = -32000",
    "PRAGMA temp_store = MEMORY",
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

    @classmethod
    async def open(cls, path: Path, words: Words = "porter unicode61") -> Self:
        """Open or create the file, and bring its schema up to date."""
        database = cls(path, words)
        try:
            database._writer = await database._connect()
            await database._migrate()
            for _ in range(READERS):
                database._readers.put_nowait(await database._connect())
        except BaseException as error:
            await database._close_all()
            raise translated(error) from error
        database._task = asyncio.create_task(database._write_all(), name="ledger writer")
        return database

    _writer: aiosqlite.Connection
    _task: asyncio.Task[None]

    async def close(self) -> None:
        """Finish the writes that wait, and release the file."""
        self._closing = True
        self._jobs.put_nowait(None)
        await self._task
        await self._close_all()

    async def write(
        self,
        work: Callable[Concatenate[Connection, Arguments], Coroutine[Any, Any, Result]],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run `work` in a transaction and return once that is on the disk. It may be run anew, after a roll-back."""
        if self._closing:
            raise StoreError(f"The ledger {self.path} is closed.")
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
        connection = await self._readers.get()
        try:
            return await within_thread(connection, lambda db: _snapshot(db, lambda c: work(c, *args, **kwargs)))
        except sqlite3.Error as error:
            raise translated(error) from error
        finally:
            self._readers.put_nowait(connection)

    @asynccontextmanager
    async def reader(self) -> AsyncIterator[aiosqlite.Connection]:
        """A connection that reads, in one consistent snapshot for as long as it is held; for a few statements."""
        connection = await self._readers.get()
        try:
            async with _held_snapshot(connection):
                yield connection
        finally:
            self._readers.put_nowait(connection)

    @asynccontextmanager
    async def stream(self) -> AsyncIterator[aiosqlite.Connection]:
        """Like `reader`, with a connection of its own, so that whoever takes long over the rows hinders no reader."""
        connection = await asyncio.shield(self._connect())
        try:
            async with _held_snapshot(connection):
                yield connection
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
        await self._empty_log()

    async def copy_to(self, path: Path) -> None:
        """A consistent copy of the database as one file."""
        async with aiosqlite.connect(path) as target, self.stream() as source:
            await source.rollback()
            await source.backup(target)

    async def _connect(self) -> aiosqlite.Connection:
        connection = aiosqlite.connect(self.path, isolation_level=None)
        try:
            await connection
        except sqlite3.Error:
            await asyncio.to_thread(connection._thread.join)  # noqa: SLF001 - it has yet to speak to this very loop
            raise
        self._open.append(connection)
        for pragma in PRAGMAS:
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

    async def _empty_log(self) -> None:
        """Write the log back and empty it, once nobody reads from it; in the writer's thread, between transactions."""
        for _ in range(LOOKS):
            try:
                if await within_thread(self._writer, _checkpoint):
                    return
            except sqlite3.Error as error:
                raise translated(error) from error
            await asyncio.sleep(PAUSE)
        raise StoreError(
            f"The log of {self.path} cannot be emptied while it is read.", hint="It is tried again; let exports end."
        )

    async def _write_all(self) -> None:
        going = True
        while going:
            jobs = [await self._jobs.get()]
            while not self._jobs.empty():
                jobs.append(self._jobs.get_nowait())
            going = None not in jobs
            await self._commit([job for job in jobs if job is not None])

    async def _commit(self, jobs: list[_Job]) -> None:
        if not jobs:
            return
        try:
            results = await within_thread(self._writer, lambda db: _transaction(db, [job.work for job in jobs]))
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


async def within_thread(connection: aiosqlite.Connection, work: Callable[[sqlite3.Connection], Result]) -> Result:
    """Run `work` on SQLite's own connection, in its thread: aiosqlite's own way to run a call, for more than one."""
    # There is no public way; the version is pinned, and a test holds it.
    result: Result = await connection._execute(work, connection._conn)  # type: ignore[no-untyped-call]  # noqa: SLF001
    return result


def _transaction(db: sqlite3.Connection, works: Sequence[Work]) -> list[Any]:
    db.execute("BEGIN IMMEDIATE")
    try:
        results = [run(work(Direct(db))) for work in works]
        db.commit()
    except BaseException:
        with suppress(sqlite3.Error):
            db.rollback()
        raise
    return results


def _snapshot(db: sqlite3.Connection, work: Work) -> Any:
    db.execute("BEGIN")
    try:
        return run(work(Direct(db)))
    finally:
        with suppress(sqlite3.Error):
            db.rollback()


@asynccontextmanager
async def _held_snapshot(connection: aiosqlite.Connection) -> AsyncIterator[None]:
    try:
        await connection.execute("BEGIN")
        yield
    except sqlite3.Error as error:
        raise translated(error) from error
    finally:
        with suppress(sqlite3.Error):
            await connection.rollback()


def _checkpoint(db: sqlite3.Connection) -> bool:
    """Empty the log, if nobody is reading from it at this moment; says whether it is empty."""
    db.execute("PRAGMA busy_timeout = 0")  # a writer that waited here would keep all others waiting
    try:
        [(busy, _, _)] = db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        db.execute(f"PRAGMA busy_timeout = {BUSY}")
    return not busy


def _fail(job: _Job, error: Exception) -> None:
    if not job.done.done():
        job.done.set_exception(translated(error))


def migrations() -> list[str]:
    """The scripts in order; the first is the schema, each later one leads from its predecessor to itself."""
    folder = files("engine.ledger")
    later = sorted((folder / "migrations").iterdir(), key=lambda file: file.name)
    return [(folder / "schema.sql").read_text()] + [file.read_text() for file in later if file.name.endswith(".sql")]


def translated(error: BaseException) -> BaseException:
    """The same failure in the words of the error family, where it has one."""
    if not isinstance(error, sqlite3.Error):
        return error
    text = str(error)
    if "full" in text or "disk I/O" in text or "readonly" in text or "unable to open" in text:
        return DiskTrouble(f"The ledger could not be read or written: {text}.")
    if "not a database" in text or "malformed" in text:
        return StoreError(
            f"The ledger is damaged: {text}.", hint="Restore a backup with `threadlore restore FILE --force`."
        )
    return error
