"""A kill in an update of a file leaves a whole version, from which the next start goes on without a difference."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from bot.store.sqlite_file import SCHEMA as BOT
from engine.storage.ledger.database import SCHEMA as LEDGER
from engine.storage.ledger.full_text import fts5
from engine.storage.sql.connection import Dialect
from engine.storage.sqlite.schema import Schema
from tests.support.kills import KILLED, NEVER, run_until_killed

VALUES = {"INTEGER": 1, "REAL": 1.5, "BLOB": b"x"}
SCHEMAS = pytest.mark.parametrize("of", [BOT, LEDGER], ids=["bot", "ledger"])


def make_old(of: Schema, path: Path, version: int) -> None:
    """A file of a former version with a row in every table that takes one of its own."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        of.create(db, version, tokenizer="unicode61")
        if of is LEDGER:
            fts5.register_search_text(db)
        tables = db.execute("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'").fetchall()
        for (table,) in tables:
            if not table.startswith("sqlite_"):
                columns = db.execute(f"SELECT name, type FROM pragma_table_info('{table}')").fetchall()
                places = ", ".join("?" * len(columns))
                values = [VALUES.get(kind, "x") for _, kind in columns]
                names = ", ".join(f'"{name}"' for name, _ in columns)
                db.execute(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({places})", values)
        db.commit()


def upgrade(of: Schema, path: Path, watch: Callable[[sqlite3.Connection], object] = lambda _: None) -> None:
    with closing(sqlite3.connect(path)) as db:
        watch(db)
        of.migrate(db, path, tokenizer="unicode61")


def read_all(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as db:
        return sorted(db.iterdump())


def read_version(of: Schema, path: Path) -> int:
    """The version of a file, all of whose tables are of that version."""
    with closing(sqlite3.connect(path)) as db:
        version = of.check_version(db, "file")
        of.check_structure(db, "file", version)
    return version


def kill_after(ticks: int, interval: int, db: sqlite3.Connection) -> None:
    """End this process after a number of intervals, each of some instructions of SQLite's machine."""
    left = ticks

    def count() -> int:
        nonlocal left
        if not left:
            os._exit(KILLED)
        left -= 1
        return 0

    db.set_progress_handler(count, interval)


def check_kills(of: Schema, home: Path, version: int, interval: int) -> list[int]:
    """Kill an update at every step; returns the versions that were found after the kills."""
    old, path = home / "old.db", home / "x.db"
    make_old(of, old, version)
    shutil.copy(old, path)
    upgrade(of, path)
    expected, found = read_all(path), list[int]()
    while True:
        for each in home.glob("x.db*"):
            each.unlink()
        shutil.copy(old, path)
        if not run_until_killed(partial(upgrade, of, path, partial(kill_after, len(found), interval)), NEVER):
            return found
        found.append(read_version(of, path))
        upgrade(of, path)
        assert read_all(path) == expected


@pytest.mark.long
def test_a_kill_in_the_last_update_leaves_the_version_before_or_the_new_one(tmp_path: Path) -> None:
    latest = BOT.source.latest
    found = check_kills(BOT, tmp_path, latest - 1, 400)
    assert found == sorted(found)
    assert set(found) <= {latest - 1, latest}
    assert len(found) > 1


@pytest.mark.long
@SCHEMAS
def test_a_kill_at_each_step_of_all_updates_leaves_a_whole_version(of: Schema, tmp_path: Path) -> None:
    found = check_kills(of, tmp_path, 1, 150)
    assert found == sorted(found)
    assert set(range(1, of.source.latest)) <= {*found, *list_instant_steps(of)}


def list_instant_steps(of: Schema) -> set[int]:
    """The versions that a step leaves which changes the other database alone."""
    chain = of.source.load_chain(Dialect.SQLITE)
    return {number - 1 for number, script in chain.items() if not re.sub(r"--.*", "", script).strip()}
