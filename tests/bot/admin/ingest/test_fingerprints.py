from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from bot.admin.ingest.fingerprints import Stamps

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.md"
    path.write_text("Tea.")
    return path


def test_a_file_is_unchanged_once_it_was_written_down(tmp_path: Path, file: Path) -> None:
    stamps = Stamps(tmp_path / "filed")
    stamp = stamps.stamp(file)
    assert not stamps.unchanged("a", stamp)
    stamps.note("a", stamp)
    assert Stamps(tmp_path / "filed").unchanged("a", stamps.stamp(file))
    assert not stamps.unchanged("b", stamp)


def test_a_file_with_another_time_or_size_is_changed(tmp_path: Path, file: Path) -> None:
    stamps = Stamps(tmp_path / "filed")
    stamps.note("a", stamps.stamp(file))
    os.utime(file, ns=(1, 1))
    assert not stamps.unchanged("a", stamps.stamp(file))


def test_the_last_word_counts(tmp_path: Path, file: Path) -> None:
    stamps = Stamps(tmp_path / "filed")
    before = stamps.stamp(file)
    stamps.note("a", before)
    file.write_text("Coffee.")
    stamps.note("a", stamps.stamp(file))
    assert not Stamps(tmp_path / "filed").unchanged("a", before)


def test_no_name_of_a_file_is_kept(tmp_path: Path, file: Path) -> None:
    Stamps(tmp_path / "filed").note(f"file:{file}", Stamps.stamp(file))
    assert "a.md" not in (tmp_path / "filed").read_text()


def test_a_broken_line_is_no_obstacle(tmp_path: Path, file: Path) -> None:
    (tmp_path / "filed").write_bytes(b"\xff half a li")
    assert not Stamps(tmp_path / "filed").unchanged("a", Stamps.stamp(file))
