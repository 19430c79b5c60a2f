"""Open TAR archives, packed or not, and single packed files (GZIP, BZIP2, XZ)."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import tarfile
import zlib
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING

from engine.errors import CorruptFile, DocumentTooLarge
from engine.parsers.archives.members import clean_path, is_system_file, list_members
from engine.parsers.base import MIB, MIN_BOMB_SIZE, Omission, PackedFile

if TYPE_CHECKING:
    from engine.parsers.base import ParsedFile, ParserLimits

_ERRORS = (tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, IndexError)
_TAR_MARK, _TAR_MARK_AT = b"ustar", 257
_PACKED_SUFFIX = re.compile(r"\.(?:gz|bz2|xz|z)\Z", re.IGNORECASE)
_MAX_ENTRIES = 10_000
_CHUNK = 64 * 1024  # bytes; what follows the last whole one in a damaged file is lost
_DAMAGED = "the archive is damaged from here on"


def parse(name: str, data: bytes, limits: ParserLimits) -> ParsedFile:
    """The files of an archive, or the one that is packed. Raises CorruptFile, DocumentTooLarge and EmptyDocument."""
    content, is_whole = _unpack(data, limits)
    rest = () if is_whole else (Omission("the rest of the archive", _DAMAGED),)
    if content[_TAR_MARK_AT:].startswith(_TAR_MARK) or _has_old_header(content):
        return _list_entries(name, content, rest)
    if not content:
        raise CorruptFile("The file is a damaged or incomplete archive.")
    inner = clean_path(_PACKED_SUFFIX.sub("", name)) or "file"
    return list_members(name, [PackedFile(inner, lambda: content)], rest)


def _has_old_header(content: bytes) -> bool:
    """Whether the bytes begin with a header whose checksum is right, as old programs write it without a mark."""
    try:
        tarfile.TarInfo.frombuf(content[: tarfile.BLOCKSIZE], tarfile.ENCODING, "surrogateescape")
    except (tarfile.HeaderError, ValueError):
        return False
    return True


def _unpack(data: bytes, limits: ParserLimits) -> tuple[bytes, bool]:
    """The unpacked bytes as far as they can be read, and whether that is all. Raises DocumentTooLarge."""
    if not (opened := _open_packed(data)):
        return data, True
    most = min(limits.max_unpacked_size, max(MIN_BOMB_SIZE, limits.max_unpack_ratio * len(data)))
    content, is_whole = bytearray(), True
    try:
        while chunk := opened.read(_CHUNK):
            content += chunk
            if len(content) > most:
                raise DocumentTooLarge(f"The file would unpack to more than {most // MIB} MiB.")
    except _ERRORS:
        is_whole = False
    return bytes(content), is_whole


def _open_packed(data: bytes) -> gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile | None:
    if data.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=BytesIO(data))
    if data.startswith(b"BZh"):
        return bz2.BZ2File(BytesIO(data))
    return lzma.LZMAFile(BytesIO(data)) if data.startswith(b"\xfd7zXZ") else None


def _list_entries(name: str, content: bytes, rest: tuple[Omission, ...]) -> ParsedFile:
    members, omissions = list[PackedFile](), list[Omission](rest)
    try:
        archive = tarfile.open(fileobj=BytesIO(content), mode="r:")  # noqa: SIM115  - its members are read later
        while (entry := archive.next()) is not None:
            path = clean_path(entry.name)
            if entry.isdir() or not path or is_system_file(path):
                continue
            if reason := _refuse(entry):
                omissions.append(Omission(path, reason))
            else:
                members.append(PackedFile(path, partial(_read_entry, archive, entry)))
            if len(members) + len(omissions) > _MAX_ENTRIES:
                raise DocumentTooLarge(f"The archive holds more than {_MAX_ENTRIES:,} files.")
        is_whole = content[archive.offset :][: tarfile.BLOCKSIZE] == bytes(tarfile.BLOCKSIZE)
    except _ERRORS as error:
        if not members:
            raise CorruptFile("The file is a damaged or incomplete archive.") from error
        is_whole = False
    omissions += [] if is_whole or rest else [Omission("the rest of the archive", _DAMAGED)]
    return list_members(name, members, omissions)


def _refuse(entry: tarfile.TarInfo) -> str:
    """Why an entry is no file that can be read, or an empty string."""
    if entry.issym() or entry.islnk():
        return "it is a link"
    if not entry.isfile():
        return "it is a device"
    return "it has holes, which could stand for any size" if entry.issparse() else ""


def _read_entry(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> bytes:
    try:
        file = archive.extractfile(entry)
        return file.read() if file else b""
    except _ERRORS as error:
        raise CorruptFile("It is damaged and cannot be unpacked.") from error
