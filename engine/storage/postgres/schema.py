"""Schemas in PostgreSQL: a namespace with the tables of one package, and the number of its version.

The scripts in `frozen/postgres` of the package make them, each those of the version of its number. One process migrates
while others wait. Processes of the former version go on during scripts whose first line starts with
`-- online:`, and says why their statements still work. Any other script waits until these processes have ended.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

import psycopg
from psycopg import sql

from engine.errors import DatabaseInUse, NewerSchema, SchemaMismatch
from engine.storage.postgres.process_statements import PROCESS_CLASS
from engine.storage.sql.scripts import load_numbered_scripts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engine.storage.postgres.connection import Raw


ONLINE = "-- online:"
# A script that waits for a lock makes all later statements of others wait, too; and several processes may try again and
# again, while a backup, for example, reads the table.
LIMIT_LOCK_WAIT = "SELECT set_config('lock_timeout', '500ms', true)"
# Who can lock the number of a process knows that it has ended; perhaps nobody is there to remove its row.
FIND_OTHER_USER = (
    "SELECT 1 FROM threadlore_process.schema_use WHERE schema_name = $1 AND process IS DISTINCT FROM $2"
    " AND NOT pg_try_advisory_xact_lock($3::integer, process) LIMIT 1"
)
LIST_COLUMNS = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = $1"
LIST_INDEXES = "SELECT indexname FROM pg_indexes WHERE schemaname = $1"
MAX_SHOWN = 5  # differences in a message
INDEX_STATEMENT = re.compile(r"^(CREATE|DROP)(?: UNIQUE)? INDEX (\w+)", re.MULTILINE)
INSERT_USE = "INSERT INTO threadlore_process.schema_use VALUES ($1, $2) ON CONFLICT DO NOTHING"


@dataclass(frozen=True, slots=True)
class PostgresSchema:
    """The tables of a package. `label`: how messages call them; `name`: of the namespace.

    `list_tables`: the columns that each table has, at least.
    """

    package: str
    label: str
    name: str
    list_tables: Callable[[], Mapping[str, Sequence[str]]] = dict

    def load_scripts(self) -> list[str]:
        """The scripts in order; each changes the schema from the version before it to its own number."""
        return load_numbered_scripts(files(self.package) / "frozen" / "postgres")

    def _fill(self, script: str, placeholders: dict[str, str]) -> bytes:
        """A script with its placeholders; `$schema` is the namespace."""
        return Template(script).safe_substitute(placeholders, schema=self.name).encode()

    def migrate(self, connection: Raw, process: int | None = None, **placeholders: str) -> None:
        """Create the tables, or bring them up to date, for this process of the registry or for a command.

        Raises NewerSchema, DatabaseInUse as long as others use tables that a script would change under them, and
        SchemaMismatch if the tables are not those that the scripts would create.
        """
        scripts = self.load_scripts()
        if _is_read_only(connection) and self._is_current(connection, len(scripts)):
            self._check_structure(connection, scripts)
            return
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
            if version > 0:
                self._prepare_update(connection, scripts[version:], process)
            for number, script in enumerate(scripts[version:], version + 1):
                try:
                    connection.execute(self._fill(script, placeholders))
                except psycopg.errors.LockNotAvailable as error:
                    raise DatabaseInUse(f"The {self.label} is too busy to be updated.") from error
                connection.execute("INSERT INTO schema_version VALUES ($1)", (number,))
            self._check_structure(connection, scripts)
            if process is not None:
                connection.execute(INSERT_USE, (process, self.name))

    def _is_current(self, connection: Raw, number: int) -> bool:
        """Whether the tables are there, as this program knows them."""
        table = f"{self.name}.schema_version"
        if connection.execute("SELECT to_regclass($1)", (table,)).fetchone() == (None,):
            return False
        found = connection.execute(
            sql.SQL("SELECT MAX(number) FROM {}").format(sql.Identifier(self.name, "schema_version"))
        )
        return found.fetchone() == (number,)

    def _check_structure(self, connection: Raw, scripts: Sequence[str]) -> None:
        found = {(table, column) for table, column in connection.execute(LIST_COLUMNS, (self.name,)).fetchall()}
        indexes = {name for (name,) in connection.execute(LIST_INDEXES, (self.name,)).fetchall()}
        differences = [
            f"the table {table} lacks the column {column}"
            for table, columns in self.list_tables().items()
            for column in columns
            if (table, column) not in found
        ] + [f"the index {name} is missing" for name in list_indexes(scripts) if name not in indexes]
        if differences:
            raise SchemaMismatch(
                f"The {self.label} in the database does not fit: {'; '.join(differences[:MAX_SHOWN])}."
            )

    def _prepare_update(self, connection: Raw, scripts: Sequence[str], process: int | None) -> None:
        """Raise DatabaseInUse if a script needs that nobody uses the tables, and somebody does."""
        if not scripts:
            return
        connection.execute(LIMIT_LOCK_WAIT)
        if all(script.startswith(ONLINE) for script in scripts):
            return
        if connection.execute(FIND_OTHER_USER, (self.name, process, PROCESS_CLASS)).fetchone():
            raise DatabaseInUse(f"The {self.label} is updated once the processes of the former version have ended.")


def _is_read_only(connection: Raw) -> bool:
    """Whether the server takes no changes on this connection."""
    return connection.execute("SHOW transaction_read_only").fetchone() == ("on",)


def list_indexes(scripts: Sequence[str]) -> list[str]:
    """The names of the indexes that there are after these scripts."""
    created = dict[str, None]()
    for verb, name in INDEX_STATEMENT.findall("\n".join(scripts)):
        if verb == "CREATE":
            created[name] = None
        else:
            created.pop(name, None)
    return list(created)


PROCESS_SCHEMA = PostgresSchema("engine.storage.postgres", "list of processes", "threadlore_process")
