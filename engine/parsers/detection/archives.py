"""ZIP-based formats: check the limits and find the format before any parser unpacks the file. Pure."""

from __future__ import annotations

import zipfile
import zlib
from io import BytesIO
from lzma import LZMAError
from typing import TYPE_CHECKING

from engine.errors import CorruptFile, DocumentTooLarge, EncryptedFile, UnsupportedFormat
from engine.parsers.registry import zip_formats

if TYPE_CHECKING:
    from engine.parsers.base import ParserLimits

_MAX_FILES = 10_000
# A file that unpacks to less than this is never treated as a zip bomb.
_MIN_BOMB_SIZE = 8 * 1024 * 1024
_ENCRYPTED = 0x1
_MAX_MIMETYPE_SIZE = 100
# Errors of zipfile on damaged archives: its own, and those of each compression method (bz2: OSError).
_DAMAGED_ERRORS = (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError, OSError, zlib.error, LZMAError)


def detect_zip_format(data: bytes, limits: ParserLimits) -> str:
    """The format of a ZIP archive: a key of `PARSERS`.

    Raises DocumentTooLarge beyond the limits, CorruptFile, EncryptedFile, or UnsupportedFormat for any other archive.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            files = archive.infolist()
            _check_limits(files, len(data), limits)
            file_format = _zip_format(archive, files)
    except _DAMAGED_ERRORS as error:
        raise CorruptFile("The file is a damaged or incomplete archive.") from error
    if not file_format:
        raise UnsupportedFormat(
            "The file is an archive of other files.", hint="Unpack it and add the files one by one."
        )
    return file_format


def _check_limits(files: list[zipfile.ZipInfo], size: int, limits: ParserLimits) -> None:
    unpacked = sum(file.file_size for file in files)
    if len(files) > _MAX_FILES or unpacked > limits.max_unpacked_size:
        raise DocumentTooLarge(f"The file would unpack to {unpacked // 2**20} MiB in {len(files)} parts.")
    if unpacked > max(_MIN_BOMB_SIZE, limits.max_unpack_ratio * size):
        raise DocumentTooLarge(f"The file would unpack to {unpacked // max(size, 1)} times its size, like a zip bomb.")
    if any(file.flag_bits & _ENCRYPTED for file in files):
        raise EncryptedFile("The archive is locked with a password.")


def _zip_format(archive: zipfile.ZipFile, files: list[zipfile.ZipInfo]) -> str:
    names = {file.filename for file in files}
    if "mimetype" in names and archive.getinfo("mimetype").file_size <= _MAX_MIMETYPE_SIZE:
        mime = archive.read("mimetype").strip()
        return next((file_format for file_format, row in zip_formats() if row.mime.encode() == mime), "")
    if "[Content_Types].xml" not in names:
        return ""
    return next((file_format for file_format, row in zip_formats() if _has_folder(names, row.zip_folder)), "")


def _has_folder(names: set[str], folder: str) -> bool:
    return bool(folder) and any(name.startswith(folder) for name in names)
