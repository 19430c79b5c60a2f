"""The data folder: one process owns it, and its parts have their places."""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from engine.errors import BrokenProjection, DamagedLedger, DiskTrouble, FolderInUse
from engine.storage.sqlite.integrity import check_places

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def erase(path: Path, *, ignore_errors: bool = False) -> None:
    """Remove a folder with all it holds, or what lies in its place; of a link to a folder, what that folder holds.

    Raises OSError, unless errors are ignored.
    """
    if path.is_dir() and path.is_symlink():
        for each in list(path.iterdir()):
            _remove(each, ignore_errors=ignore_errors)
    else:
        _remove(path, ignore_errors=ignore_errors)


def _remove(path: Path, *, ignore_errors: bool) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=ignore_errors)
    else:
        with suppress(OSError if ignore_errors else FileNotFoundError):
            path.unlink()


def make_folder(path: Path) -> None:
    """Make the folder of a projection unless it is there; BrokenProjection if something else lies in its place."""
    if not path.is_dir() and (path.exists() or path.is_symlink()):
        raise BrokenProjection(f"{path} is no folder.")
    path.mkdir(parents=True, exist_ok=True)


MODULES = ("kuzu", "ladybug")


@dataclass(frozen=True, slots=True)
class Folder:
    """Where everything lies; only its owner may look into it."""

    home: Path

    @property
    def ledger(self) -> Path:
        """The only truth; everything else can be made anew from it."""
        return self.home / "ledger.db"

    @property
    def vectors(self) -> Path:
        """The vector projection."""
        return self.home / "vectors"

    def graph(self, module: str) -> Path:
        """The graph projection; files of different modules are not interchangeable."""
        return self.home / f"graph.{module}"

    def check_ledger(self) -> None:
        """Raise DamagedLedger if a folder lies in its place, or it is gone or empty though something was made of it."""
        check_places(self.ledger, "ledger")
        made = (self.vectors, *(self.graph(module) for module in MODULES))
        held = self.ledger.exists() and self.ledger.stat().st_size > 0
        if not held and any(path.exists() for path in made):
            raise DamagedLedger(f"The ledger {self.ledger} is {'empty' if self.ledger.exists() else 'gone'}.")

    @contextmanager
    def owned(self) -> Iterator[None]:
        """Hold the folder for this process; FolderInUse if another one does."""
        try:
            self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise DiskTrouble(f"The data folder {self.home} cannot be made: {error.strerror}.") from error
        self._close_to_others()
        lock = FileLock(self.home / "lock", timeout=0)
        try:
            lock.acquire()
        except Timeout as error:
            raise FolderInUse(f"The data folder {self.home} is in use by another program{self._owner()}.") from error
        except OSError as error:
            raise DiskTrouble(f"The data folder {self.home} cannot be used: {error.strerror}.") from error
        try:
            with suppress(OSError):  # it only says whom to ask
                (self.home / "owner").write_text(str(os.getpid()))
            yield
        finally:
            lock.release()

    def _close_to_others(self) -> None:
        """Let only its owner look into a folder that was there before; one that belongs to another stays as it is."""
        seen = self.home.stat()
        if seen.st_uid == os.getuid() and stat.S_IMODE(seen.st_mode) & 0o077:
            with suppress(OSError):  # there are file systems without modes
                self.home.chmod(0o700)

    def _owner(self) -> str:
        try:
            return f" (process {(self.home / 'owner').read_text()})"
        except OSError:
            return ""
