"""What is wrong with a disk, in one sentence, and the space that a data directory keeps for when its disk is full.

That space is a file, deleted when the disk is full and made again later. With its bytes, questions are answered,
documents are forgotten and files are compacted; what is new waits. Databases that run on full disks do so as well
(CockroachDB calls the file a ballast).
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from engine.errors import DiskError, DiskFull, DiskReadOnly

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self


MIB = 1 << 20
NO_SPACE = MIB  # fewer free bytes than this explain a failed write: no database can be opened with less
FULL_NUMBERS, HANDLE_NUMBERS = {errno.ENOSPC, errno.EDQUOT}, {errno.EMFILE, errno.ENFILE}
FULL_MESSAGES = ("no space left", "os error 28", "disk quota exceeded", "disk is full")
HANDLE_MESSAGES = ("too many open files", "os error 24")
READ_ONLY_MESSAGES = ("read-only file system", "os error 30")
FORBIDDEN_MESSAGES = ("permission denied", "readonly", "os error 13", "operation not permitted")

FULL_HINT = "Free some space on that disk; the work resumes where it stopped."
READ_ONLY_HINT = "Make that disk writable again; the system's log says why it is read-only."
FORBIDDEN_HINT = "Give the account that runs Threadlore the right to read and write there."
HANDLES_HINT = "Raise the limit on open files (`ulimit -n`, or LimitNOFILE of the service), and start again."
FAILING_HINT = "Check that disk and the system's log; the work resumes where it stopped."
log = structlog.get_logger(__name__)

FILE_NAME = "reserve"
LOW_SHARE = 4  # the reserve is released when less than this part of it is free beside it
LAST_SHARE = 2  # changes of documents are refused, too, when less than this part of it is left
AMPLE_FACTOR = 2  # the reserve is made when this many times its size is free


@dataclass(frozen=True, slots=True)
class Disk:
    """The file system of a path: where it is mounted, and the bytes that this account may still write."""

    mount: Path
    free: int
    is_read_only: bool

    @classmethod
    def find(cls, path: Path) -> Self:
        """The disk of a path, or of the nearest folder above it that exists. Raises OSError."""
        place = path.absolute()
        while not place.exists() and place != place.parent:
            place = place.parent
        found = os.statvfs(place)
        mount = place.resolve()
        while not mount.is_mount():
            mount = mount.parent
        return cls(mount, found.f_bavail * found.f_frsize, bool(found.f_flag & os.ST_RDONLY))

    @property
    def is_full(self) -> bool:
        """Whether too few bytes are free for any database."""
        return self.free < NO_SPACE


def format_bytes(count: int) -> str:
    """A number of bytes for people."""
    return f"{count / MIB:,.1f} MiB" if count >= MIB // 10 else f"{count:,} bytes"


def disk_error(problem: str, path: Path, cause: BaseException) -> DiskError:
    """The error that says what is wrong with the disk of `path`, from an error of the system or of a library.

    `problem`: what could not be done, without a full stop. An error that names a file is about the disk of that file.
    """
    if isinstance(cause, OSError) and isinstance(cause.filename, str):
        path = Path(cause.filename)
    text = str(cause.strerror or cause) if isinstance(cause, OSError) else str(cause)
    text = (text.strip().splitlines() or [type(cause).__name__])[0].rstrip(".")
    number = cause.errno if isinstance(cause, OSError) else None
    if number in HANDLE_NUMBERS or _has(text, HANDLE_MESSAGES) or _lacks_file_handles():
        return DiskError(f"{problem}: this process has too few file handles.", hint=HANDLES_HINT)
    try:
        disk = Disk.find(path)
    except OSError:
        return DiskError(f"{problem}: {text}.", hint=FAILING_HINT)
    if disk.is_read_only or number == errno.EROFS or _has(text, READ_ONLY_MESSAGES):
        return read_only_error(problem, disk)
    if number in FULL_NUMBERS or _has(text, FULL_MESSAGES) or disk.is_full:
        return full_error(problem, disk)
    if number in {errno.EACCES, errno.EPERM} or _has(text, FORBIDDEN_MESSAGES):
        return DiskError(f"{problem}: {path} may not be used ({text}).", hint=FORBIDDEN_HINT)
    free = format_bytes(disk.free)
    return DiskError(f"{problem}: {text} (the disk at {disk.mount} has {free} free).", hint=FAILING_HINT)


def full_error(problem: str, disk: Disk) -> DiskFull:
    """The error for a full disk."""
    return DiskFull(f"{problem}: the disk at {disk.mount} is full ({format_bytes(disk.free)} free).", hint=FULL_HINT)


def read_only_error(problem: str, disk: Disk) -> DiskReadOnly:
    """The error for a disk that takes no writes."""
    return DiskReadOnly(f"{problem}: the disk at {disk.mount} is read-only.", hint=READ_ONLY_HINT)


def _has(text: str, messages: tuple[str, ...]) -> bool:
    return any(words in text.lower() for words in messages)


def _lacks_file_handles() -> bool:
    """Whether this process can open no more files; libraries do not say so."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno in HANDLE_NUMBERS
    return False


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
