"""Schemas: `schema.sql` of a package is version 1; scripts in its folder `migrations` lead to the later versions."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from engine.errors import CorruptLedger, EarlySchema, NewerSchema
from engine.storage.sql.scripts import load_numbered_scripts

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path


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
        folder = files(self.package)
        return [(folder / "schema.sql").read_text(), *load_numbered_scripts(folder / "migrations")]

    def migrate(self, db: sqlite3.Connection, path: Path, **placeholders: str) -> None:
        """Create the tables of a new file, or bring the schema up to date. Raises EarlySchema and NewerSchema."""
        scripts = self.load_scripts()
        version = self.check_version(db, f"{self.label} {path}", len(scripts))
        for number, script in enumerate(scripts[version:], version + 1):
            sql = Template(script).safe_substitute(placeholders)
            db.executescript(f"BEGIN;\n{sql}\nPRAGMA user_version = {number};\nCOMMIT;")

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


def has_table(db: sqlite3.Connection, name: str) -> bool:
    """Whether the database contains a table."""
    sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
    return db.execute(sql, (name,)).fetchone() is not None
