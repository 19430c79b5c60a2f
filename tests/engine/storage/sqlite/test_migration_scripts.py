from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from engine.storage.ledger import Ledger, database
from engine.storage.sqlite.migration_scripts import load_migration_scripts, load_numbered_scripts

if TYPE_CHECKING:
    from pathlib import Path

LATEST = len(database.load_migrations())


def schema(path: Path) -> tuple[int, list[tuple[str, ...]]]:
    """The version, and all tables, indexes and triggers as they are declared."""
    with closing(sqlite3.connect(path)) as connection:
        [(version,)] = connection.execute("PRAGMA user_version").fetchall()
        return version, connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name").fetchall()


@pytest.mark.parametrize("package", ["engine.storage.ledger"])
def test_the_scripts_of_each_package_are_numbered_without_gap_or_repetition(package: str) -> None:
    assert len(load_migration_scripts(package)) > 1


@pytest.mark.parametrize(
    ("names", "wrong"),
    [
        (("0002_a.sql", "0003_b.sql", "0003_c.sql"), "0003_c.sql"),
        (("0002_a.sql", "0004_b.sql"), "0004_b.sql"),
        (("0001_a.sql", "0002_b.sql"), "0001_a.sql"),
        (("0002_a.sql", "later.sql"), "later.sql"),
    ],
)
def test_scripts_whose_numbers_are_not_their_places_are_refused(
    tmp_path: Path, names: tuple[str, ...], wrong: str
) -> None:
    for name in names:
        (tmp_path / name).write_text("SELECT 1;")
    with pytest.raises(ValueError, match=wrong):
        load_numbered_scripts(tmp_path)


def test_scripts_are_read_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("0003_a.sql", "0002_b.sql", "__init__.py"):
        (tmp_path / name).write_text(name)
    assert load_numbered_scripts(tmp_path) == ["0002_b.sql", "0003_a.sql"]


@pytest.mark.parametrize("version", range(1, LATEST))
async def test_a_ledger_of_each_former_schema_becomes_what_a_new_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    former = database.load_migrations()[:version]
    with monkeypatch.context() as patch:
        patch.setattr(database, "load_migrations", lambda: former)
        await (await Ledger.open(tmp_path / "old.db")).close()
    assert schema(tmp_path / "old.db")[0] == version
    for name in ("old.db", "new.db"):
        await (await Ledger.open(tmp_path / name)).close()
    assert schema(tmp_path / "old.db") == schema(tmp_path / "new.db")
    assert schema(tmp_path / "new.db")[0] == LATEST
