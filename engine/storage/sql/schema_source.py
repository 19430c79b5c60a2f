"""Where the schemas of both databases come from: tables for a new database, steps for one of a former version.

Migrations are steps from one version of a schema to the next, written once for both databases:

    Migration(
        add_column("answer", Column("mood", TEXT, default="")),
        run(sqlite="UPDATE …", postgres="UPDATE …"),
        online="an older process never sets the column.",
    )

The source of the tables gets the same column. A test compares what migrations make with what a new database has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from engine.storage.sql.schema import DialectText, in_each_dialect

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from engine.storage.sql.connection import Dialect
    from engine.storage.sql.schema import Column, Index, Table


_CREATE_INDEX = re.compile(r"^CREATE(?: UNIQUE)? INDEX (\w+)", re.MULTILINE)
_NUMBER = re.compile(r"\d+")
ONLINE = "-- online:"  # the first words of a script during which processes of the former version go on


@dataclass(frozen=True, slots=True, eq=False)
class SchemaSource:
    """The newest version of a schema, and the way to it from each former one.

    `tables`: those of both databases, in an order in which they can be created. The files sqlite.sql and postgres.sql
    of `package` add what one database alone has, such as full text and triggers. Its folders frozen/sqlite and
    frozen/postgres hold the scripts of versions up to `frozen`, which never change; `migrations` are the later ones.
    """

    package: str
    frozen: int
    tables: tuple[Table, ...] = ()
    migrations: tuple[Migration, ...] = ()

    @property
    def latest(self) -> int:
        """The number of the newest version."""
        return self.frozen + len(self.migrations)

    def render(self, dialect: Dialect) -> str:
        """The script that makes an empty database of the newest version."""
        return _render_tables(self, dialect)

    def list_indexes(self, dialect: Dialect) -> list[str]:
        """The names of the indexes of a new database."""
        return _CREATE_INDEX.findall(self.render(dialect))

    def load_chain(self, dialect: Dialect) -> dict[int, str]:
        """The script of each version by its number: it leads there from the version before."""
        later = enumerate((migration.render(dialect) for migration in self.migrations), self.frozen + 1)
        return {**load_numbered_scripts(files(self.package) / "frozen" / dialect), **dict(later)}

    def load_updates(self, dialect: Dialect, version: int) -> list[str]:
        """The scripts that lead from a version to the newest one."""
        chain = self.load_chain(dialect) if version < self.latest else {}
        return [chain[number] for number in range(version + 1, self.latest + 1)]


@lru_cache
def _render_tables(source: SchemaSource, dialect: Dialect) -> str:
    """What `SchemaSource.render` returns; takes 2 ms the first time."""
    own = files(source.package) / f"{dialect}.sql"
    scripts = [table.render(dialect) for table in source.tables]
    return "\n\n".join([*scripts, *([own.read_text()] if own.is_file() else [])])


def load_numbered_scripts(folder: Traversable) -> dict[int, str]:
    """The SQL files of a folder by their numbers, in order.

    Raises ValueError unless their names count without a gap, from 1 or, where no script makes the first version, 2.
    """
    if not folder.is_dir():
        return {}
    scripts = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    found = dict[int, str]()
    for script in scripts:
        match = _NUMBER.match(script.name)
        number = int(match[0]) if match else 0
        if number not in ({max(found) + 1} if found else {1, 2}):
            raise ValueError(f"The migration {script.name} does not follow number {max(found, default=0):04d}.")
        found[number] = script.read_text()
    return found


class Migration:
    """Steps; `online`: why processes of the former version still work after them; else they must have ended."""

    def __init__(self, *steps: DialectText, online: str = "") -> None:
        self._steps = steps
        self._online = online

    def render(self, dialect: Dialect) -> str:
        """The script of the steps; each is an SQL statement or several."""
        head = [f"{ONLINE} {self._online}"] if self._online else []
        return "\n".join([*head, *(step.of(dialect) for step in self._steps)])


def create_table(table: Table) -> DialectText:
    """A new table with its indexes."""
    return in_each_dialect(table.render)


def add_column(table: str, column: Column) -> DialectText:
    """A new column, after the others of its table."""
    return in_each_dialect(lambda dialect: f"ALTER TABLE {table} ADD COLUMN {column.render(dialect)};")


def create_index(table: str, index: Index) -> DialectText:
    """A new index of a table."""
    return in_each_dialect(lambda dialect: index.render(table, dialect))


def run(sqlite: str = "", postgres: str = "") -> DialectText:
    """Statements of one database, or of each its own."""
    return DialectText(sqlite, postgres)
