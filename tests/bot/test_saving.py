from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from bot.events import Line
from bot.saving import save, unwritable
from engine.errors import DiskTrouble

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


async def lines(*texts: str, error: Exception | None = None) -> AsyncIterator[Line]:
    for text in texts:
        yield Line(text)
    if error:
        raise error


async def test_a_file_is_there_whole_or_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "facts.jsonl"
    await save(lines("a", "b"), path)
    assert path.read_text() == "a\nb\n"
    with pytest.raises(ValueError, match="enough"):
        await save(lines("c", error=ValueError("enough")), path)
    assert path.read_text() == "a\nb\n"
    assert os.listdir(tmp_path) == ["facts.jsonl"]  # noqa: PTH208  - a glance, in a test


async def test_without_a_file_the_lines_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    await save(lines("a"), None)
    assert capsys.readouterr().out == "a\n"


async def test_a_folder_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(DiskTrouble, match=r"nowhere does not exist\.$") as caught:
        await save(lines("a"), tmp_path / "nowhere" / "facts.jsonl")
    assert "Make the folder" in caught.value.hint


def test_a_file_or_a_folder_in_the_way_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "note").touch()
    with pytest.raises(OSError, match="directory") as caught:
        (tmp_path / "note" / "b").touch()
    assert str(unwritable(tmp_path / "note" / "b", caught.value)).endswith("note is no folder.")
    with pytest.raises(OSError, match="directory") as caught:
        (tmp_path / "note").replace(folder)
    assert str(unwritable(folder, caught.value)) == f"{folder} is a folder."


def test_a_full_disk_is_told_apart_from_a_place_that_is_not_ours(tmp_path: Path) -> None:
    full = unwritable(tmp_path / "b", OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert full.hint.startswith("Free some space")
    forbidden = unwritable(tmp_path / "b", PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
    assert str(forbidden).endswith("permission denied.")
    assert "another place" in forbidden.hint
