"""The data folder: one process owns it, and its parts have their places."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from engine.errors import CorruptLedger, DataDirInUse, DiskError
from engine.storage.sqlite.integrity import check_places

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


GRAPH_MODULES = ("kuzu", "ladybug")


@dataclass(frozen=True, slots=True)
class DataDir:
    """Where everything lies; only its owner may look into it."""

    path: Path

    @property
    def ledger_path(self) -> Path:
        """The only truth; everything else can be made anew from it."""
        return self.path / "ledger.db"

    @property
    def vectors_path(self) -> Path:
        """The vector projection."""
        return self.path / "vectors"

    def graph_path(self, module: str) -> Path:
        """The graph projection; files of different modules are not interchangeable."""
        return self.path / f"graph.{module}"

    def check_ledger(self) -> None:
        """Raise CorruptLedger if a folder lies in its place, or it is gone or empty though something was made of it."""
        check_places(self.ledger_path, "ledger")
        made = (self.vectors_path, *(self.graph_path(module) for module in GRAPH_MODULES))
        held = self.ledger_path.exists() and self.ledger_path.stat().st_size > 0
        if not held and any(path.exists() for path in made):
            raise CorruptLedger(f"The ledger {self.ledger_path} is {'empty' if self.ledger_path.exists() else 'gone'}.")

    @contextmanager
    def acquire_lock(self) -> Iterator[None]:
        """Hold the folder for this process; DataDirInUse if another one does."""
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise DiskError(f"The data folder {self.path} cannot be made: {error.strerror}.") from error
        self._restrict_permissions()
        lock = FileLock(self.path / "lock", timeout=0)
        try:
            lock.acquire()
        except Timeout as error:
            raise DataDirInUse(
                f"The data folder {self.path} is in use by another program{self._describe_owner()}."
            ) from error
        except OSError as error:
            raise DiskError(f"The data folder {self.path} cannot be used: {error.strerror}.") from error
        try:
            with suppress(OSError):  # it only says whom to ask
                (self.path / "owner").write_text(str(os.getpid()))
            yield
        finally:
            lock.release()

    def _restrict_permissions(self) -> None:
        """Let only its owner look into a folder that was there before; one that belongs to another stays as it is."""
        seen = self.path.stat()
        if seen.st_uid == os.getuid() and stat.S_IMODE(seen.st_mode) & 0o077:
            with suppress(OSError):  # there are file systems without modes
                self.path.chmod(0o700)

    def _describe_owner(self) -> str:
        try:
            return f" (process {(self.path / 'owner').read_text()})"
        except OSError:
            return ""
