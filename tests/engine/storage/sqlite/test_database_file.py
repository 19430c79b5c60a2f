from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bot.store.sqlite_file import SCHEMA as BOT
from engine.errors import EarlySchema, NewerSchema
from engine.storage.ledger.database import SCHEMA as LEDGER
from engine.storage.ledger.full_text import fts5
from engine.storage.sqlite import database_file
from engine.storage.sqlite.schema import Schema

SCHEMAS = {"ledger": LEDGER, "bot": BOT}
VALUES = {"INTEGER": 1, "REAL": 1.5, "TEXT": "x", "BLOB": b"\1", "ANY": 1, "": 1}


def made(path: Path, schema: Schema) -> Path:
    """A database with one row in every table."""
    with closing(sqlite3.connect(path)) as database:
        schema.migrate(database, path, tokenizer="trigram")
        if schema is SCHEMAS["ledger"]:
            fts5.register_search_text(database)
        tables = database.execute("SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE TABLE%'").fetchall()
        for (table,) in tables:
            if "_fts" not in table and not table.startswith("sqlite_"):
                kinds = [row[2] for row in database.execute(f"PRAGMA table_info({table})")]
                marks = ", ".join("?" * len(kinds))
                database.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", [VALUES[kind] for kind in kinds])
        database.commit()
    return path


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_whole_database_with_a_row_in_every_table_is_taken(tmp_path: Path, name: str) -> None:
    path = made(tmp_path / "x.db", SCHEMAS[name])
    database_file.check_file(path, SCHEMAS[name])
    with closing(sqlite3.connect(path)) as database:
        layouts = [row[0] for row in database.execute("SELECT sql FROM sqlite_schema WHERE sql LIKE '%WITHOUT ROWID%'")]
    assert len(layouts) > 9


def test_everything_that_is_wrong_is_told(tmp_path: Path) -> None:
    path = made(tmp_path / "x.db", SCHEMAS["ledger"])
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "PRAGMA writable_schema = ON;"
            "UPDATE sqlite_schema SET sql = replace(sql, 'label TEXT', 'label TEXT CHECK (label <> ''x'')')"
            " WHERE name = 'passage';"
            "UPDATE sqlite_schema SET sql = replace(sql, 'kind TEXT', 'kind TEXT CHECK (kind <> ''x'')')"
            " WHERE name = 'document';"
        )
    with pytest.raises(sqlite3.DatabaseError, match=r"document.*; .*passage|passage.*; .*document"):
        database_file.check_file(path, LEDGER)


def test_a_database_of_another_program_or_version_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "x.db")) as database:
        database.execute("CREATE TABLE other (n)")
    with pytest.raises(sqlite3.DatabaseError, match="no table event"):
        database_file.check_file(tmp_path / "x.db", BOT)
    for change, error in (("PRAGMA user_version = 1000", NewerSchema), ("CREATE TABLE inbox (n)", EarlySchema)):
        with closing(sqlite3.connect(made(tmp_path / f"{error}.db", BOT))) as database:
            database.execute(change)
        with pytest.raises(error):
            database_file.check_file(tmp_path / f"{error}.db", BOT)
