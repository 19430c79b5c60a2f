"""Schemas in PostgreSQL: a namespace with the tables of one package, and the number of its version.

`schema.sql` of the package is version 1; scripts in its folder `migrations` lead to the later versions. One process
migrates while others wait.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

import psycopg
from psycopg import sql

from engine.errors import NewerSchema
from engine.storage.sql.scripts import load_numbered_scripts

if TYPE_CHECKING:
    from engine.storage.postgres.connection import Raw


@dataclass(frozen=True, slots=True)
class PostgresSchema:
    """The tables of a package. `label`: how messages call them; `name`: of the namespace."""

    package: str
    label: str
    name: str

    def load_scripts(self) -> list[str]:
        """The scripts in order; each changes the schema from the version before it to its own number."""
        folder = files(self.package)
        return [(folder / "schema.sql").read_text(), *load_numbered_scripts(folder / "migrations")]

    def _fill(self, script: str, placeholders: dict[str, str]) -> bytes:
        """A script with its placeholders; `$schema` is the namespace."""
        return Template(script).safe_substitute(placeholders, schema=self.name).encode()

    def migrate(self, connection: Raw, **placeholders: str) -> None:
        """Create the tables, or bring them up to date. Raises NewerSchema."""
        scripts = self.load_scripts()
        # Under a lock, too, the server may not have noticed yet that another process created it.
        with suppress(psycopg.errors.UniqueViolation), connection.transaction():
            connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(self.name)))
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(hashtext($1))", (f"migrate {self.name}",))
            connection.execute("SELECT set_config('search_path', $1 || ', public', true)", (self.name,))
            connection.execute("CREATE TABLE IF NOT EXISTS schema_version (number integer NOT NULL)")
            [[version]] = connection.execute("SELECT COALESCE(MAX(number), 0) FROM schema_version").fetchall()
            if version > len(scripts):
                raise NewerSchema(
                    f"The {self.label} in the database has schema {version}; this program knows up to {len(scripts)}."
                )
            for number, script in enumerate(scripts[version:], version + 1):
                connection.execute(self._fill(script, placeholders))
                connection.execute("INSERT INTO schema_version VALUES ($1)", (number,))


PROCESS_SCHEMA = PostgresSchema("engine.storage.postgres", "list of processes", "threadlore_process")
