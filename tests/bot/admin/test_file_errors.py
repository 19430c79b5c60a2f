from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from bot.admin.file_errors import file_write_error

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_or_a_folder_in_the_way_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "note").touch()
    with pytest.raises(OSError, match="directory") as caught:
        (tmp_path / "note" / "b").touch()
    assert str(file_write_error(tmp_path / "note" / "b", caught.value)).endswith("note is no folder.")
    with pytest.raises(OSError, match="directory") as caught:
        (tmp_path / "note").replace(folder)
    assert str(file_write_error(folder, caught.value)) == f"{folder} is a folder."


def test_a_full_disk_is_told_apart_from_a_place_that_is_not_ours(tmp_path: Path) -> None:
    full = file_write_error(tmp_path / "b", OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert full.hint.startswith("Free some disk space")
    forbidden = file_write_error(tmp_path / "b", PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
    assert str(forbidden).endswith("permission denied.")
    assert "another location" in forbidden.hint
