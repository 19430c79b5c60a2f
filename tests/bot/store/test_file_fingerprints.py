from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.store.file_fingerprints import FileFingerprints


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.md"
    path.write_text("Tea.")
    return path


@pytest.fixture
def known(tmp_path: Path, file: Path) -> Path:
    """The file of fingerprints, which holds the one of the first file."""
    fingerprints = FileFingerprints(tmp_path / "fingerprints")
    fingerprint = fingerprints.compute_fingerprint(file)
    assert not fingerprints.is_unchanged(f"file:{file}", fingerprint)
    for _ in range(2):
        fingerprints.record(f"file:{file}", fingerprint)
    return tmp_path / "fingerprints"


def test_a_file_is_unchanged_until_its_time_changes(known: Path, file: Path) -> None:
    fingerprints, key = FileFingerprints(known), f"file:{file}"
    assert fingerprints.is_unchanged(key, fingerprints.compute_fingerprint(file))
    assert not fingerprints.is_unchanged("b", fingerprints.compute_fingerprint(file))
    os.utime(file, ns=(1, 1))
    assert not fingerprints.is_unchanged(key, fingerprints.compute_fingerprint(file))


def test_the_last_record_counts(known: Path, file: Path) -> None:
    fingerprints, before = FileFingerprints(known), FileFingerprints.compute_fingerprint(file)
    file.write_text("Coffee.")
    fingerprints.record(f"file:{file}", fingerprints.compute_fingerprint(file))
    assert not FileFingerprints(known).is_unchanged(f"file:{file}", before)


def test_no_file_name_is_stored_and_a_broken_line_is_skipped(known: Path, file: Path) -> None:
    assert "a.md" not in known.read_text()
    known.write_bytes(b"\xff half a li")
    assert not FileFingerprints(known).is_unchanged(f"file:{file}", FileFingerprints.compute_fingerprint(file))
