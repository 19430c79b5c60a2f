"""Files of SQLite: checks before use, and the write-ahead log.

The log is kept short because every read searches it, and emptied to remove deleted bytes.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from engine.errors import CorruptLedger
from engine.storage.sqlite.schema import has_table

if TYPE_CHECKING:
    from pathlib import Path

    from engine.storage.sqlite.schema import Schema

LOGS = ("-wal", "-shm", "-journal")  # suffixes of the files that SQLite keeps next to a database

BLOCKED = (
    "SQLite needs a file of that name: move the folder away and start again. If data is missing then, restore a "
    "backup with `threadlore restore FILE --force`."
)

MAX_LOG_SIZE = 32 << 20  # bytes; a longer log is written back


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
