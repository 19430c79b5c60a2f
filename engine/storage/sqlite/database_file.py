"""Files of SQLite: checks before use, the write-ahead log, and connections.

The log is kept short because every read searches it, and emptied to remove deleted bytes.

SQL functions run in the thread of a connection, transactions and snapshots as a whole. SQLite's errors are translated
to the engine's.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from engine.errors import CorruptLedger, StoreError, UnstorableText
from engine.storage.disk import disk_error
from engine.storage.sql.connection import Dialect
from engine.storage.sql.fragments import for_sqlite
from engine.storage.sqlite.schema import has_table

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
    from pathlib import Path

    import aiosqlite

    from engine.storage.sql.connection import Connection, Work
    from engine.storage.sqlite.schema import Schema


LOGS = ("-wal", "-shm", "-journal")  # suffixes of the files that SQLite keeps next to a database

BLOCKED = (
    "SQLite needs a file of that name: move the folder away and start again. If data is missing then, restore a "
    "backup with `threadlore restore FILE --force`."
)

MAX_LOG_SIZE = 32 << 20  # bytes; a longer log is written back
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


def check_places(database: Path, name: str) -> None:
    """Raise CorruptLedger if a folder has the name of a database, or of a file that SQLite keeps next to it.

    `name`: how the message calls the database.
    """
    if database.is_dir():
        raise CorruptLedger(f"The {name} {database} is a folder, not a file.")
    for log in (database.with_name(database.name + ending) for ending in LOGS):
        if log.is_dir():
            raise CorruptLedger(f"The log of the {name}, {log}, is a folder, not a file.", hint=BLOCKED)


def find_problems(database: sqlite3.Connection) -> list[str]:
    """Every problem with structure, indexes and constraints of a database.

    `quick_check` is not enough: in SQLite 3.40 it reports false NULLs in WITHOUT ROWID tables whose key columns are
    declared in another order.
    """
    problems = [str(verdict) for (verdict,) in database.execute("PRAGMA integrity_check")]
    return [] if problems == ["ok"] else problems


def check_file(file: Path, schema: Schema) -> None:
    """Check structure, indexes and constraints, and that the file has a schema that this program can read.

    Raises sqlite3.DatabaseError with every problem, EarlySchema and NewerSchema.
    """
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA trusted_schema = OFF")
        if problems := find_problems(database):
            raise sqlite3.DatabaseError("; ".join(problems))
        schema.check_version(database, schema.label)
        if not has_table(database, schema.marker):
            raise sqlite3.DatabaseError(f"there is no table {schema.marker}")


def read_only_address(database: Path) -> str:
    """The URI by which SQLite reads a file, with its log, without making any file beside it.

    No other process may write: a lock of the folder guards it. Connections have to set exclusive locks first.
    """
    without_locks = "vfs=unix-none" if log_size(database) else "immutable=1"
    return f"{database.absolute().as_uri()}?mode=ro&{without_locks}"


def log_size(database: Path) -> int:
    """The size of a database's log in bytes; 0 if there is none."""
    try:
        return os.stat(f"{database}-wal").st_size  # noqa: PTH116 - before each commit, and a third of the time
    except OSError:
        return 0


def checkpoint_log(db: sqlite3.Connection) -> None:
    """Write back what no reader needs from the log; does not block readers."""
    db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()


def truncate_log(db: sqlite3.Connection, busy: int) -> bool:
    """Write the log back and empty it if no reader uses it now; returns whether it is empty.

    `busy`: milliseconds that other statements of this connection wait for a lock. A writer that waited here would delay
    all others.
    """
    db.execute("PRAGMA busy_timeout = 0")
    try:
        [(is_blocked, _, _)] = db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        db.execute(f"PRAGMA busy_timeout = {busy}")
    return not is_blocked


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

    def fetch_each_later(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Callable[[], list[Any]]:
        rows = self.fetch_each(sql, parameters)
        return lambda: rows

    def execute_fetchall(self, sql: str, parameters: Sequence[Any] = (), /) -> list[Any]:
        return self._sqlite.execute(for_sqlite(sql), parameters).fetchall()

    def fetch_later(self, sql: str, parameters: Sequence[Any] = (), /) -> Callable[[], list[Any]]:
        rows = self.execute_fetchall(sql, parameters)
        return lambda: rows


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


def run_snapshot(db: sqlite3.Connection, work: Callable[[sqlite3.Connection], Result]) -> Result:
    """The result of a work that reads as of one moment."""
    db.execute("BEGIN")
    try:
        return work(db)
    finally:
        with suppress(sqlite3.Error):
            db.rollback()
