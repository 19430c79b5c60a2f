"""Detect the format of a file by its first bytes, else by its extension; check archives before they are unpacked."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO
from pathlib import PurePath
from typing import TYPE_CHECKING

from engine.errors import (
    CorruptFile,
    DocumentTooLarge,
    EmptyDocument,
    EncryptedFile,
    NoTextFormat,
    UnsupportedFormat,
)
from engine.parsers.archives.iwork import is_iwork
from engine.parsers.archives.old_office import detect_kind, is_from_before_1997, is_locked
from engine.parsers.base import MIN_BOMB_SIZE, ZIP_ERRORS
from engine.parsers.encodings.text_formats import detect_text, find_text_format, is_text
from engine.parsers.registry import PARSERS, find_by_extension, find_by_mime, supported_formats_hint, zip_formats

if TYPE_CHECKING:
    from engine.parsers.base import ParserLimits

# Signatures of formats that hold no text to read.
_UNSUPPORTED_SIGNATURES = (
    (rb"RIFF|OggS|\x1aE\xdf\xa3|FLV\x01|(?s:.{4}ftyp)", "a sound or a film"),
    (rb"ID3|fLaC|\xff[\xfb\xf3\xf2\xf1\xf9]|#!AMR|MThd", "a sound recording"),
    (rb"8BPS|\xff\x0a|\0\0\x01\0[\x01-\xff]\0|gimp xcf", "a picture"),
    (rb"\x7fELF|MZ|\xca\xfe\xba\xbe|[\xce\xcf]\xfa\xed\xfe|\0asm", "a program"),
    (rb"wOF[F2]|OTTO|ttcf|\0\x01\0\0\0", "a font"),
    (rb"SQLite format 3\0", "a database"),
)
_UNSUPPORTED_ARCHIVES = (b"Rar!", b"7z\xbc\xaf\x27\x1c", b"\x28\xb5\x2f\xfd", b"MSCF")
_MAIL_STORE = b"!BDN"
_OLE_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# Sheets of Excel 2 to 4 and documents of Word for DOS and 1 to 2, which are no OLE files.
_OLDER_OFFICE = re.compile(rb"\x09[\0\x02\x04][\x04\x06]\0|[\x9b\xdb]\xa5|\x31\xbe\0\0")
_ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")
_HTML_PAGE = re.compile(
    rb"\A\s*+(?:<\?xml[^>]{0,200}+>\s*+)?(?:<!--(?>.{0,2000}?-->)\s*+){0,3}+<(?:!doctype\s++html|html)\b",
    re.IGNORECASE | re.DOTALL,
)
_HEAD_BYTES = 4096
_OLD_OFFICE, _SAVE_AGAIN = "The file is in an old Office format.", "Save it in a current format and add that."
# Many programs write a page or lines of cells and call them a file of Word or Excel, which opens them.
_SAVED_AS_TEXT = {"doc": "plain", "xls": "table"}
_OFFICE_PAGE = re.compile(rb"urn:schemas-microsoft-com:office|<table\b", re.IGNORECASE)
_LOGIN = re.compile(rb"type\s{0,9}=\s{0,9}[\"']?password", re.IGNORECASE)

_MAX_ARCHIVE_FILES = 10_000
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
        return _detect_zip(extension, data, limits)
    if data.startswith(_OLE_SIGNATURE):
        return _detect_ole_format(extension, data)
    if extension in _SAVED_AS_TEXT and _OLDER_OFFICE.match(data):
        raise UnsupportedFormat(_OLD_OFFICE, hint=_SAVE_AGAIN)
    if data.startswith(_UNSUPPORTED_ARCHIVES):
        raise UnsupportedFormat("Archives of this kind cannot be read.", hint="Pack its files as ZIP, and add that.")
    if data.startswith(_MAIL_STORE):
        raise UnsupportedFormat(
            "Data files of Outlook (PST, OST) cannot be read.",
            hint="Save the mails as .msg or .eml files, or convert the file into an mbox, and add that.",
        )
    for signature, content in _UNSUPPORTED_SIGNATURES:
        if re.match(signature, data) and not is_text(data):
            raise NoTextFormat(f"It is {content}.", hint=supported_formats_hint())
    return ""


def _detect_zip(extension: str, data: bytes, limits: ParserLimits) -> str:
    """The format of a ZIP archive, which is not one of a document with another extension."""
    detected = detect_zip_format(data, limits)
    expected = find_by_extension(extension)
    if detected == "zip" and expected and PARSERS[expected].is_binary and expected != "zip":
        raise CorruptFile(f"The file is not a {extension.upper()} file, or it is damaged.")
    return detected


def _detect_ole_format(extension: str, data: bytes) -> str:
    if _ENCRYPTED_STREAM in data or is_locked(data):
        raise EncryptedFile("The file is locked with a password.")
    file_format = detect_kind(data) or find_by_extension(extension)
    if not file_format or PARSERS[file_format].container != "ole" or is_from_before_1997(data):
        raise UnsupportedFormat(_OLD_OFFICE, hint=_SAVE_AGAIN)
    return file_format


def _detect_by_name(name: str, extension: str, data: bytes) -> str:
    file_format = find_by_extension(extension) or find_text_format(name)
    is_page = bool(_HTML_PAGE.match(data[:_HEAD_BYTES]))
    if (usual := _usual_text(extension, file_format)) and (found := _detect_saved_text(usual, data, is_page=is_page)):
        return found
    if file_format and PARSERS[file_format].is_binary:
        if is_page:
            raise CorruptFile(
                f"{name} is a web page, not a {extension.upper()} file. It may be a login page.",
                hint="Download the file again while you are logged in.",
            )
        raise CorruptFile(f"{name} is not a {extension.upper()} file, or it is damaged.")
    if is_page and file_format in {"", "plain"}:
        return "html"
    if file_format in {"", "plain"} and is_text(data):
        return detect_text(data) or "plain"
    if file_format:
        return file_format
    kind = f"Files with the extension .{extension}" if extension.isalnum() else "Binary files"
    raise NoTextFormat(f"{kind} cannot be read.", hint=supported_formats_hint())


def _usual_text(extension: str, file_format: str) -> str:
    """The format of text with an ending of old Office; other programs use the endings of templates for their own."""
    row = PARSERS.get(file_format)
    is_template = row is not None and row.container == "ole" and extension != row.extensions[0]
    return _SAVED_AS_TEXT.get(extension, "plain" if is_template else "")


def _detect_saved_text(usual: str, data: bytes, *, is_page: bool) -> str:
    """The format of a page or a text with an ending of old Office, or an empty string."""
    if is_page:
        return "html" if _OFFICE_PAGE.search(data) and not _LOGIN.search(data) else ""
    return (detect_text(data) or usual) if is_text(data) else ""


def detect_zip_format(data: bytes, limits: ParserLimits) -> str:
    """The format of a ZIP archive: a key of `PARSERS`.

    Raises DocumentTooLarge beyond the limits, CorruptFile, EncryptedFile, or UnsupportedFormat for a package of parts
    that are no files of their own.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            files = archive.infolist()
            _check_archive_limits(files, len(data), limits)
            file_format = _zip_format(archive, files)
            parts = [] if file_format == "zip" else files
    except ZIP_ERRORS as error:
        raise CorruptFile("The file is a damaged or incomplete archive.") from error
    if any(part.flag_bits & _ENCRYPTED_FLAG for part in parts):
        raise EncryptedFile("The archive is locked with a password.")
    for part in parts:
        _check_method(part)
    if not file_format:
        raise UnsupportedFormat("Packages of this kind cannot be read.", hint=supported_formats_hint())
    return file_format


def _check_archive_limits(files: list[zipfile.ZipInfo], size: int, limits: ParserLimits) -> None:
    unpacked = sum(file.file_size for file in files)
    if len(files) > _MAX_ARCHIVE_FILES or unpacked > limits.max_unpacked_size:
        raise DocumentTooLarge(f"The file would unpack to {unpacked // 2**20} MiB in {len(files)} parts.")
    if unpacked > max(MIN_BOMB_SIZE, limits.max_unpack_ratio * size):
        raise DocumentTooLarge(f"The file would unpack to {unpacked // max(size, 1)} times its size, like a zip bomb.")


def _zip_format(archive: zipfile.ZipFile, files: list[zipfile.ZipInfo]) -> str:
    names = {file.filename.replace("\\", "/") for file in files}
    if "mimetype" in names and archive.getinfo("mimetype").file_size <= _MAX_MIMETYPE_SIZE:
        return find_by_mime(_read_part(archive, archive.getinfo("mimetype")).decode("latin-1"))
    if is_iwork(names):
        return "iwork"
    types = next((file for file in files if file.filename.lower() == _CONTENT_TYPES), None)
    if types is None:
        return "zip"
    found = next((file_format for file_format, row in zip_formats() if _has_folder(names, row.zip_folder)), "")
    return found or (_format_by_types(_read_part(archive, types)) if types.file_size <= _MAX_TYPES_SIZE else "")


def _read_part(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    """The bytes of a part that names the format."""
    _check_method(part)
    return archive.read(part)


def _check_method(part: zipfile.ZipInfo) -> None:
    """Refuse a part before it is unpacked: a header of LZMA may claim gigabytes of memory, which are taken at once."""
    if part.compress_type not in _PERMITTED_METHODS:
        raise CorruptFile("The file is compressed by a method that its format does not permit.")


def _format_by_types(types: bytes) -> str:
    """The format of an OpenXML archive with unusual folders, by the type of its main part."""
    return next((kind for words, kind in _MAIN_TYPES.items() if any(word + b"." in types for word in words)), "")


def _has_folder(names: set[str], folder: str) -> bool:
    return bool(folder) and any(name.startswith(folder) for name in names)
