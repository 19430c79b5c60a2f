"""Copy the rows of a foreign database into new tables of a schema; nothing else of that database arrives.

Its triggers, views, indexes and further tables stay behind: what others wrote is data, and no part of the program.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from engine.storage.sqlite.schema import list_table_differences, read_structure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from engine.storage.sqlite.schema import Schema

LIST_OWN_TABLES = (
    "SELECT name FROM pragma_table_list WHERE schema = ? AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
)


def copy_rows(
    source: Path,
    target: Path,
    schema: Schema,
    complete: Callable[[sqlite3.Connection, int], None] | None = None,
    **placeholders: str,
) -> None:
    """Create a file with the rows of another one, which has the schema in any version that this program knows.

    `complete` adds what is made from the rows, and is given the version. Raises sqlite3.DatabaseError if the rows do
    not fit, EarlySchema and NewerSchema.
    """
    with closing(sqlite3.connect(f"{target.absolute().as_uri()}", uri=True, isolation_level=None)) as db:
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("ATTACH ? AS foreign_file", (f"{source.absolute().as_uri()}?mode=ro",))
        version = read_version(source, schema)
        schema.create(db, version, **placeholders)
        tables = [name for (name,) in db.execute(LIST_OWN_TABLES, ("main",))]
        _check_tables(db, source, tables)
        db.execute("BEGIN")
        with resting_triggers(db):
            for table in tables:
                _copy_table(db, table)
            _copy_last_ids(db, tables)
            if complete is not None:
                complete(db, version)
        db.execute("COMMIT")
        db.execute("DETACH foreign_file")


def read_version(source: Path, schema: Schema) -> int:
    """The version of the schema of a file."""
    with closing(sqlite3.connect(source)) as db:
        db.execute("PRAGMA trusted_schema = OFF")
        return schema.check_version(db, schema.label)


@contextmanager
def resting_triggers(file: sqlite3.Connection) -> Iterator[None]:
    """Keep triggers of the file from running within the block."""
    triggers = file.execute("SELECT name, sql FROM main.sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        file.execute(f"DROP TRIGGER main.{name}")
    yield
    for _, statement in triggers:
        file.execute(statement)


def _check_tables(db: sqlite3.Connection, source: Path, tables: list[str]) -> None:
    """Raise sqlite3.DatabaseError unless the file has these tables, with the same columns."""
    plain = {name for (name,) in db.execute(LIST_OWN_TABLES, ("foreign_file",))}
    expected = read_structure(db)
    with closing(sqlite3.connect(source)) as foreign:
        foreign.execute("PRAGMA trusted_schema = OFF")
        found = read_structure(foreign)
    differences = [f"{name} is no table" for name in tables if name not in plain]
    differences += list_table_differences({name: expected.tables[name] for name in tables}, found.tables)
    if differences:
        raise sqlite3.DatabaseError("; ".join(differences))


def _copy_table(db: sqlite3.Connection, table: str) -> None:
    columns = ", ".join(f'"{row[1]}"' for row in db.execute(f'PRAGMA main.table_info("{table}")'))
    db.execute(f'INSERT INTO main."{table}" ({columns}) SELECT {columns} FROM foreign_file."{table}"')


def _copy_last_ids(db: sqlite3.Connection, tables: list[str]) -> None:
    """Ids are never given again, also those of deleted rows."""
    if not db.execute("SELECT 1 FROM foreign_file.sqlite_schema WHERE name = 'sqlite_sequence'").fetchone():
        return
    known = "SELECT name, MAX(CAST(seq AS INTEGER)) FROM foreign_file.sqlite_sequence GROUP BY name"
    for name, last in db.execute(known).fetchall():
        if name in tables:
            db.execute("DELETE FROM main.sqlite_sequence WHERE name = ?1 AND seq < ?2", (name, last))
            db.execute(
                "INSERT INTO main.sqlite_sequence (name, seq) SELECT ?1, ?2"
                " WHERE NOT EXISTS (SELECT 1 FROM main.sqlite_sequence WHERE name = ?1)",
                (name, last),
            )
