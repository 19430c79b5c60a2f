from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.storage.journal import PENDING, READY, RECORDS, UPLOADS, Journal, create_upload, remove_unused
from tests.support.kills import run_until_killed

Names = dict[str, str]


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    (tmp_path / "home").mkdir()
    return Journal(tmp_path / "home")


def fill(folder: Path, files: Names) -> None:
    for name, text in files.items():
        (folder / name).write_text(text)


def contents(folder: Path) -> Names:
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


def files_below(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


@pytest.mark.long
@pytest.mark.parametrize("new", [{"a.db": "new a", "b.db": "new b"}, {"b.db": "new b"}])
def test_a_kill_at_any_step_of_a_replacement_leaves_what_was_or_what_shall_be(journal: Journal, new: Names) -> None:
    old = {"a.db": "old a", "a.db-wal": "log of a", "b.db": "old b", "b.db-wal": "log of b", "index": "old"}

    def replace() -> None:
        with journal.replacing(("a.db", "b.db"), ("index",)) as folder:
            fill(folder, new)

    step, seen = 0, list[Names]()
    while True:
        fill(journal.home, old)
        if not run_until_killed(replace, step):
            break
        journal.resolve()
        seen.append(contents(journal.home))
        step += 1
    assert contents(journal.home) == new
    decided = seen.index(new)
    assert seen == [old] * decided + [new] * (step - decided)
    assert 2 < decided < step
    assert not any((journal.home / name).exists() for name in (PENDING, READY))


@pytest.mark.long
def test_a_kill_of_the_start_that_finishes_a_replacement_changes_nothing(journal: Journal) -> None:
    def replace() -> None:
        with journal.replacing(("a.db",), ("index",)) as folder:
            fill(folder, {"a.db": "new"})

    def prepare() -> None:
        fill(journal.home, {"a.db": "old", "a.db-wal": "log", "index": "old"})
        kill_once(replace, (journal.home / READY).exists)

    prepare()
    step = 0
    while run_until_killed(journal.resolve, step):
        journal.resolve()
        assert contents(journal.home) == {"a.db": "new"}
        prepare()
        step += 1
    assert step > 3


def kill_once(work: Callable[[], object], is_reached: Callable[[], bool]) -> None:
    """Kill work at the first step after which something holds."""
    step = 0
    while not is_reached():
        assert run_until_killed(work, step)
        step += 1


def test_a_failed_replacement_changes_nothing(journal: Journal) -> None:
    fill(journal.home, {"a.db": "old", "index": "old"})
    with pytest.raises(FileNotFoundError), journal.replacing(("a.db",), ("index",)) as folder:
        (folder / "none" / "a.db").touch()
    assert contents(journal.home) == {"a.db": "old", "index": "old"}
    assert not (journal.home / PENDING).exists()


@pytest.mark.long
def test_copies_elsewhere_are_removed_after_a_kill_at_any_step(journal: Journal, tmp_path: Path) -> None:
    elsewhere = tmp_path / "backups"
    elsewhere.mkdir()
    fill(elsewhere, {"kept": "by others", ".threadlore-0123456789abcdef": "of another data directory"})

    def work() -> None:
        with journal.temporary(elsewhere) as folder:
            folder.mkdir()
            fill(folder, {"ledger.db": "texts"})

    step = 0
    while run_until_killed(work, step):
        journal.remove_leftovers()
        assert files_below(elsewhere) == {"kept", ".threadlore-0123456789abcdef"}
        assert not files_below(journal.home / RECORDS)
        step += 1
    assert step > 2
    assert not files_below(journal.home)


def test_what_is_in_use_is_left_alone(journal: Journal, tmp_path: Path) -> None:
    uploads = journal.home / UPLOADS
    uploads.mkdir()
    running, upload = create_upload(uploads)
    (uploads / "left").touch()
    with journal.temporary(tmp_path) as part:
        part.write_text("texts")
        journal.remove_leftovers()
        assert part.exists()
        assert list(uploads.iterdir()) == [upload]
    os.close(running)
    remove_unused(uploads)
    assert not list(uploads.iterdir())


@pytest.mark.parametrize("name", ["notes", ".threadlore-fedcba9876543210"])
def test_a_record_removes_nothing_but_what_it_was_made_for(journal: Journal, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("precious")
    record = journal.home / RECORDS / "0123456789abcdef"
    record.parent.mkdir()
    record.write_text(str(tmp_path / name))
    journal.resolve()
    assert (tmp_path / name).read_text() == "precious"


def test_what_lies_on_a_disk_that_is_away_is_removed_when_it_is_back(journal: Journal, tmp_path: Path) -> None:
    disk, path = tmp_path / "disk", tmp_path / "disk" / ".threadlore-0123456789abcdef"
    record = journal.home / RECORDS / "0123456789abcdef"
    record.parent.mkdir()
    record.write_text(str(path))
    journal.resolve()
    disk.mkdir()
    path.write_text("texts")
    journal.resolve()
    assert not list(disk.iterdir())
    assert not record.exists()


def test_a_folder_without_uploads_needs_no_cleaning(journal: Journal) -> None:
    journal.resolve()
    assert not list(journal.home.iterdir())
