"""The ledger as a portable SQLite file, both ways: the same rows with the same ids, table by table.

Triggers rest meanwhile, because what they keep in step is copied, too. Full text is indexed again in the target.
"""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import aclosing, closing, contextmanager
from typing import TYPE_CHECKING, Any

from psycopg import sql

from engine.errors import StoreError
from engine.storage.ledger.database import SCHEMA as FILE_SCHEMA

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence
    from pathlib import Path

    from engine.storage.postgres.connection import Raw
    from engine.storage.sql.connection import StreamingConnection

BATCH = 500  # rows written at once
COMPUTED = {"entity_length"}  # a view of PostgreSQL
COUNTED_IDS = ("document", "passage", "chunk", "name", "pair")  # ids that are never reused
FILE_NOT_EMPTY_HINT = "Choose another file."
NOT_EMPTY_HINT = "Choose an empty database, or one whose ledger may go."


def list_columns(file: sqlite3.Connection) -> dict[str, list[str]]:
    """The columns of the file's own tables; a table comes after those that it refers to."""
    tables = file.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '%\\_fts%' ESCAPE '\\'"
        " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
    ).fetchall()
    return {
        table: [row[1] for row in file.execute(f"PRAGMA table_info({table})")]
        for (table,) in tables
        if table not in COMPUTED
    }


@contextmanager
def resting_triggers(file: sqlite3.Connection) -> Iterator[None]:
    """While inside, no trigger of the file runs."""
    triggers = file.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        file.execute(f"DROP TRIGGER {name}")
    yield
    for _, statement in triggers:
        file.execute(statement)


async def copy_to_file(db: StreamingConnection, path: Path, tokenizer: str) -> None:
    """Write all rows, as of the connection's snapshot, into a new file."""
    with closing(await asyncio.to_thread(_create_file, path, tokenizer)) as file:
        with resting_triggers(file):
            for table, columns in list_columns(file).items():
                await _copy_table(db, file, table, columns)
            for table in COUNTED_IDS:
                await _copy_last_id(db, file, table)
            await asyncio.to_thread(_index, file)
        await asyncio.to_thread(file.commit)


async def _copy_table(db: StreamingConnection, file: sqlite3.Connection, table: str, columns: Sequence[str]) -> None:
    insert = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    async with aclosing(db.stream(f"SELECT {', '.join(columns)} FROM {table}")) as rows:
        async for batch in _in_batches(rows):
            await asyncio.to_thread(file.executemany, insert, batch)


async def _copy_last_id(db: StreamingConnection, file: sqlite3.Connection, table: str) -> None:
    for (last,) in await db.execute_fetchall(f"SELECT last_value FROM {table}_id_seq WHERE is_called"):
        file.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
        file.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, last))


def _create_file(path: Path, tokenizer: str) -> sqlite3.Connection:
    if path.exists() and path.stat().st_size:
        raise StoreError(f"The file {path} is not empty.", hint=FILE_NOT_EMPTY_HINT)
    file = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    FILE_SCHEMA.migrate(file, path, tokenizer=tokenizer)
    file.execute("BEGIN")
    return file


def _index(file: sqlite3.Connection) -> None:
    file.execute("INSERT INTO entity_length SELECT id, space, LENGTH(name) FROM entity")
    for index in ("chunk_fts", "entity_fts"):
        file.execute(f"INSERT INTO {index} ({index}) VALUES ('rebuild')")


async def _in_batches(rows: AsyncIterator[tuple[Any, ...]]) -> AsyncIterator[list[tuple[Any, ...]]]:
    batch = list[tuple[Any, ...]]()
    async for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def load_file(raw: Raw, path: Path) -> None:
    """Fill the empty tables of a schema with all rows of a file, in the present transaction.

    A file of an older version is brought up to date. Raises EarlySchema, NewerSchema and CorruptLedger.
    """
    [[is_filled]] = raw.execute("SELECT EXISTS (SELECT 1 FROM document)").fetchall()
    if is_filled:
        raise StoreError("The ledger in the database is not empty.", hint=NOT_EMPTY_HINT)
    with closing(sqlite3.connect(path)) as file:
        FILE_SCHEMA.migrate(file, path)
        tables = list_columns(file)
        names = [sql.Identifier(table) for table in tables]
        for name in names:
            raw.execute(sql.SQL("ALTER TABLE {} DISABLE TRIGGER USER").format(name))
        raw.execute(sql.SQL("TRUNCATE {}").format(sql.SQL(", ").join(names)))
        for table, columns in tables.items():
            _load_table(raw, file, table, columns)
        for table in (*COUNTED_IDS, "space", "room"):
            last = file.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
            [top] = last or file.execute(f"SELECT MAX(id) FROM {table}").fetchone()
            raw.execute(f"SELECT setval('{table}_id_seq', GREATEST($1, 1), $1 > 0)".encode(), (top or 0,))
        for name in names:
            raw.execute(sql.SQL("ALTER TABLE {} ENABLE TRIGGER USER").format(name))


def _load_table(raw: Raw, file: sqlite3.Connection, table: str, columns: Sequence[str]) -> None:
    flags = _find_flags(raw, table)
    is_flag = [column in flags for column in columns]
    target = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with raw.cursor() as cursor, cursor.copy(target) as copy:
        for row in file.execute(f"SELECT {', '.join(columns)} FROM {table}"):
            values = [bool(value) if flag else value for value, flag in zip(row, is_flag, strict=True)]
            copy.write_row([str(value) for value in values] if table == "meta" else values)


def _find_flags(raw: Raw, table: str) -> set[str]:
    """The boolean columns of a table, which a file holds as integers."""
    rows = raw.execute(
        "SELECT column_name FROM information_schema.columns"
        " WHERE table_schema = current_schema() AND table_name = $1 AND data_type = 'boolean'",
        (table,),
    )
    return {name for (name,) in rows.fetchall()}
