"""The file format of a backup: a gzip-compressed tar of SQLite files, read with limits on everything it declares.

`tarfile` reads the archive's own extensions into memory whatever their size, so reading walks the headers itself: only
regular files with expected names are taken, each once, and unpacking stops as soon as a limit is passed.
"""

from __future__ import annotations

import gzip
import shutil
import tarfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import FileIO
from typing import TYPE_CHECKING

from bot.capabilities.maintenance.archive_key import opened
from engine.errors import CorruptFile, DiskFull
from engine.storage.disk import Disk, format_bytes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from bot.capabilities.maintenance.archive_key import BackupKey
    from engine.errors import DiskError

BLOCK_SIZE = tarfile.BLOCKSIZE
READ_SIZE = 1 << 20  # bytes unpacked at once
BASE_LIMIT = 64 << 20  # bytes that any archive may unpack to
MAX_RATIO = 50  # beyond BASE_LIMIT, an archive may unpack to this many times its size; databases stay below 10 times
MAX_EXTENSION = 1 << 12  # bytes of a tar extension header, such as one with a fraction of a second
MAX_TRAILER = 64 * BLOCK_SIZE  # zeros that tar programs put at the end
RESERVED_SPACE = 64 << 20  # bytes of the disk that stay free
BACKUP_HINT = "Free some space on that disk, or write the backup to another one."
RESTORE_HINT = "Free some space on that disk, or restore to another one with --data-dir."
HEADER_SIZE = 100  # bytes of an SQLite file that say how long it is
MAGIC = b"SQLite format 3\0"


def free_space(folder: Path) -> int:
    """Bytes that may be written to the disk of a folder."""
    return shutil.disk_usage(folder).free


def check_backup_space(target: Path, needed: int) -> None:
    """Raise DiskError if the disk of a backup lacks the space to write and verify it, or its folder is missing.

    `needed`: bytes; at first twice the size of the databases. The archive might not get smaller than they are, and
    beside it are, at any moment, the copies that are packed or those that are unpacked to verify it.
    """
    if needed > free_space(target.parent) - RESERVED_SPACE:
        raise _lack_of_space(f"The backup to {target}", target.parent, needed, BACKUP_HINT)


def database_size(path: Path) -> int:
    """Bytes of an SQLite database, with what its log may add to it; 0 if there is none."""
    files = (path, path.with_name(f"{path.name}-wal"))
    return sum(file.stat().st_size for file in files if file.is_file())


def _lack_of_space(what: str, folder: Path, needed: int, hint: str) -> DiskError:
    mount, free = Disk.find(folder).mount, format_bytes(free_space(folder))
    needed += RESERVED_SPACE
    return DiskFull(f"{what} needs {format_bytes(needed)}; the disk at {mount} has {free} free.", hint=hint)


def write_archive(folder: Path, names: Collection[str], target: Path) -> None:
    """Pack the existing files of a folder. Raises OSError."""
    _write_tar(folder, names, target, level=6)
    if _unpacked_size(folder, names) > BASE_LIMIT + MAX_RATIO // 2 * target.stat().st_size:
        target.unlink()
        _write_tar(folder, names, target, level=0)  # text so repetitive would be rejected as a decompression bomb


def _write_tar(folder: Path, names: Collection[str], target: Path, level: int) -> None:
    with tarfile.open(target, "x:gz", compresslevel=level, format=tarfile.GNU_FORMAT) as archive:
        for name in names:
            if (folder / name).exists():
                archive.add(folder / name, name)


def _unpacked_size(folder: Path, names: Collection[str]) -> int:
    return sum((folder / name).stat().st_size for name in names if (folder / name).exists())


def read_archive(path: Path, folder: Path, names: Collection[str], key: BackupKey | None = None) -> set[str]:
    """Unpack into an empty folder; returns the names of the files. `key`: of an encrypted archive.

    Raises CorruptFile for anything but an archive of these files within the limits, DiskError if the disk is full, and
    StoreError without the right key.
    """
    with _open_reader(path, folder, key) as reader:
        return reader.extract_all(names)


def check_beginning(path: Path, names: Collection[str], key: BackupKey | None = None) -> None:
    """Raise CorruptFile unless a file begins with one of these files, StoreError without the right key."""
    with _open_reader(path, path.parent, key) as reader:
        reader.check_first(names)


@contextmanager
def _open_reader(path: Path, folder: Path, key: BackupKey | None) -> Iterator[_ArchiveReader]:
    try:
        with opened(path, key) as (raw, stream), gzip.GzipFile(fileobj=stream) as unpacked:
            yield _ArchiveReader(raw, unpacked, folder)
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise CorruptFile(f"{path} is not a backup ({error}).", hint=NOT_A_BACKUP_HINT) from error


NOT_A_BACKUP_HINT = "Use a file written by `threadlore backup`."


@dataclass(slots=True)
class _ArchiveReader:
    raw: BinaryIO
    unpacked: gzip.GzipFile
    folder: Path
    _read_count: int = field(default=0)

    def check_first(self, names: Collection[str]) -> None:
        if (member := self._next_member()) is None or member.name not in names:
            raise tarfile.ReadError("it contains other files")

    def extract_all(self, names: Collection[str]) -> set[str]:
        found = set[str]()
        while (member := self._next_member()) is not None:
            if member.name not in names or member.name in found:
                raise tarfile.ReadError("it contains other files")
            self._extract(member)
            found.add(member.name)
        self._check_end()
        return found

    def _next_member(self) -> tarfile.TarInfo | None:
        """The header of the next file, None after the last one."""
        while True:
            block = self._read_exactly(BLOCK_SIZE)
            if block == bytes(BLOCK_SIZE):
                return None
            member = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
            if member.size < 0:  # base 256 can say so; it would be counted against what was unpacked
                raise tarfile.ReadError("it states a negative size")
            if member.type in {tarfile.REGTYPE, tarfile.AREGTYPE}:
                return member
            if member.type != tarfile.XHDTYPE or member.size > MAX_EXTENSION:
                raise tarfile.ReadError("it contains entries that are not files")
            self._read_exactly(_padded_size(member.size))

    def _extract(self, member: tarfile.TarInfo) -> None:
        available = free_space(self.folder) - RESERVED_SPACE
        if member.size > available:
            raise _lack_of_space(f"Unpacking {member.name} into {self.folder}", self.folder, member.size, RESTORE_HINT)
        head = self._read_exactly(min(member.size, HEADER_SIZE))
        if _declared_size(head) != member.size:
            raise tarfile.ReadError(f"{member.name} is not a database")
        remaining = member.size - len(head)
        with FileIO(self.folder / member.name, "x") as file:
            file.write(head)
            while remaining:
                piece = self._read_exactly(min(READ_SIZE, remaining))
                file.write(piece)
                remaining -= len(piece)
        self._read_exactly(_padded_size(member.size) - member.size)

    def _check_end(self) -> None:
        rest = self.unpacked.read(MAX_TRAILER)
        if rest.strip(b"\0") or self.unpacked.read(1):
            raise tarfile.ReadError("it contains data after its end")

    def _read_exactly(self, size: int) -> bytes:
        """Read exactly this number of unpacked bytes."""
        self._read_count += size
        if self._read_count > BASE_LIMIT + MAX_RATIO * self.raw.tell():
            raise tarfile.ReadError("it unpacks to far more data than a backup of its size")
        content = bytearray()
        while len(content) < size:
            piece = self.unpacked.read(size - len(content))
            if not piece:
                raise EOFError("it is truncated")
            content += piece
        return bytes(content)


def _padded_size(size: int) -> int:
    return -(-size // BLOCK_SIZE) * BLOCK_SIZE


def _declared_size(head: bytes) -> int:
    """The size in bytes that the header of an SQLite file declares, -1 if it is none (SQLite file format, 1.3)."""
    if len(head) < HEADER_SIZE or not head.startswith(MAGIC):
        return -1
    page = int.from_bytes(head[16:18], "big")
    return (1 << 16 if page == 1 else page) * int.from_bytes(head[28:32], "big")
