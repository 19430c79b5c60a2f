"""Arrays in files without names: what is read often stays in memory, and the rest costs a read of the disk."""

from __future__ import annotations

import mmap
import os
import tempfile
from typing import TYPE_CHECKING, Any

from engine.storage.disk import Disk

if TYPE_CHECKING:
    from pathlib import Path

MAX_DISK_SHARE = 2  # a file takes at most 1 / share of what is free
ZEROS = bytes(1 << 20)


class MappedFile:
    """A file of one size that no folder lists: it is gone with this object, or with the process, however that ends.

    Its place on the disk is taken at once, since a process that writes to a mapped page without one is killed. After
    `max_resident` bytes were read, its pages leave the memory of the process; those of the system's cache come back
    without a read. Raises OSError.
    """

    def __init__(self, folder: Path, size: int, max_resident: int) -> None:
        self._max_resident = max_resident
        self._read_bytes = 0
        if size > Disk.find(folder).free // MAX_DISK_SHARE:
            raise OSError(f"The disk of {folder} has too little space for {size:,} bytes of a copy.")
        with tempfile.TemporaryFile(dir=folder) as file:
            _allocate(file.fileno(), size)
            self.pages = mmap.mmap(file.fileno(), size)

    def count_read(self, size: int) -> None:
        """Count bytes that were read; with too many of them, release the pages. They keep their content."""
        self._read_bytes += size
        if self._read_bytes > self._max_resident:
            self._read_bytes = 0
            if hasattr(mmap, "MADV_DONTNEED"):
                self.pages.madvise(mmap.MADV_DONTNEED)


def _allocate(number: int, size: int) -> None:
    """Take the place of a new file on the disk."""
    allocate: Any = getattr(os, "posix_fallocate", None)
    if allocate is not None:
        allocate(number, 0, size)
        return
    for start in range(0, size, len(ZEROS)):
        os.write(number, ZEROS[: size - start])
