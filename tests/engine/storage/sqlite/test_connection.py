"""Every result code of SQLite that a person can do something about reads as an error of the engine."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

import pytest

from engine.errors import CorruptLedger, DiskError, StoreError, UnstorableText
from engine.storage.sqlite.database_file import translate_error

CODES = {name: value for name, value in vars(sqlite3).items() if name.startswith("SQLITE_") and isinstance(value, int)}
MISTAKES = "ABORT AUTH CONSTRAINT EMPTY ERROR INTERNAL INTERRUPT MISMATCH MISUSE NOMEM NOTFOUND RANGE SCHEMA"
TOLD = "BUSY CANTOPEN CORRUPT FORMAT FULL IOERR LOCKED NOLFS NOTADB PERM PROTOCOL READONLY TOOBIG"

PLACE = Path("ledger.db")


def fail(code: int, text: str = "it failed") -> sqlite3.Error:
    error = sqlite3.OperationalError(text)
    error.sqlite_errorcode = code
    return error


def find_kind(code: int) -> type[BaseException]:
    return type(translate_error(fail(code), "ledger", PLACE))


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        ("FULL IOERR IOERR_FSYNC IOERR_READ READONLY READONLY_DBMOVED CANTOPEN CANTOPEN_ISDIR PERM NOLFS", DiskError),
        ("BUSY BUSY_RECOVERY BUSY_SNAPSHOT LOCKED LOCKED_SHAREDCACHE PROTOCOL", StoreError),
        ("CORRUPT CORRUPT_VTAB CORRUPT_INDEX NOTADB FORMAT", CorruptLedger),
        ("TOOBIG", UnstorableText),
        ("CONSTRAINT_UNIQUE ERROR MISUSE SCHEMA", sqlite3.OperationalError),
    ],
)
def test_the_kind_of_an_error_follows_from_its_code(names: str, kind: type[BaseException]) -> None:
    found = {name: find_kind(CODES[f"SQLITE_{name}"]) for name in names.split()}
    assert found == dict.fromkeys(names.split(), kind)


def test_each_primary_result_code_is_told_or_is_a_mistake_of_the_program() -> None:
    assert {CODES[f"SQLITE_{name}"] for name in f"{MISTAKES} {TOLD}".split()} == set(range(1, 27))
    for name in TOLD.split():
        assert issubclass(find_kind(CODES[f"SQLITE_{name}"]), StoreError)
    for name in MISTAKES.split():
        assert find_kind(CODES[f"SQLITE_{name}"]) is sqlite3.OperationalError


@pytest.mark.parametrize("text", ["fts5: corruption found", "database disk image is malformed"])
def test_damage_without_a_code_is_known_by_its_words(text: str) -> None:
    assert isinstance(translate_error(sqlite3.DatabaseError(text), "ledger", PLACE), CorruptLedger)


def test_a_file_that_cannot_be_opened_for_lack_of_handles_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    failure = fail(sqlite3.SQLITE_CANTOPEN, "unable to open database file")
    assert "ulimit" not in getattr(translate_error(failure, "ledger", PLACE), "hint", "")
    monkeypatch.setattr(os, "open", refuse)
    mapped = translate_error(failure, "ledger", PLACE)
    assert isinstance(mapped, DiskError)
    assert "too few file handles" in str(mapped)
    assert "ulimit -n" in mapped.hint
