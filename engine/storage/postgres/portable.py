"""The tables of a schema as a portable SQLite file, both ways: the same rows with the same ids, table by table.

The tables are those of the source. Tables that only PostgreSQL has describe running processes, so they are not
copied, and claims neither. Triggers rest meanwhile, because what they keep in step is copied, too.
"""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import aclosing, closing
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from engine.errors import CorruptLedger, StoreError
from engine.storage.sqlite.row_copy import resting_triggers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from engine.storage.postgres.connection import Raw
    from engine.storage.sql.connection import StreamingConnection
    from engine.storage.sql.schema_source import SchemaSource
    from engine.storage.sqlite.schema import Schema

    Tables = Mapping[str, Sequence[str]]  # the columns of each table

CLAIM = "claimed_by"  # the column of the process that works on a row
BATCH = 500  # rows written at once
FILE_NOT_EMPTY_HINT = "Choose another file."
IDENTITY_TABLES = (
    "SELECT table_name FROM information_schema.columns"
    " WHERE table_schema = current_schema() AND column_name = 'id' AND is_identity = 'YES'"
)
LIST_TYPES = (
    "SELECT column_name, data_type FROM information_schema.columns"
    " WHERE table_schema = current_schema() AND table_name = $1"
)
# Besides errors of the file, its rows can violate what the tables of PostgreSQL ensure.
UNFIT = (sqlite3.Error, psycopg.DataError, psycopg.IntegrityError, UnicodeError, OverflowError, TypeError)


def list_columns(source: SchemaSource) -> dict[str, list[str]]:
    """The columns of the tables of both databases; a table comes after those that it refers to."""
    return {
        table.name: [column.name for column in table.columns if not column.computed and column.name != CLAIM]
        for table in source.tables
    }


def upgrade_file(path: Path, schema: Schema) -> None:
    """Bring the tables of a file up to date. Raises EarlySchema, NewerSchema and CorruptLedger."""
    try:
        with closing(sqlite3.connect(path)) as file:
            schema.migrate(file, path)
    except sqlite3.Error as error:
        raise CorruptLedger(f"The {schema.label} {path.name} is damaged: {error}") from error


async def copy_to_file(
    db: StreamingConnection,
    file: sqlite3.Connection,
    tables: Tables,
    complete: Callable[[sqlite3.Connection], None] | None = None,
) -> None:
    """Write all rows, as of the connection's snapshot, into the empty tables of a file; `complete` adds the rest."""
    with resting_triggers(file):
        for table, columns in tables.items():
            await _copy_table(db, file, table, columns)
        for (table,) in file.execute("SELECT name FROM sqlite_schema WHERE sql LIKE '%AUTOINCREMENT%'").fetchall():
            await _copy_last_id(db, file, table)
        if complete is not None:
            await asyncio.to_thread(complete, file)
    await asyncio.to_thread(file.commit)


async def compute_row_checksum(db: StreamingConnection, tables: Tables) -> str:
    """The checksum of all rows, equal to that of `bot.store.sqlite_file` for a file with the same rows."""
    digest = sha256()
    for table in sorted(tables):
        digest.update(table.encode())
        places = ", ".join(f"{place} NULLS FIRST" for place in range(1, len(tables[table]) + 1))
        async with aclosing(db.stream(f"SELECT {', '.join(tables[table])} FROM {table} ORDER BY {places}")) as rows:
            async for row in rows:
                plain = tuple(int(value) if isinstance(value, bool) else value for value in row)
                digest.update(repr(plain).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def create_file(path: Path, schema: Schema, **placeholders: str) -> sqlite3.Connection:
    """A new file with the empty tables of a schema, in a transaction."""
    if path.exists() and path.stat().st_size:
        raise StoreError(f"The file {path} is not empty.", hint=FILE_NOT_EMPTY_HINT)
    file = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    schema.migrate(file, path, **placeholders)
    file.execute("BEGIN")
    return file


async def _copy_table(db: StreamingConnection, file: sqlite3.Connection, table: str, columns: Sequence[str]) -> None:
    insert = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    async with aclosing(db.stream(f"SELECT {', '.join(columns)} FROM {table}")) as rows:
        async for batch in _in_batches(rows):
            await asyncio.to_thread(file.executemany, insert, batch)


async def _copy_last_id(db: StreamingConnection, file: sqlite3.Connection, table: str) -> None:
    query = f"SELECT last_value FROM {table}_id_seq WHERE is_called"
    for (last,) in await db.run(lambda plain: plain.execute_fetchall(query)):
        file.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
        file.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, last))


async def _in_batches(rows: AsyncIterator[tuple[Any, ...]]) -> AsyncIterator[list[tuple[Any, ...]]]:
    batch = list[tuple[Any, ...]]()
    async for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def has_rows(raw: Raw, tables: Iterable[str]) -> bool:
    """Whether any of these tables has a row."""
    query = sql.SQL("SELECT EXISTS (SELECT 1 FROM {})")
    return any(raw.execute(query.format(sql.Identifier(table))).fetchone() == (True,) for table in tables)


def empty_tables(raw: Raw) -> None:
    """Delete all rows of the present schema, also those about running processes."""
    found = raw.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename <> 'schema_version'"
    )
    names = [sql.Identifier(name) for (name,) in found.fetchall()]
    raw.execute(sql.SQL("TRUNCATE {}").format(sql.SQL(", ").join(names)))


def load_tables(raw: Raw, path: Path, tables: Tables, label: str, kept: Collection[tuple[str, str]] = ()) -> None:
    """Replace all rows of the present schema with those of a file, in the present transaction.

    `label`: how messages call the file. `kept`: tables with triggers that run for loaded rows. Raises CorruptLedger if
    its rows do not fit.
    """
    names = [sql.Identifier(table) for table in tables]
    try:
        with closing(sqlite3.connect(path)) as file:
            file.execute("PRAGMA trusted_schema = OFF")
            for name in names:
                raw.execute(sql.SQL("ALTER TABLE {} DISABLE TRIGGER USER").format(name))
            for owner in kept:
                raw.execute(sql.SQL("ALTER TABLE {} ENABLE TRIGGER {}").format(*map(sql.Identifier, owner)))
            empty_tables(raw)
            for table, columns in tables.items():
                _load_table(raw, file, table, columns)
            for (table,) in raw.execute(IDENTITY_TABLES).fetchall():
                _load_last_id(raw, file, table)
            for name in names:
                raw.execute(sql.SQL("ALTER TABLE {} ENABLE TRIGGER USER").format(name))
    except UNFIT as error:
        raise CorruptLedger(f"The {label} {path.name} does not fit the tables: {error}") from error


def _load_table(raw: Raw, file: sqlite3.Connection, table: str, columns: Sequence[str]) -> None:
    types: dict[str, str] = dict(raw.execute(LIST_TYPES, (table,)).fetchall())
    casts: list[Callable[[Any], Any] | None] = [{"boolean": bool, "text": str}.get(types[column]) for column in columns]
    target = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with raw.cursor() as cursor, cursor.copy(target) as copy:
        for row in file.execute(f"SELECT {', '.join(columns)} FROM {table}"):
            values = zip(casts, row, strict=True)
            copy.write_row([value if cast is None or value is None else cast(value) for cast, value in values])


def _load_last_id(raw: Raw, file: sqlite3.Connection, table: str) -> None:
    last = file.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
    [top] = last or file.execute(f"SELECT MAX(id) FROM {table}").fetchone()
    raw.execute(f"SELECT setval('{table}_id_seq', GREATEST($1, 1), $1 > 0)".encode(), (top or 0,))
