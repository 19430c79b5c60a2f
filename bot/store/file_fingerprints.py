"""Fingerprints of ingested files, so that unchanged ones are not read again."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class FileFingerprints:
    """Fingerprints by key, in an append-only file of hashes, which contains no names.

    A missing or broken line, or a file that cannot be read or written, only causes a file to be read again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fingerprints = dict(_load_fingerprints(path))

    def is_unchanged(self, key: str, stamp: str) -> bool:
        """Whether the stored fingerprint of a file is this one."""
        return self._fingerprints.get(_hash(key)) == stamp

    def record(self, key: str, stamp: str) -> None:
        """Store the fingerprint of an ingested file."""
        line = (_hash(key), stamp)
        if self._fingerprints.get(line[0]) != stamp:
            self._fingerprints[line[0]] = stamp
            with suppress(OSError), self._path.open("a", encoding="ascii") as file:
                file.write(" ".join(line) + "\n")

    @staticmethod
    def compute_fingerprint(file: Path) -> str:
        """A fingerprint that changes with the file or with the version of the parsers. Raises OSError."""
        seen = file.stat()
        return _hash(f"{seen.st_size} {seen.st_mtime_ns} {seen.st_ino} {_program_version()}")


@cache
def _program_version() -> str:
    return version("threadlore")  # a file that the library reads each time


def _hash(text: str) -> str:
    return sha256(text.encode(errors="surrogateescape")).hexdigest()[:32]


def _load_fingerprints(path: Path) -> list[tuple[str, str]]:
    try:
        lines = path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []
    return [(parts[0], parts[1]) for line in lines if len(parts := line.split(" ")) == 2]
