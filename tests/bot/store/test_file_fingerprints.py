from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from bot.store.file_fingerprints import FileFingerprints

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.md"
    path.write_text("Tea.")
    return path


def test_a_file_is_unchanged_once_it_was_written_down(tmp_path: Path, file: Path) -> None:
    stamps = FileFingerprints(tmp_path / "fingerprints")
    stamp = stamps.compute_fingerprint(file)
    assert not stamps.is_unchanged("a", stamp)
    stamps.record("a", stamp)
    assert FileFingerprints(tmp_path / "fingerprints").is_unchanged("a", stamps.compute_fingerprint(file))
    assert not stamps.is_unchanged("b", stamp)


def test_a_file_with_another_time_or_size_is_changed(tmp_path: Path, file: Path) -> None:
    stamps = FileFingerprints(tmp_path / "fingerprints")
    stamps.record("a", stamps.compute_fingerprint(file))
    os.utime(file, ns=(1, 1))
    assert not stamps.is_unchanged("a", stamps.compute_fingerprint(file))


def test_the_last_word_counts(tmp_path: Path, file: Path) -> None:
    stamps = FileFingerprints(tmp_path / "fingerprints")
    before = stamps.compute_fingerprint(file)
    stamps.record("a", before)
    file.write_text("Coffee.")
    stamps.record("a", stamps.compute_fingerprint(file))
    assert not FileFingerprints(tmp_path / "fingerprints").is_unchanged("a", before)


def test_no_name_of_a_file_is_kept(tmp_path: Path, file: Path) -> None:
    FileFingerprints(tmp_path / "fingerprints").record(f"file:{file}", FileFingerprints.compute_fingerprint(file))
    assert "a.md" not in (tmp_path / "fingerprints").read_text()


def test_a_broken_line_is_no_obstacle(tmp_path: Path, file: Path) -> None:
    (tmp_path / "fingerprints").write_bytes(b"\xff half a li")
    assert not FileFingerprints(tmp_path / "fingerprints").is_unchanged("a", FileFingerprints.compute_fingerprint(file))
