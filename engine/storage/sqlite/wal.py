"""SQLite's write-ahead log: kept short because every read searches it, and emptied to remove deleted bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

MAX_LOG_SIZE = 32 << 20  # bytes; a longer log is written back


def log_size(database: Path) -> int:
    """The size of a database's log in bytes; 0 if there is none."""
    try:
        return database.with_name(f"{database.name}-wal").stat().st_size
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
