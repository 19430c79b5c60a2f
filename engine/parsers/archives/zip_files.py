"""Open ZIP archives: each file within is a file of its own, unpacked when its turn comes."""

from __future__ import annotations

import zipfile
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING

from engine.errors import CorruptFile
from engine.parsers.archives.members import LOCKED, clean_path, is_system_file, list_members
from engine.parsers.base import ZIP_ERRORS, Omission, PackedFile
from engine.parsers.encodings.code_pages import detect_code_page

if TYPE_CHECKING:
    from engine.parsers.base import ParsedFile

# A header of LZMA may claim gigabytes of memory.
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2})
UNKNOWN_METHOD = "it is compressed by a method that is not read"
_LOCKED_FLAG, _UTF8_FLAG = 0x1, 0x800


def parse(name: str, data: bytes) -> ParsedFile:
    """The files of an archive whose limits were checked. Raises CorruptFile, EncryptedFile and EmptyDocument."""
    try:
        archive = zipfile.ZipFile(BytesIO(data))
        entries = [member for member in archive.infolist() if not member.is_dir()]
    except ZIP_ERRORS as error:
        raise CorruptFile("The file is a damaged or incomplete archive.") from error
    members, omissions = list[PackedFile](), list[Omission]()
    for number, entry in enumerate(entries, 1):
        path = clean_path(_decode_name(entry)) or f"file {number}"
        if is_system_file(path):
            continue
        if entry.flag_bits & _LOCKED_FLAG:
            omissions.append(Omission(path, LOCKED))
        elif entry.compress_type not in _METHODS:
            omissions.append(Omission(path, UNKNOWN_METHOD))
        else:
            members.append(PackedFile(path, partial(_unpack, archive, entry)))
    return list_members(name, members, omissions)


def _unpack(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    try:
        return archive.read(entry)
    except ZIP_ERRORS as error:
        raise CorruptFile("It is damaged and cannot be unpacked.") from error


def _decode_name(entry: zipfile.ZipInfo) -> str:
    """The name in the code page of the system that packed it; the library takes all for that of the first PCs."""
    if entry.flag_bits & _UTF8_FLAG or entry.orig_filename.isascii():
        return entry.orig_filename
    try:
        packed = entry.orig_filename.encode("cp437")
        return packed.decode("utf-8")
    except UnicodeEncodeError:
        return entry.orig_filename
    except UnicodeDecodeError:
        return packed.decode(detect_code_page(packed).name, "replace").replace("\ufffd", "?")
