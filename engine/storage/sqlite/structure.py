"""The structure of a SQLite database: tables with their columns, indexes and triggers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

LIST_OBJECTS = (
    "SELECT name, COALESCE(sql, '') FROM sqlite_schema WHERE type = ? AND name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\'"
    " ORDER BY rowid"
)
Column = tuple[Any, ...]  # type, whether it may be NULL, default, place in the primary key, how it is computed


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
