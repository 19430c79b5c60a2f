from __future__ import annotations

import errno
import fcntl
import os
import stat
from pathlib import Path

import pytest

from engine.data_dir import DataDir
from engine.errors import DataDirInUse, DiskError
from tests.support.file_lock import hold_lock


def test_a_locked_folder_cannot_be_locked_again_until_it_is_released(tmp_path: Path) -> None:
    folder = DataDir(tmp_path / "home")
    with folder.acquire_lock():
        with (
            pytest.raises(DataDirInUse, match=f"process {os.getpid()}") as caught,
            DataDir(tmp_path / "home").acquire_lock(),
        ):
            pass
        assert caught.value.hint
    with folder.acquire_lock():
        pass


@pytest.mark.parametrize("exists", [False, True])
def test_only_its_owner_may_open_a_folder(tmp_path: Path, *, exists: bool) -> None:
    folder = DataDir(tmp_path / "deep" / "home")
    if exists:
        folder.path.mkdir(parents=True)
        folder.path.chmod(0o755)
    with folder.acquire_lock():
        assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700


def test_a_folder_that_cannot_be_created_is_an_error_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DiskError, match="cannot be created"), DataDir(tmp_path / "file" / "home").acquire_lock():
        pass


def test_the_stores_and_the_graphs_of_different_libraries_have_their_own_paths(tmp_path: Path) -> None:
    folder = DataDir(tmp_path)
    assert len({folder.ledger_path, *folder.projection_paths}) == 6


def test_a_lock_of_another_program_is_told_from_one_of_a_process_that_left_its_number(tmp_path: Path) -> None:
    (tmp_path / "owner").write_text("999999999")
    with (
        hold_lock(tmp_path / "lock"),
        pytest.raises(DataDirInUse, match="it is not one that wrote its number there"),
        DataDir(tmp_path).acquire_lock(),
    ):
        pass
    assert DataDir(tmp_path).find_owner() is None


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_that_refuses_locks_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(DiskError, match="refuses locks") as caught, DataDir(tmp_path).acquire_lock():
        pass
    assert "local file system" in caught.value.hint
