"""Zipped formats: looked into before any parser unfolds them. Pure."""

from __future__ import annotations

import zipfile
import zlib
from io import BytesIO
from lzma import LZMAError
from typing import TYPE_CHECKING

from engine.errors import Broken, Encrypted, TooLarge, Unsupported

if TYPE_CHECKING:
    from engine.parsers.base import Limits

_MOST_FILES = 10_000
# Below this even a bomb is a squib.
_HARMLESS = 8 * 1024 * 1024
_ENCRYPTED = 0x1
_PARTS = {"word/": "docx", "ppt/": "pptx", "xl/": "xlsx"}
_MIMETYPES = {b"application/vnd.oasis.opendocument.text": "odt", b"application/epub+zip": "epub"}
_MIMETYPE_SIZE = 100
# What zipfile raises over bytes that are not what they say: its own, and what each way of packing adds (bz2: OSError).
_DAMAGED = (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError, OSError, zlib.error, LZMAError)


def kind_of_archive(data: bytes, limits: Limits) -> str:
    """Which zipped format it is: docx, pptx, xlsx, odt or epub.

    Raises TooLarge for what would unfold beyond the limits, Broken, Encrypted, or Unsupported for any other archive.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            files = archive.infolist()
            _guard(files, len(data), limits)
            kind = _kind(archive, files)
    except _DAMAGED as error:
        raise Broken("The file is a damaged or cut-off archive.") from error
    if not kind:
        raise Unsupported("The file is an archive of other files.", hint="Unpack it and add the files one by one.")
    return kind


def _guard(files: list[zipfile.ZipInfo], size: int, limits: Limits) -> None:
    unpacked = sum(file.file_size for file in files)
    if len(files) > _MOST_FILES or unpacked > limits.unpacked:
        raise TooLarge(f"The file would unfold to {unpacked // 2**20} MiB in {len(files)} parts.")
    if unpacked > max(_HARMLESS, limits.ratio * size):
        raise TooLarge(f"The file would unfold to {unpacked // max(size, 1)} times its size, like a zip bomb.")
    if any(file.flag_bits & _ENCRYPTED for file in files):
        raise Encrypted("The archive is locked with a password.")


def _kind(archive: zipfile.ZipFile, files: list[zipfile.ZipInfo]) -> str:
    names = {file.filename for file in files}
    if "mimetype" in names and archive.getinfo("mimetype").file_size <= _MIMETYPE_SIZE:
        return _MIMETYPES.get(archive.read("mimetype").strip(), "")
    if "[Content_Types].xml" in names:
        return next((kind for part, kind in _PARTS.items() if any(name.startswith(part) for name in names)), "")
    return ""
