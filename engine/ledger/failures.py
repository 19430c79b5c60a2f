"""What SQLite says of a failure, in the words of our own errors."""

from __future__ import annotations

import sqlite3

from engine.errors import DiskTrouble, StoreError

LOCKED = "Close whatever else has the file open, for instance a database browser or a backup tool; it is tried again."


def translated(error: BaseException) -> BaseException:
    """The same failure in the words of the error family, where it has one."""
    if not isinstance(error, sqlite3.Error):
        return error
    text = str(error)
    if "full" in text or "disk I/O" in text or "readonly" in text or "unable to open" in text:
        return DiskTrouble(f"The ledger could not be read or written: {text}.")
    if "locked" in text or "busy" in text:
        return StoreError(f"The database is locked by another program: {text}.", hint=LOCKED)
    if "not a database" in text or "malformed" in text:
        return StoreError(
            f"The ledger is damaged: {text}.", hint="Restore a backup with `threadlore restore FILE --force`."
        )
    return error
