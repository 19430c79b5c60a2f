"""Translation of SQLite's errors."""

from __future__ import annotations

import sqlite3

from engine.errors import CorruptLedger, DiskError, StoreError

# With a damaged file, the sqlite3 module may fail to decode a message.
SQLITE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
DISK_MESSAGES = ("full", "disk I/O", "readonly", "unable to open")
DAMAGE_MESSAGES = ("not a database", "malformed", "corrupt", "fts5", "decode")

LOCKED_HINT = (
    "Close other programs that use the file, for instance a database browser or a backup tool; it will be retried."
)


def translate_error(error: BaseException, file: str) -> BaseException:
    """The engine's error for an error of SQLite; other errors unchanged. `file`: how messages call the database."""
    if not isinstance(error, SQLITE_ERRORS):
        return error
    text = str(error)
    if any(words in text for words in DISK_MESSAGES):
        return DiskError(f"The {file} could not be read or written: {text}.")
    if "locked" in text or "busy" in text:
        return StoreError(f"The database is locked by another program: {text}.", hint=LOCKED_HINT)
    if any(words in text for words in DAMAGE_MESSAGES):
        return CorruptLedger(f"The {file} is damaged: {text}.")
    return error
