"""The bot's tables in a PostgreSQL database."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, closing
from typing import TYPE_CHECKING

import psycopg

from bot.store.database import Database
from bot.store.schema import SOURCE
from bot.store.sqlite_file import SCHEMA as FILE_SCHEMA
from engine.errors import DatabaseInUse, StoreError
from engine.storage.postgres import portable
from engine.storage.postgres.connection import POSTGRES_ERRORS, connection_options, translate_error
from engine.storage.postgres.database import PostgresDatabase
from engine.storage.postgres.process_statements import ENTER, IN_USE_LOCK
from engine.storage.postgres.schema import PROCESS_SCHEMA, PostgresSchema

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from engine import Clock
    from engine.storage.postgres.connection import Raw

NOT_EMPTY_HINT = "Use --force to replace it."
SCHEMA = PostgresSchema(SOURCE, "bot's database", "threadlore_bot")


class PostgresStore(PostgresDatabase, Database):
    """The tables in a schema of the database."""

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str, clock: Clock, process: int | None = None) -> AsyncIterator[PostgresStore]:
        """Connect, and create the tables. Raises StoreError."""
        database = cls(url, SCHEMA, clock, process)
        await database._start()
        try:
            yield database
        finally:
            await database.close()

    async def compact(self) -> None:
        """Free the space of deleted rows in all tables."""
        await self.vacuum()

    async def copy_to(self, path: Path) -> str:
        """Copy the tables as of one moment into a SQLite file; returns the checksum of their rows."""
        tables = portable.list_columns(SOURCE)
        with closing(await asyncio.to_thread(portable.create_file, path, FILE_SCHEMA)) as file:
            async with self.stream_connection() as source:
                checksum = await portable.compute_row_checksum(source, tables)
                await portable.copy_to_file(source, file, tables)
        return checksum


def migrate_tables(url: str) -> None:
    """Update the tables. Raises StoreError: DatabaseInUse while another process prevents it."""
    try:
        with psycopg.connect(url, **connection_options(SCHEMA.name)) as raw:
            if raw.execute(ENTER, (IN_USE_LOCK,)).fetchone() != (True,):
                raise DatabaseInUse("The database is in use by another process.")
            PROCESS_SCHEMA.migrate(raw)
            SCHEMA.migrate(raw)
    except POSTGRES_ERRORS as error:
        raise translate_error(error, SCHEMA.label) from error


def read_identity(url: str) -> str:
    """What tells this database from all others; empty if its server does not say. Raises StoreError."""
    try:
        with psycopg.connect(url, **connection_options("pg_catalog")) as raw:
            row = raw.execute("SELECT system_identifier, current_database() FROM pg_control_system()").fetchone()
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedFunction):
        return ""
    except POSTGRES_ERRORS as error:
        raise translate_error(error, SCHEMA.label) from error
    return " ".join(map(str, row or ()))


def load_store(raw: Raw, path: Path | None, *, replace: bool) -> None:
    """Fill the tables with the rows of a file, or with none, in the present transaction.

    Raises StoreError if there are rows, unless `replace`; CorruptLedger, EarlySchema and NewerSchema.
    """
    raw.execute(f"SET LOCAL search_path TO {SCHEMA.name}, public".encode())
    SCHEMA.migrate(raw)
    tables = portable.list_columns(SOURCE)
    if not replace and portable.has_rows(raw, tables):
        raise StoreError("The database already contains data of a bot.", hint=NOT_EMPTY_HINT)
    if path is None:
        portable.empty_tables(raw)
    else:
        portable.upgrade_file(path, FILE_SCHEMA)
        portable.load_tables(raw, path, tables, FILE_SCHEMA.label)
