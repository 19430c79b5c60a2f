"""Read the content of a file within a limit, before it is parsed."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from engine.errors import DocumentTooLarge, UnsupportedFormat
from engine.parsers.base import MIB

if TYPE_CHECKING:
    from pathlib import Path


def read_file_content(path: Path, limit: int) -> bytes:
    """Read a regular file of at most `limit` bytes. Raises OSError, DocumentTooLarge and UnsupportedFormat."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise UnsupportedFormat(f"{path.name} is a folder, a device, a pipe or a socket.", hint="Use a regular file.")
    if found.st_size > limit:
        raise DocumentTooLarge(f"{path.name} has {found.st_size / MIB:.0f} MiB; the maximum is {limit / MIB:.0f}.")
    with path.open("rb") as file:
        data = file.read(limit + 1)  # the file may have grown
    if len(data) > limit:
        raise DocumentTooLarge(f"{path.name} has more than the maximum of {limit / MIB:.0f} MiB.")
    return data
