"""Schemas in SQLite files: their version, how a new one is made and a former one updated, and their structure."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from string import Template
from typing import TYPE_CHECKING, Any

from engine.errors import CorruptLedger, EarlySchema, NewerSchema, SchemaMismatch
from engine.storage.sql.connection import Dialect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from engine.storage.sql.schema_source import SchemaSource


MAX_SHOWN = 5  # differences in a message
LIST_OBJECTS = (
    "SELECT name, COALESCE(sql, '') FROM sqlite_schema WHERE type = ? AND name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\'"
    " ORDER BY rowid"
)
Column = tuple[Any, ...]  # type, whether it may be NULL, default, place in the primary key, how it is computed


@dataclass(frozen=True, slots=True)
class Schema:
    """The schema of a database file.

    `label`: how messages call the database. `marker`: a table of every version. `early_marker`: a table that only files
    of before version 1 have.
    """

    source: SchemaSource
    label: str
    marker: str
    early_marker: str

    def migrate(self, db: sqlite3.Connection, path: Path, **placeholders: str) -> None:
        """Create the tables of a new file, or bring the schema up to date.

        Raises EarlySchema, NewerSchema, and SchemaMismatch if the tables are not those that this program would create.
        """
        version = self.check_version(db, f"{self.label} {path}")
        if not version:
            self.create(db, self.source.latest, **placeholders)
            return
        self.check_structure(db, f"{self.label} {path}", version)
        for number, script in enumerate(self.source.load_updates(Dialect.SQLITE, version), version + 1):
            _run_scripts(db, [script], number, placeholders)

    def check_structure(self, db: sqlite3.Connection, name: str, version: int) -> None:
        """Compare tables, columns and triggers with those of a version; create indexes that are missing or different.

        `name`: of the file in messages. Raises SchemaMismatch.
        """
        expected, found = self.expect_structure(version), read_structure(db)
        differences = list_differences(expected, found)
        try:
            if not differences:
                for statement in list_repairs(expected, found):
                    db.execute(statement)
        except sqlite3.IntegrityError as error:
            differences.append(str(error))
        if differences:
            shown = "; ".join(differences[:MAX_SHOWN]) + ("; …" if len(differences) > MAX_SHOWN else "")
            raise SchemaMismatch(f"The {name} does not have the tables of its version {version}: {shown}.")

    def expect_structure(self, version: int) -> Structure:
        """The structure of a file of a version; takes 20 ms the first time."""
        return _build_structure(self._list_scripts(version))

    def create(self, db: sqlite3.Connection, version: int, **placeholders: str) -> None:
        """Create the tables of a version in a new file."""
        _run_scripts(db, self._list_scripts(version), version, placeholders)

    def _list_scripts(self, version: int) -> tuple[str, ...]:
        """The scripts that make a new file of a version."""
        if version == self.source.latest:
            return (self.source.render(Dialect.SQLITE),)
        chain = self.source.load_chain(Dialect.SQLITE)
        return tuple(chain[number] for number in range(1, version + 1))

    def check_version(self, db: sqlite3.Connection, name: str) -> int:
        """The version of the schema, 0 for a new file. `name`: of the file in messages.

        Raises EarlySchema, NewerSchema, and CorruptLedger if there are tables without a version, or none of ours.
        """
        [[version]] = db.execute("PRAGMA user_version")
        if has_table(db, self.early_marker):
            raise EarlySchema(f"The {name} was written by an early version of Threadlore.")
        if version > 0 and not has_table(db, self.marker):
            raise CorruptLedger(f"The {name} is damaged: it lacks its tables.")
        if version > self.source.latest:
            raise NewerSchema(f"The {name} has schema {version}; this program knows up to {self.source.latest}.")
        if version < 0 or (version == 0 and has_table(db, self.marker)):
            raise CorruptLedger(f"The {name} is damaged: it has tables, but no version.")
        return int(version)


def _run_scripts(db: sqlite3.Connection, scripts: Sequence[str], version: int, placeholders: Mapping[str, str]) -> None:
    """Run scripts in one transaction, after which the file has this version."""
    sql = Template("\n".join(scripts)).safe_substitute(placeholders)
    db.executescript(f"BEGIN;\n{sql}\nPRAGMA user_version = {version};\nCOMMIT;")


@lru_cache
def _build_structure(scripts: tuple[str, ...]) -> Structure:
    with closing(sqlite3.connect(":memory:")) as db:
        _run_scripts(db, scripts, len(scripts), {"tokenizer": "unicode61"})
        return read_structure(db)


def has_table(db: sqlite3.Connection, name: str) -> bool:
    """Whether the database contains a table."""
    sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
    return db.execute(sql, (name,)).fetchone() is not None


@dataclass(frozen=True, slots=True)
class Structure:
    """The columns of each table, and each index: its table, whether it is unique, its columns, and its statement."""

    tables: Mapping[str, Mapping[str, Column]]
    indexes: Mapping[str, tuple[tuple[Any, ...], str]]
    triggers: frozenset[str]


def read_structure(db: sqlite3.Connection) -> Structure:
    """The structure of an open database."""
    tables = {
        name: {row[1]: (row[2].upper(), *row[3:]) for row in db.execute(f'PRAGMA table_xinfo("{_quote(name)}")')}
        for name, _ in db.execute(LIST_OBJECTS, ("table",)).fetchall()
    }
    indexes = {}
    for table in tables:
        for _, name, unique, _, partial in db.execute(f'PRAGMA index_list("{_quote(table)}")').fetchall():
            columns = [row[1:5] for row in db.execute(f'PRAGMA index_xinfo("{_quote(name)}")') if row[5]]
            indexes[name] = (table, unique, partial, *columns)
    statements = dict(db.execute(LIST_OBJECTS, ("index",)).fetchall())
    triggers = frozenset(name for name, _ in db.execute(LIST_OBJECTS, ("trigger",)).fetchall())
    return Structure(tables, {name: (found, statements.get(name, "")) for name, found in indexes.items()}, triggers)


def list_differences(expected: Structure, found: Structure) -> list[str]:
    """How a database differs from what the program needs, in words; without indexes that can be created again."""
    differences = list_table_differences(expected.tables, found.tables)
    differences += [f"the trigger {name} is missing" for name in sorted(expected.triggers - found.triggers)]
    differences += [f"there is an unknown trigger {name}" for name in sorted(found.triggers - expected.triggers)]
    for name, (index, statement) in expected.indexes.items():
        if not statement and found.indexes.get(name, ((), ""))[0] != index:
            differences.append(f"the table {index[0]} lacks a key")
    return differences


def list_table_differences(
    expected: Mapping[str, Mapping[str, Column]], found: Mapping[str, Mapping[str, Column]]
) -> list[str]:
    """How the columns of these tables differ, in words."""
    differences = []
    for table, columns in expected.items():
        has = found.get(table)
        if has is None:
            differences.append(f"the table {table} is missing")
        else:
            differences += [f"the table {table} lacks the column {name}" for name in columns if name not in has]
            differences += [
                f"the column {name} of {table} is another one"
                for name, column in columns.items()
                if name in has and has[name] != column
            ]
            differences += [f"the table {table} has the unknown column {name}" for name in has if name not in columns]
    return differences


def list_repairs(expected: Structure, found: Structure) -> list[str]:
    """The statements that create missing indexes, and other ones in the place of those that differ."""
    statements = list[str]()
    for name, (index, statement) in expected.indexes.items():
        if statement and found.indexes.get(name, ((), ""))[0] != index:
            statements += [f'DROP INDEX IF EXISTS "{_quote(name)}"', statement]
    return statements


def _quote(name: str) -> str:
    return name.replace('"', '""')
