"""Zipped formats: looked into before any parser unfolds them. Pure."""

from __future__ import annotations

import zipfile
import zlib
from io import BytesIO
from lzma import LZMAError
from typing import TYPE_CHECKING

from engine.errors import CorruptFile, DocumentTooLarge, EncryptedFile, UnsupportedFormat

if TYPE_CHECKING:
    from engine.parsers.base import ParserLimits

_MAX_FILES = 10_000
# Below this even a bomb is a squib.
_MIN_BOMB_SIZE = 8 * 1024 * 1024
_ENCRYPTED = 0x1
_FORMAT_BY_FOLDER = {"word/": "docx", "ppt/": "pptx", "xl/": "xlsx"}
_FORMAT_BY_MIMETYPE = {b"application/vnd.oasis.opendocument.text": "odt", b"application/epub+zip": "epub"}
_MAX_MIMETYPE_SIZE = 100
# What zipfile raises over bytes that are not what they say: its own, and what each way of packing adds (bz2: OSError).
_DAMAGED_ERRORS = (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError, OSError, zlib.error, LZMAError)


def detect_zip_format(data: bytes, limits: ParserLimits) -> str:
    """Which zipped format it is: docx, pptx, xlsx, odt or epub.

    Raises DocumentTooLarge beyond the limits, Broken, Encrypted, or Unsupported for any other archive.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            files = archive.infolist()
            _check_limits(files, len(data), limits)
            kind = _zip_format(archive, files)
    except _DAMAGED_ERRORS as error:
        raise CorruptFile("The file is a damaged or cut-off archive.") from error
    if not kind:
        raise UnsupportedFormat(
            "The file is an archive of other files.", hint="Unpack it and add the files one by one."
        )
    return kind


def _check_limits(files: list[zipfile.ZipInfo], size: int, limits: ParserLimits) -> None:
    unpacked = sum(file.file_size for file in files)
    if len(files) > _MAX_FILES or unpacked > limits.max_unpacked_size:
        raise DocumentTooLarge(f"The file would unfold to {unpacked // 2**20} MiB in {len(files)} parts.")
    if unpacked > max(_MIN_BOMB_SIZE, limits.max_unpack_ratio * size):
        raise DocumentTooLarge(f"The file would unfold to {unpacked // max(size, 1)} times its size, like a zip bomb.")
    if any(file.flag_bits & _ENCRYPTED for file in files):
        raise EncryptedFile("The archive is locked with a password.")


def _zip_format(archive: zipfile.ZipFile, files: list[zipfile.ZipInfo]) -> str:
    names = {file.filename for file in files}
    if "mimetype" in names and archive.getinfo("mimetype").file_size <= _MAX_MIMETYPE_SIZE:
        return _FORMAT_BY_MIMETYPE.get(archive.read("mimetype").strip(), "")
    if "[Content_Types].xml" in names:
        return next(
            (kind for part, kind in _FORMAT_BY_FOLDER.items() if any(name.startswith(part) for name in names)), ""
        )
    return ""
