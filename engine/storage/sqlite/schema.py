"""Schemas: the scripts in `frozen/sqlite` of a package make its tables, each those of the version of its number."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from engine.errors import CorruptLedger, EarlySchema, NewerSchema, SchemaMismatch
from engine.storage.sql.scripts import load_numbered_scripts
from engine.storage.sqlite.structure import list_differences, list_repairs, read_structure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from engine.storage.sqlite.structure import Structure

MAX_SHOWN = 5  # differences in a message


@dataclass(frozen=True, slots=True)
class Schema:
    """The schema of a database, in a package.

    `label`: how messages call the database. `marker`: a table of every version. `early_marker`: a table that only files
    of before version 1 have.
    """

    package: str
    label: str
    marker: str
    early_marker: str

    def load_scripts(self) -> list[str]:
        """The scripts in order; each changes the schema from the version before it to its own number."""
        return load_numbered_scripts(files(self.package) / "frozen" / "sqlite")

    def migrate(self, db: sqlite3.Connection, path: Path, **placeholders: str) -> None:
        """Create the tables of a new file, or bring the schema up to date.

        Raises EarlySchema, NewerSchema, and SchemaMismatch if the tables are not those that this program would create.
        """
        scripts = self.load_scripts()
        version = self.check_version(db, f"{self.label} {path}", len(scripts))
        if version:
            self.check_structure(db, f"{self.label} {path}", version)
        _run_scripts(db, scripts[version:], version, placeholders)

    def check_structure(self, db: sqlite3.Connection, name: str, version: int) -> None:
        """Compare tables, columns and triggers with those of a version; create indexes that are missing or different.

        `name`: of the file in messages. Raises SchemaMismatch.
        """
        expected, found = expected_structure(tuple(self.load_scripts()[:version])), read_structure(db)
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

    def create(self, db: sqlite3.Connection, version: int, **placeholders: str) -> None:
        """Create the tables of a former version in a new file."""
        _run_scripts(db, self.load_scripts()[:version], 0, placeholders)

    def check_version(self, db: sqlite3.Connection, name: str, latest: int) -> int:
        """The version of the schema, 0 for a new file. `name`: of the file in messages.

        Raises EarlySchema, NewerSchema, and CorruptLedger if there are tables without a version, or none of ours.
        """
        [[version]] = db.execute("PRAGMA user_version")
        if has_table(db, self.early_marker):
            raise EarlySchema(f"The {name} was written by an early version of Threadlore.")
        if version > 0 and not has_table(db, self.marker):
            raise CorruptLedger(f"The {name} is damaged: it lacks its tables.")
        if version > latest:
            raise NewerSchema(f"The {name} has schema {version}; this program knows up to {latest}.")
        if version < 0 or (version == 0 and has_table(db, self.marker)):
            raise CorruptLedger(f"The {name} is damaged: it has tables, but no version.")
        return int(version)


def _run_scripts(db: sqlite3.Connection, scripts: Sequence[str], version: int, placeholders: Mapping[str, str]) -> None:
    for number, script in enumerate(scripts, version + 1):
        sql = Template(script).safe_substitute(placeholders)
        db.executescript(f"BEGIN;\n{sql}\nPRAGMA user_version = {number};\nCOMMIT;")


@lru_cache
def expected_structure(scripts: tuple[str, ...]) -> Structure:
    """What the scripts create; takes 20 ms."""
    with closing(sqlite3.connect(":memory:")) as db:
        _run_scripts(db, scripts, 0, {"tokenizer": "unicode61"})
        return read_structure(db)


def has_table(db: sqlite3.Connection, name: str) -> bool:
    """Whether the database contains a table."""
    sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
    return db.execute(sql, (name,)).fetchone() is not None
