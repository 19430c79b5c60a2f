"""Detect the format of a file by its first bytes, else by its extension; check archives before they are unpacked."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO
from pathlib import PurePath
from typing import TYPE_CHECKING

from engine.errors import CorruptFile, DocumentTooLarge, EmptyDocument, EncryptedFile, UnsupportedFormat
from engine.parsers.base import ZIP_ERRORS
from engine.parsers.formats.old_office.locks import is_locked
from engine.parsers.registry import PARSERS, find_by_extension, supported_formats_hint, zip_formats

if TYPE_CHECKING:
    from engine.parsers.base import ParserLimits

# Signatures of formats that hold no text to read.
_UNSUPPORTED_SIGNATURES = (
    (b"RIFF", "audio or video"),
    (b"ID3", "audio"),
    (b"OggS", "audio or video"),
    (b"\x1f\x8b", "an archive"),
    (b"BZh", "an archive"),
    (b"7z\xbc\xaf", "an archive"),
    (b"Rar!", "an archive"),
    (b"\xfd7zXZ", "an archive"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\0", "a database"),
)
_OLE_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")
_HTML_PAGE = re.compile(
    rb"\A\s*+(?:<\?xml[^>]{0,200}+>\s*+)?(?:<!--(?>.{0,2000}?-->)\s*+){0,3}+<(?:!doctype\s++html|html)\b",
    re.IGNORECASE | re.DOTALL,
)
_HEAD_BYTES = 4096

_MAX_ARCHIVE_FILES = 10_000
# A file that unpacks to less than this is never treated as a zip bomb.
_MIN_BOMB_SIZE = 8 * 1024 * 1024
_ENCRYPTED_FLAG = 0x1
# What the formats permit. A few bytes of the others make their unpackers take gigabytes.
_PERMITTED_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_MAX_MIMETYPE_SIZE = 100
_CONTENT_TYPES, _MAX_TYPES_SIZE = "[content_types].xml", 2**20
_MAIN_TYPES = {
    (b"spreadsheetml.sheet", b"ms-excel.sheet"): "xlsx",
    (b"wordprocessingml.document", b"ms-word.document"): "docx",
    (b"presentationml.presentation", b"ms-powerpoint.presentation"): "pptx",
}


def detect_format(name: str, data: bytes, limits: ParserLimits) -> str:
    """The format of a file: a key of `PARSERS`.

    Raises EmptyDocument, EncryptedFile, CorruptFile (the bytes do not match the extension), DocumentTooLarge or
    UnsupportedFormat.
    """
    if not data.strip(b"\0 \t\r\n\xef\xbb\xbf\xff\xfe"):
        raise EmptyDocument(f"{name} is empty.", hint="Check that the file was saved or uploaded completely.")
    extension = PurePath(name.lower()).suffix[1:]
    return _detect_by_bytes(extension, data, limits) or _detect_by_name(name, extension, data)


def _detect_by_bytes(extension: str, data: bytes, limits: ParserLimits) -> str:
    """The format that the first bytes prove, or an empty string."""
    for file_format, row in PARSERS.items():
        loose = row.named_signature if extension in row.extensions else b""
        if (signature := loose or row.signature) and re.match(signature, data):
            return file_format
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return detect_zip_format(data, limits)
    if data.startswith(_OLE_SIGNATURE):
        return _detect_ole_format(extension, data)
    for unsupported, content in _UNSUPPORTED_SIGNATURES:
        if data.startswith(unsupported):
            raise UnsupportedFormat(f"The file is {content}.", hint=supported_formats_hint())
    return ""


def _detect_ole_format(extension: str, data: bytes) -> str:
    if _ENCRYPTED_STREAM in data or is_locked(data):
        raise EncryptedFile("The file is locked with a password.")
    file_format = find_by_extension(extension)
    if not file_format or PARSERS[file_format].container != "ole":
        raise UnsupportedFormat(
            "The file is in an old Office format.", hint="Save it in a current format and add that."
        )
    return file_format


def _detect_by_name(name: str, extension: str, data: bytes) -> str:
    file_format = find_by_extension(extension)
    is_page = bool(_HTML_PAGE.match(data[:_HEAD_BYTES]))
    if file_format and PARSERS[file_format].is_binary:
        if is_page:
            raise CorruptFile(
                f"{name} is a web page, not a {extension.upper()} file. It may be a login page.",
                hint="Download the file again while you are logged in.",
            )
        raise CorruptFile(f"{name} is not a {extension.upper()} file, or it is damaged.")
    if is_page and file_format in {"", "plain"}:
        return "html"
    if file_format:
        return file_format
    if not extension or not extension.isalnum():
        return "plain"
    raise UnsupportedFormat(f"Files with the extension .{extension} cannot be read.", hint=supported_formats_hint())


def detect_zip_format(data: bytes, limits: ParserLimits) -> str:
    """The format of a ZIP archive: a key of `PARSERS`.

    Raises DocumentTooLarge beyond the limits, CorruptFile, EncryptedFile, or UnsupportedFormat for any other archive.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            files = archive.infolist()
            _check_archive_limits(files, len(data), limits)
            file_format = _zip_format(archive, files)
    except ZIP_ERRORS as error:
        raise CorruptFile("The file is a damaged or incomplete archive.") from error
    if not file_format:
        raise UnsupportedFormat(
            "The file is an archive of other files.", hint="Unpack it and add the files one by one."
        )
    return file_format


def _check_archive_limits(files: list[zipfile.ZipInfo], size: int, limits: ParserLimits) -> None:
    unpacked = sum(file.file_size for file in files)
    if len(files) > _MAX_ARCHIVE_FILES or unpacked > limits.max_unpacked_size:
        raise DocumentTooLarge(f"The file would unpack to {unpacked // 2**20} MiB in {len(files)} parts.")
    if unpacked > max(_MIN_BOMB_SIZE, limits.max_unpack_ratio * size):
        raise DocumentTooLarge(f"The file would unpack to {unpacked // max(size, 1)} times its size, like a zip bomb.")
    if any(file.flag_bits & _ENCRYPTED_FLAG for file in files):
        raise EncryptedFile("The archive is locked with a password.")
    if any(file.compress_type not in _PERMITTED_METHODS for file in files):
        raise CorruptFile("The file is compressed by a method that its format does not permit.")


def _zip_format(archive: zipfile.ZipFile, files: list[zipfile.ZipInfo]) -> str:
    names = {file.filename.replace("\\", "/") for file in files}
    if "mimetype" in names and archive.getinfo("mimetype").file_size <= _MAX_MIMETYPE_SIZE:
        mime = archive.read("mimetype").strip()
        return next((file_format for file_format, row in zip_formats() if row.mime.encode() == mime), "")
    types = next((file for file in files if file.filename.lower() == _CONTENT_TYPES), None)
    if types is None:
        return ""
    found = next((file_format for file_format, row in zip_formats() if _has_folder(names, row.zip_folder)), "")
    return found or (_format_by_types(archive.read(types)) if types.file_size <= _MAX_TYPES_SIZE else "")


def _format_by_types(types: bytes) -> str:
    """The format of an OpenXML archive with unusual folders, by the type of its main part."""
    return next((kind for words, kind in _MAIN_TYPES.items() if any(each + b"." in types for each in words)), "")


def _has_folder(names: set[str], folder: str) -> bool:
    return bool(folder) and any(name.startswith(folder) for name in names)
