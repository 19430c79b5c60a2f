from __future__ import annotations

import errno
import os
import resource
import sqlite3
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.errors import DiskError, DiskFull, DiskReadOnly
from engine.storage.disk import Disk, disk_error
from engine.storage.sqlite.database_file import translate_error

if TYPE_CHECKING:
    from collections.abc import Iterator

MIB = 1 << 20
PROBLEM = "It could not be written"


def put_on(monkeypatch: pytest.MonkeyPatch, *, free: int, read_only: bool = False) -> None:
    """Let every path be on a disk like this."""
    found = Disk(Path("/data"), free, read_only)
    monkeypatch.setattr(Disk, "find", lambda _: found)


def failed(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def test_a_path_that_does_not_exist_is_on_the_disk_of_the_folder_above_it(tmp_path: Path) -> None:
    found = Disk.find(tmp_path / "not" / "there")
    assert found.mount == Disk.find(tmp_path).mount
    assert found.mount.is_mount()
    assert found.free > 0
    assert not found.is_read_only


@pytest.mark.parametrize(
    ("cause", "kind", "words"),
    [
        (failed(errno.ENOSPC), DiskFull, "the disk at /data is full (50.0 MiB free)."),
        (failed(errno.EDQUOT), DiskFull, "is full"),
        (RuntimeError("lance error: No space left on device (os error 28)\nmore"), DiskFull, "is full"),
        (sqlite3.OperationalError("database or disk is full"), DiskFull, "is full"),
        (failed(errno.EROFS), DiskReadOnly, "the disk at /data is read-only."),
        (failed(errno.EMFILE), DiskError, "too few file handles"),
        (failed(errno.ENFILE), DiskError, "too few file handles"),
        (RuntimeError("Too many open files (os error 24)"), DiskError, "too few file handles"),
        (failed(errno.EACCES), DiskError, "/x may not be used (Permission denied)."),
        (sqlite3.OperationalError("attempt to write a readonly database"), DiskError, "/x may not be used"),
        (failed(errno.EIO), DiskError, "Input/output error (the disk at /data has 50.0 MiB free)."),
        (RuntimeError(), DiskError, "RuntimeError (the disk"),
    ],
)
def test_the_sentence_names_the_disk_and_what_is_wrong_with_it(
    monkeypatch: pytest.MonkeyPatch, cause: Exception, kind: type[DiskError], words: str
) -> None:
    put_on(monkeypatch, free=50 * MIB)
    error = disk_error(PROBLEM, Path("/x"), cause)
    assert type(error) is kind
    assert str(error).startswith(f"{PROBLEM}: ")
    assert words in str(error)


def test_what_a_library_does_not_say_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    cause = sqlite3.OperationalError("disk I/O error")
    cause.sqlite_errorcode = sqlite3.SQLITE_IOERR
    put_on(monkeypatch, free=4096)
    assert "is full (4,096 bytes free)" in str(translate_error(cause, "ledger", Path("/x")))
    put_on(monkeypatch, free=4096, read_only=True)
    assert type(translate_error(cause, "ledger", Path("/x"))) is DiskReadOnly


def test_an_error_that_names_a_file_is_about_that_file(tmp_path: Path) -> None:
    cause = PermissionError(errno.EACCES, "Permission denied", str(tmp_path / "backup"))
    assert f"{tmp_path / 'backup'} may not be used" in str(disk_error(PROBLEM, Path("/"), cause))


def test_a_disk_that_cannot_be_asked_is_failing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Path) -> Disk:
        raise failed(errno.EIO)

    monkeypatch.setattr(Disk, "find", fail)
    assert str(disk_error(PROBLEM, Path("/x"), failed(errno.EIO))) == f"{PROBLEM}: Input/output error."


@contextmanager
def no_file_handles() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as stack:
        first = stack.enter_context(Path(os.devnull).open("rb"))
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (first.fileno() + 1, hard))
        with suppress(OSError):
            while True:  # descriptors below it may be free
                stack.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        yield


def test_a_lack_of_file_handles_is_never_called_a_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with no_file_handles():
        with pytest.raises(sqlite3.OperationalError, match="unable to open") as caught:
            sqlite3.connect(path).execute("CREATE TABLE t (x)")
        error = translate_error(caught.value, "ledger", path)
    assert "too few file handles" in str(error)
    assert "ulimit" in getattr(error, "hint", "")
