"""Translation of errors that PostgreSQL, its client and its connection pool raise."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg
from psycopg import errors

from engine.errors import CorruptProjection, DiskError, EngineError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

UNREACHABLE_HINT = "Check that the server runs and accepts connections; the work resumes by itself."


def map_postgres_error(error: psycopg.Error) -> EngineError:
    """The engine's error for an error of the database."""
    text = _first_line(error)
    if isinstance(error, errors.DiskFull | errors.IoError | errors.ReadOnlySqlTransaction):
        return DiskError(f"The database cannot write: {text}")
    if isinstance(error, errors.UndefinedTable | errors.UndefinedColumn | errors.DataCorrupted | errors.IndexCorrupted):
        return CorruptProjection(f"The database cannot be read: {text}")
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return StoreError(f"The database does not answer: {text}", hint=UNREACHABLE_HINT)
    return StoreError(f"The database refused a statement: {text}")


@contextmanager
def translate_postgres_errors() -> Iterator[None]:
    """Translate errors of the database raised inside; others pass unchanged."""
    try:
        yield
    except psycopg.Error as error:
        raise map_postgres_error(error) from error


def _first_line(error: psycopg.Error) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
