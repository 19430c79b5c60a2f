from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from engine.data_dir import Folder
from engine.errors import DiskTrouble, FolderInUse

if TYPE_CHECKING:
    from pathlib import Path


def test_a_folder_that_is_owned_cannot_be_owned_again_until_it_is_let_go(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "home")
    with folder.owned():
        with pytest.raises(FolderInUse, match=f"process {os.getpid()}") as caught, Folder(tmp_path / "home").owned():
            pass
        assert caught.value.hint
    with folder.owned():
        pass


def test_only_its_owner_may_look_into_a_new_folder(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "deep" / "home")
    with folder.owned():
        assert stat.S_IMODE(folder.home.stat().st_mode) == 0o700


def test_a_folder_that_stood_open_is_closed_to_others(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "home")
    folder.home.mkdir()
    folder.home.chmod(0o755)
    with folder.owned():
        assert stat.S_IMODE(folder.home.stat().st_mode) == 0o700


def test_a_folder_that_cannot_be_made_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DiskTrouble, match="cannot be made"), Folder(tmp_path / "file" / "home").owned():
        pass


def test_graphs_of_different_modules_lie_apart(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    assert len({folder.ledger, folder.vectors, folder.graph("kuzu"), folder.graph("ladybug")}) == 4
