from __future__ import annotations

import sqlite3
from contextlib import closing
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

import pytest

from engine.errors import NewerSchema
from engine.storage.ledger.database import load_migrations
from engine.storage.sqlite import integrity

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SCHEMAS = {
    "ledger": [Template(script).safe_substitute(tokenizer="trigram") for script in load_migrations()],
    "bot": [(files("bot.store") / "schema.sql").read_text()],
}
VALUES = {"INTEGER": 1, "REAL": 1.5, "TEXT": "x", "BLOB": b"\1", "ANY": 1, "": 1}


def made(path: Path, schema: Sequence[str]) -> Path:
    """A database with one row in every table."""
    with closing(sqlite3.connect(path)) as database:
        for script in schema:
            database.executescript(script)
        tables = database.execute("SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE TABLE%'").fetchall()
        for (table,) in tables:
            if "_words" not in table and not table.startswith("sqlite_"):
                kinds = [row[2] for row in database.execute(f"PRAGMA table_info({table})")]
                marks = ", ".join("?" * len(kinds))
                database.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", [VALUES[kind] for kind in kinds])
        database.commit()
    return path


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_whole_database_with_a_row_in_every_table_is_taken(tmp_path: Path, name: str) -> None:
    path = made(tmp_path / "x.db", SCHEMAS[name])
    integrity.check_file(path, {"ledger": "document", "bot": "event"}[name], 9)
    with closing(sqlite3.connect(path)) as database:
        layouts = [row[0] for row in database.execute("SELECT sql FROM sqlite_schema WHERE sql LIKE '%WITHOUT ROWID%'")]
    assert len(layouts) > 9


def test_everything_that_is_wrong_is_told(tmp_path: Path) -> None:
    path = made(tmp_path / "x.db", SCHEMAS["ledger"])
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "PRAGMA writable_schema = ON;"
            "UPDATE sqlite_schema SET sql = replace(sql, 'label    TEXT', 'label    TEXT CHECK (label <> ''x'')')"
            " WHERE name = 'passage';"
            "UPDATE sqlite_schema SET sql = replace(sql, 'title      TEXT', 'title      TEXT CHECK (title <> ''x'')')"
            " WHERE name = 'document';"
        )
    with pytest.raises(sqlite3.DatabaseError, match=r"document.*; .*passage|passage.*; .*document"):
        integrity.check_file(path, "document", 9)


def test_a_database_of_a_later_version_or_of_another_program_is_refused(tmp_path: Path) -> None:
    path = made(tmp_path / "x.db", SCHEMAS["bot"])
    with pytest.raises(sqlite3.DatabaseError, match="no table document"):
        integrity.check_file(path, "document", 9)
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 10")
    with pytest.raises(NewerSchema):
        integrity.check_file(path, "event", 9)
