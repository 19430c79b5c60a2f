from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from bot.store.sqlite_file import SCHEMA as BOT
from engine.errors import CorruptLedger, EarlySchema, NewerSchema, SchemaMismatch
from engine.storage.ledger.database import SCHEMA as LEDGER
from engine.storage.sql.schema_source import Migration, run
from engine.storage.sqlite import schema
from engine.storage.sqlite.schema import read_structure


def test_migrations_are_applied_once_in_order_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    create = Migration(run(sqlite="CREATE TABLE step (n); INSERT INTO step VALUES (2);"))
    change = Migration(run(sqlite="UPDATE step SET n = n + 1;"))
    broken = Migration(run(sqlite="CREATE TABLE half (n); INSERT INTO nowhere VALUES (1);"))
    with closing(sqlite3.connect(path)) as db:
        BOT.migrate(db, path)
        of_today, known = BOT.source.latest, BOT.source.migrations
        for _ in range(2):
            replace(BOT, source=replace(BOT.source, migrations=(*known, create, change))).migrate(db, path)
        assert db.execute("SELECT n FROM step").fetchall() == [(3,)]
        with pytest.raises(sqlite3.OperationalError):
            replace(BOT, source=replace(BOT.source, migrations=(*known, create, change, broken))).migrate(db, path)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (of_today + 2,)
        assert not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'half'").fetchall()


@pytest.mark.parametrize(
    ("version", "error"),
    [(1, EarlySchema), (12, EarlySchema), (99, NewerSchema), (0, CorruptLedger), (-5, CorruptLedger)],
)
@pytest.mark.parametrize("of", [BOT, LEDGER], ids=["bot", "ledger"])
def test_a_file_of_another_version_is_refused_with_a_way_out(
    tmp_path: Path, of: schema.Schema, version: int, error: type[CorruptLedger | NewerSchema | EarlySchema]
) -> None:
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"CREATE TABLE {of.early_marker if error is EarlySchema else of.marker} (n)")
        db.execute(f"PRAGMA user_version = {version}")
        with pytest.raises(error, match=f"The {of.label} {path} ") as caught:
            of.migrate(db, path)
    assert caught.value.hint


@pytest.mark.parametrize("of", [BOT, LEDGER], ids=["bot", "ledger"])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("ALTER TABLE {marker} DROP COLUMN {column}", "lacks the column {column}"),
        ("ALTER TABLE {marker} ADD COLUMN mood TEXT", "has the unknown column mood"),
        ("DROP TABLE {other}", "the table {other} is missing"),
        ("CREATE TRIGGER spy AFTER INSERT ON {marker} BEGIN SELECT 1; END", "there is an unknown trigger spy"),
    ],
)
def test_tables_that_another_program_made_are_named(tmp_path: Path, of: schema.Schema, change: str, words: str) -> None:
    names = {"marker": of.marker, "column": "error", "other": "usage" if of is LEDGER else "daily_usage"}
    with closing(sqlite3.connect(tmp_path / "x.db")) as db:
        of.migrate(db, tmp_path / "x.db", tokenizer="trigram")
        of.migrate(db, tmp_path / "x.db", tokenizer="trigram")
        db.execute(change.format(**names))
        with pytest.raises(SchemaMismatch, match=words.format(**names)) as caught:
            of.migrate(db, tmp_path / "x.db")
    assert "new data directory" in caught.value.hint


def test_tables_of_a_former_version_are_compared_before_they_change(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "x.db")) as db:
        LEDGER.create(db, 2, tokenizer="unicode61")
        db.execute("DROP INDEX document_title")
        db.execute("ALTER TABLE document DROP COLUMN title_key")
        with pytest.raises(SchemaMismatch, match="the table document lacks the column title_key"):
            LEDGER.migrate(db, tmp_path / "x.db")
        assert db.execute("PRAGMA user_version").fetchone() == (2,)


@pytest.mark.parametrize("change", ["DROP INDEX name_spelling_key", "DROP INDEX name_spelling_key; {other}"])
def test_an_index_that_is_missing_or_another_one_is_created_again(tmp_path: Path, change: str) -> None:
    with closing(sqlite3.connect(tmp_path / "x.db")) as db:
        LEDGER.migrate(db, tmp_path / "x.db", tokenizer="unicode61")
        before = read_structure(db)
        db.executescript(change.format(other="CREATE INDEX name_spelling_key ON name (canonical)"))
        LEDGER.migrate(db, tmp_path / "x.db")
        assert read_structure(db) == before
