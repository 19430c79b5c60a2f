"""What the telemetry of onnxruntime wrote is removed, once, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.llm.minilm.telemetry import FILES, remove_telemetry_files


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    written = tmp_path / "Microsoft" / "DeveloperTools" / ".onnxruntime"
    written.mkdir(parents=True)
    for name in FILES:
        (written / name).write_text("x")
    return written


def test_its_files_and_empty_folders_are_removed(folder: Path, tmp_path: Path) -> None:
    remove_telemetry_files()
    assert not (tmp_path / "Microsoft").exists()


def test_files_of_others_stay(folder: Path, tmp_path: Path) -> None:
    theirs = [folder / "notes.txt", folder.parent / "deviceid"]
    for their in theirs:
        their.write_text("x")
    remove_telemetry_files()
    assert [path for path in sorted((tmp_path / "Microsoft").rglob("*")) if path.is_file()] == theirs


def test_it_happens_once(folder: Path, tmp_path: Path) -> None:
    remove_telemetry_files()
    folder.mkdir(parents=True)
    (folder / "deviceid").write_text("of another program")
    remove_telemetry_files()
    assert (folder / "deviceid").exists()


def test_a_cache_that_cannot_be_written_is_no_error(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "threadlore").write_text("x")
    remove_telemetry_files()
