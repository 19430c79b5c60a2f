"""Connections on SQLite: SQL functions run in the thread of a connection.

Transactions and snapshots run there as a whole. SQLite's errors are translated to the engine's.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from engine.errors import CorruptLedger, StoreError, UnstorableText
from engine.storage.disk import disk_error
from engine.storage.sql.connection import Dialect
from engine.storage.sql.fragments import for_sqlite

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
    from pathlib import Path

    import aiosqlite

    from engine.storage.sql.connection import Connection, Work

Result = TypeVar("Result")

# With a damaged file, the sqlite3 module may fail to decode a message.
SQLITE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
DISK_CODES = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_NOLFS,
    }
)
BUSY_CODES = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
DAMAGE_CODES = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT})
REFUSED_CODES = frozenset({sqlite3.SQLITE_TOOBIG})
PRIMARY_CODE = 0xFF  # the bits of an extended result code that name its kind
# The full-text index reports its damage as a plain error, and our own checks of a file have no code.
DAMAGE_MESSAGES = ("not a database", "malformed", "corrupt", "fts5", "decode")

LOCKED_HINT = (
    "Close other programs that use the file, for instance a database browser or a backup tool; it will be retried."
)


class ThreadConnection:
    """A `Connection` on top of SQLite's own, for use in its thread."""

    __slots__ = ("_sqlite",)
    dialect = Dialect.SQLITE

    def __init__(self, sqlite: sqlite3.Connection) -> None:
        self._sqlite = sqlite

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> None:
        self._sqlite.execute(for_sqlite(sql), parameters)

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> None:
        self._sqlite.executemany(for_sqlite(sql), parameters)

    def fetch_each(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> list[Any]:
        statement = for_sqlite(sql)
        return [row for parameter in parameters for row in self._sqlite.execute(statement, parameter)]

    def execute_fetchall(self, sql: str, parameters: Sequence[Any] = (), /) -> list[Any]:
        return self._sqlite.execute(for_sqlite(sql), parameters).fetchall()


class StreamConnection:
    """A `StreamingConnection` on a connection of aiosqlite."""

    def __init__(self, sqlite: aiosqlite.Connection) -> None:
        self.sqlite = sqlite

    async def run(self, work: Callable[[Connection], Result], /) -> Result:
        """Run a SQL function in the thread of the connection."""
        return await run_in_thread(self.sqlite, lambda db: work(ThreadConnection(db)))

    async def stream(self, sql: str, parameters: Sequence[Any] = (), /) -> AsyncGenerator[tuple[Any, ...], None]:
        async with self.sqlite.execute(for_sqlite(sql), parameters) as cursor:
            async for row in cursor:
                yield tuple(row)


def translate_error(error: BaseException, file: str, path: Path) -> BaseException:
    """The engine's error for an error of SQLite; other errors unchanged. `file`: how messages call the database."""
    if not isinstance(error, SQLITE_ERRORS):
        return error
    text, code = str(error), getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & PRIMARY_CODE
    if code in DISK_CODES:
        return disk_error(f"The {file} could not be read or written", path, error)
    if code in BUSY_CODES:
        return StoreError(f"The database is locked by another program: {text}.", hint=LOCKED_HINT)
    if code in REFUSED_CODES:
        return UnstorableText(f"The {file} refused a text: {text}.")
    if code in DAMAGE_CODES or any(words in text for words in DAMAGE_MESSAGES):
        return CorruptLedger(f"The {file} is damaged: {text}.")
    return error


async def run_in_thread(connection: aiosqlite.Connection, work: Callable[[sqlite3.Connection], Result]) -> Result:
    """Run `work` on SQLite's own connection in its thread, as aiosqlite runs a single call."""
    # aiosqlite has no public way; its version is pinned, and a test checks this.
    result: Result = await connection._execute(work, connection._conn)  # type: ignore[no-untyped-call]  # noqa: SLF001
    return result


def run_transaction(db: sqlite3.Connection, works: Sequence[Work]) -> list[Any]:
    """The results of all works, in one transaction: they happen together or not at all."""
    db.execute("BEGIN IMMEDIATE")
    try:
        results = [work(ThreadConnection(db)) for work in works]
        db.commit()
    except BaseException:
        with suppress(sqlite3.Error):
            db.rollback()
        raise
    return results


def run_snapshot(db: sqlite3.Connection, work: Work) -> Any:
    """The result of a work that reads as of one moment."""
    db.execute("BEGIN")
    try:
        return work(ThreadConnection(db))
    finally:
        with suppress(sqlite3.Error):
            db.rollback()
