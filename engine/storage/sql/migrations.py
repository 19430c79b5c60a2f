"""Migrations: steps from one version of a schema to the next, written once for both databases.

    Migration(
        add_column("answer", Column("mood", TEXT, default="")),
        run(sqlite="UPDATE …", postgres="UPDATE …"),
        online="an older process never sets the column.",
    )

The source of the tables gets the same column. A test compares what migrations make with what a new database has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.sql.schema import DialectText, in_each_dialect

if TYPE_CHECKING:
    from engine.storage.sql.connection import Dialect
    from engine.storage.sql.schema import Column, Index, Table

ONLINE = "-- online:"  # the first words of a script during which processes of the former version go on


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
