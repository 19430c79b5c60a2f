"""What is wrong with a disk, in one sentence that names it: full, read-only, failing, or closed to this account."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import DiskError, DiskFull, DiskReadOnly

if TYPE_CHECKING:
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
