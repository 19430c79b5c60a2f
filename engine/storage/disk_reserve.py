"""Space that a data directory keeps for when its disk is full: a file that is deleted then, and made again later.

With the bytes of that file, questions are answered, documents are forgotten and files are compacted; what is new waits.
Databases that run on full disks do so as well (CockroachDB calls the file a ballast).
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

import structlog

from engine.errors import DiskFull
from engine.storage.disk import FULL_HINT, Disk, format_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from engine.errors import DiskError

log = structlog.get_logger(__name__)

FILE_NAME = "reserve"
LOW_SHARE = 4  # the reserve is released when less than this part of it is free beside it
LAST_SHARE = 2  # changes of documents are refused, too, when less than this part of it is left
AMPLE_FACTOR = 2  # the reserve is made when this many times its size is free


def find_disk(path: Path) -> Disk:
    """The disk of a path. Raises OSError."""
    return Disk.find(path)


class DiskReserve:
    """A reserve of `size` bytes in the data directory `folder`; 0 for none.

    `find_disk` says how much is free. No method raises, but those that say so: an error of the disk is found by those
    who read and write.
    """

    def __init__(self, folder: Path, size: int, find_disk: Callable[[Path], Disk] = find_disk) -> None:
        self.file = folder / FILE_NAME
        self.size = size
        self._folder = folder
        self._find_disk = find_disk
        self._disk: Disk | None = None

    @property
    def is_held(self) -> bool:
        """Whether the file is there."""
        return self.file.exists()

    @property
    def is_used(self) -> bool:
        """Whether it was released and the disk is still full, as of the last refresh."""
        return bool(self.size) and self._disk is not None and not self.is_held and self._free < self._enough

    @property
    def problem(self) -> str:
        """What an operator should know, as of the last refresh; "" if there is nothing."""
        if self._disk is None:
            return ""
        if self._disk.is_read_only:
            return f"The disk at {self._disk.mount} is read-only: questions are answered, and nothing new is stored."
        if not self.size and self._disk.is_full:
            return f"The disk at {self._disk.mount} is full ({format_bytes(self._free)} free)."
        if not self.is_used:
            return ""
        used = format_bytes(max(0, self.size - self._free))
        return (
            f"The disk at {self._disk.mount} is full: {used} of the reserve of {format_bytes(self.size)} are in use;"
            " new files are refused until there is space."
        )

    def refresh(self) -> None:
        """Look at the disk: release the reserve when it is nearly full, make it whole when there is ample space."""
        try:
            self._disk = self._find_disk(self._folder)
        except OSError:
            self._disk = None
            return
        if self._disk.is_read_only:
            return
        held = self.file.stat().st_size if self.is_held else 0
        if held and self.size and self._free < self.size // LOW_SHARE:
            self.release()
        elif held != self.size and self._free + held >= AMPLE_FACTOR * self.size:
            self._replace()

    def _replace(self) -> None:
        """Make the file as large as the setting says; a part that was taken back grows, and 0 bytes are no file."""
        with suppress(OSError):
            self.file.unlink(missing_ok=True)
        if self.size:
            self._make(self.size)

    def release(self) -> bool:
        """Give the bytes back to the disk; returns whether there were any."""
        try:
            self.file.unlink()
            self._disk = self._find_disk(self._folder)
        except OSError:
            return False
        log.warning("disk.reserve_released", free=self._free)
        return True

    def close(self) -> None:
        """Take back what is left of a released reserve, so that the next process finds it; the disk is not used now."""
        self.refresh()
        if self.is_used and self._disk is not None:
            self._make(min(self._free, self.size))

    def check_room(self) -> None:
        """Raise DiskFull while the reserve is in use: new content has to wait."""
        self._require(self._enough)

    def check_last_room(self) -> None:
        """Raise DiskFull when only the last part of the reserve is left: nothing but deletions goes on."""
        self._require(self.size // LAST_SHARE)

    def _require(self, free: int) -> None:
        if self.is_used:
            self.refresh()
        if self.is_used and self._free < free:
            raise DiskFull(self.problem, hint=FULL_HINT)

    @property
    def _free(self) -> int:
        return 0 if self._disk is None else self._disk.free

    @property
    def _enough(self) -> int:
        """Free bytes below which a disk without the reserve is full: what is left right after its release."""
        return self.size + self.size // LOW_SHARE

    def _make(self, size: int) -> None:
        """Allocate the file, really: a file with holes would reserve nothing."""
        try:
            number = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError:
            return
        try:
            _allocate(number, size)
        except OSError:
            self.file.unlink(missing_ok=True)
        else:
            self._disk = self._find_disk(self._folder)
        finally:
            os.close(number)


def _allocate(number: int, size: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(number, 0, size)
        return
    block = os.urandom(1 << 20)  # zeros may be stored as a hole
    for start in range(0, size, len(block)):
        os.write(number, block[: size - start])
    os.fsync(number)


def list_disk_problems(reserve: DiskReserve, refusal: DiskError | None) -> list[str]:
    """What an operator should know about the disk of a data directory."""
    return [problem for problem in (str(refusal or ""), reserve.problem) if problem]
