"""Schemas in SQLite files: the version of a file, how a new one is made, and how one of a former version is updated."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from string import Template
from typing import TYPE_CHECKING

from engine.errors import CorruptLedger, EarlySchema, NewerSchema, SchemaMismatch
from engine.storage.sql.connection import Dialect
from engine.storage.sqlite.structure import list_differences, list_repairs, read_structure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from engine.storage.sql.schema_source import SchemaSource
    from engine.storage.sqlite.structure import Structure

MAX_SHOWN = 5  # differences in a message


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
