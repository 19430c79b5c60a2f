"""SQLite's write-ahead log: kept short, for every read looks through it, and emptied when forgotten bytes must go."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

MAX_LOG_SIZE = 32 << 20  # bytes from which on the log is written back


def log_size(database: Path) -> int:
    """Bytes of a database's log, as far as that can be seen."""
    try:
        return database.with_name(f"{database.name}-wal").stat().st_size
    except OSError:
        return 0


def checkpoint_log(db: sqlite3.Connection) -> None:
    """Write back what nobody reads from the log any more; it hinders no reader."""
    db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()


def truncate_log(db: sqlite3.Connection, busy: int) -> bool:
    """Write the log back and empty it, if nobody is reading from it at this moment; says whether it is empty.

    `busy`: milliseconds that other statements of this connection wait for a lock; a writer that waited here would keep
    all others waiting.
    """
    db.execute("PRAGMA busy_timeout = 0")
    try:
        [(hindered, _, _)] = db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        db.execute(f"PRAGMA busy_timeout = {busy}")
    return not hindered
