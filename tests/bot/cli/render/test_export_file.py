from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.capabilities.maintenance.archive_key import create_key_file, is_encrypted, load_key_file, opened
from bot.capabilities.results import ExportLine
from bot.cli.render.export_file import save_lines
from engine.errors import DiskError
from engine.storage.journal import Journal


async def lines(*texts: str, error: Exception | None = None) -> AsyncIterator[ExportLine]:
    for text in texts:
        yield ExportLine(text)
    if error:
        raise error


async def test_a_file_is_there_whole_or_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "facts.jsonl"
    await save_lines(lines("a", "b"), path, Journal(tmp_path / "home"))
    assert path.read_text() == "a\nb\n"
    with pytest.raises(ValueError, match="enough"):
        await save_lines(lines("c", error=ValueError("enough")), path, Journal(tmp_path / "home"))
    assert path.read_text() == "a\nb\n"
    assert sorted(os.listdir(tmp_path)) == ["facts.jsonl", "home"]  # noqa: PTH208  - a glance, in a test


async def test_without_a_file_the_lines_are_printed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    await save_lines(lines("a"), None, Journal(tmp_path))
    assert capsys.readouterr().out == "a\n"


async def test_a_folder_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(DiskError, match=r"nowhere does not exist\.$") as caught:
        await save_lines(lines("a"), tmp_path / "nowhere" / "facts.jsonl", Journal(tmp_path / "home"))
    assert "Create the folder" in caught.value.hint


async def test_with_a_key_the_lines_are_encrypted(tmp_path: Path) -> None:
    create_key_file(tmp_path / "key.txt")
    key, path = load_key_file(tmp_path / "key.txt"), tmp_path / "facts.jsonl.age"
    await save_lines(lines("a", "b"), path, Journal(tmp_path / "home"), key)
    assert is_encrypted(path)
    assert path.stat().st_mode & 0o077 == 0
    with opened(path, key) as (_, plain):
        assert plain.read() == b"a\nb\n"
