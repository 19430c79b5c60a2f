"""Calls of psycopg by cursors of their own kind, and the translation of its errors for vectors and the graph."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import AsyncCursor, errors

from engine.errors import CorruptProjection, EngineError, StoreError
from engine.storage.postgres.connection import first_line, translate_error
from engine.storage.postgres.faults import Fault, classify

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from psycopg import AsyncConnection, sql

LABEL = "graph and vectors"


async def run_statement(
    connection: AsyncConnection[Any], statement: sql.SQL | sql.Composed, parameters: Mapping[str, Any] | None = None
) -> None:
    """Run a statement with placeholders like `%(name)s`. In a pipeline it does not wait for the end."""
    async with AsyncCursor(connection) as cursor:
        await cursor.execute(statement, parameters)


async def fetch_rows(
    connection: AsyncConnection[Any], statement: sql.SQL | sql.Composed, parameters: Mapping[str, Any] | None = None
) -> list[tuple[Any, ...]]:
    """The rows of a statement with placeholders like `%(name)s`."""
    async with AsyncCursor(connection) as cursor:
        await cursor.execute(statement, parameters, binary=True)
        return await cursor.fetchall()


def map_postgres_error(error: psycopg.Error) -> EngineError:
    """The engine's error for an error of the database."""
    if isinstance(error, errors.UndefinedTable | errors.UndefinedColumn) or classify(error) is Fault.DAMAGED:
        return CorruptProjection(f"The database cannot be read: {first_line(error)}")
    translated = translate_error(error, LABEL)
    if isinstance(translated, EngineError):
        return translated
    return StoreError(f"The database refused a statement: {first_line(error)}")


@contextmanager
def translate_postgres_errors() -> Iterator[None]:
    """Translate errors of the database raised inside; others pass unchanged."""
    try:
        yield
    except psycopg.Error as error:
        raise map_postgres_error(error) from error
