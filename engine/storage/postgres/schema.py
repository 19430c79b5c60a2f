"""Schemas in PostgreSQL: a namespace with the tables of one package, and the number of its version.

One process migrates while others wait. Processes of the former version go on during scripts whose first line starts
with `-- online:`, and says why their statements still work. Any other script waits until these processes have ended.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from string import Template
from typing import TYPE_CHECKING

import psycopg
from psycopg import sql

from engine.errors import DatabaseInUse, NewerSchema, SchemaMismatch
from engine.storage.postgres.process_statements import PROCESS_CLASS
from engine.storage.sql.connection import Dialect
from engine.storage.sql.schema_source import ONLINE, SchemaSource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.storage.postgres.connection import Raw


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
INSERT_USE = "INSERT INTO threadlore_process.schema_use VALUES ($1, $2) ON CONFLICT DO NOTHING"


@dataclass(frozen=True, slots=True)
class PostgresSchema:
    """The tables of a source. `label`: how messages call them; `name`: of the namespace."""

    source: SchemaSource
    label: str
    name: str

    def _run_script(self, connection: Raw, script: str, version: int, placeholders: Mapping[str, str]) -> None:
        """Run a script, after which the tables have this version; `$schema` in it is the namespace."""
        filled = Template(script).safe_substitute(placeholders, schema=self.name)
        try:
            connection.execute(filled.encode())
        except psycopg.errors.LockNotAvailable as error:
            raise DatabaseInUse(f"The {self.label} is too busy to be updated.") from error
        connection.execute("INSERT INTO schema_version VALUES ($1)", (version,))

    def migrate(self, connection: Raw, process: int | None = None, **placeholders: str) -> None:
        """Create the tables, or bring them up to date, for this process of the registry or for a command.

        Raises NewerSchema, DatabaseInUse as long as others use tables that a script would change under them, and
        SchemaMismatch if the tables are not those that this program would create.
        """
        if _is_read_only(connection) and self._is_current(connection):
            self._check_structure(connection)
            return
        # Under a lock, too, the server may not have noticed yet that another process created it.
        with suppress(psycopg.errors.UniqueViolation), connection.transaction():
            connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(self.name)))
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(hashtext($1))", (f"migrate {self.name}",))
            connection.execute("SELECT set_config('search_path', $1 || ', public', true)", (self.name,))
            connection.execute("CREATE TABLE IF NOT EXISTS schema_version (number integer NOT NULL)")
            [[version]] = connection.execute("SELECT COALESCE(MAX(number), 0) FROM schema_version").fetchall()
            if version:
                self._update(connection, version, process, placeholders)
            else:
                self._run_script(connection, self.source.render(Dialect.POSTGRES), self.source.latest, placeholders)
            self._check_structure(connection)
            if process is not None:
                connection.execute(INSERT_USE, (process, self.name))

    def _update(self, connection: Raw, version: int, process: int | None, placeholders: Mapping[str, str]) -> None:
        if version > self.source.latest:
            known = f"this program knows up to {self.source.latest}"
            raise NewerSchema(f"The {self.label} in the database has schema {version}; {known}.")
        scripts = self.source.load_updates(Dialect.POSTGRES, version)
        self._prepare_update(connection, scripts, process)
        for number, script in enumerate(scripts, version + 1):
            self._run_script(connection, script, number, placeholders)

    def _is_current(self, connection: Raw) -> bool:
        """Whether the tables are there, as this program knows them."""
        table = f"{self.name}.schema_version"
        if connection.execute("SELECT to_regclass($1)", (table,)).fetchone() == (None,):
            return False
        found = connection.execute(
            sql.SQL("SELECT MAX(number) FROM {}").format(sql.Identifier(self.name, "schema_version"))
        )
        return found.fetchone() == (self.source.latest,)

    def _check_structure(self, connection: Raw) -> None:
        found = {(table, column) for table, column in connection.execute(LIST_COLUMNS, (self.name,)).fetchall()}
        indexes = {name for (name,) in connection.execute(LIST_INDEXES, (self.name,)).fetchall()}
        differences = [
            f"the table {table.name} lacks the column {column.name}"
            for table in self.source.tables
            for column in table.columns
            if (table.name, column.name) not in found
        ]
        needed = self.source.list_indexes(Dialect.POSTGRES)
        differences += [f"the index {name} is missing" for name in needed if name not in indexes]
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


PROCESS_SCHEMA = PostgresSchema(
    SchemaSource("engine.storage.postgres", frozen=4), "list of processes", "threadlore_process"
)
