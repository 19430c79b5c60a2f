"""Which family reads a file: its bytes have the first word, its name the second. Pure."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from engine.errors import CorruptFile, EmptyDocument, EncryptedFile, UnsupportedFormat
from engine.parsers.archives import detect_zip_format

if TYPE_CHECKING:
    from engine.parsers.base import ParserLimits

_TEXT = frozenset(
    {"txt", "text", "log", "csv", "tsv", "json", "json5", "xml", "yaml", "yml", "toml", "ini", "cfg", "conf"}
    | {"properties", "tex", "bib", "rst", "org", "adoc", "asciidoc", "srt", "vtt", "ics", "diff", "patch"}
    | {"py", "pyi", "js", "mjs", "ts", "jsx", "tsx", "java", "kt", "scala", "c", "h", "cc", "cpp", "hpp", "cs"}
    | {"go", "rs", "rb", "php", "pl", "lua", "r", "sql", "sh", "bash", "zsh", "ps1", "bat", "swift", "css", "scss"}
    | {"proto", "graphql", "tf", "dockerfile", "makefile"}
)
_MARKDOWN = frozenset({"md", "markdown", "mdown", "mkd", "mdx"})
_HTML = frozenset({"html", "htm", "xhtml", "shtml"})
_MESSAGES = frozenset({"jsonl", "ndjson"})
_ZIPPED = frozenset({"docx", "pptx", "xlsx", "odt", "epub"})
_OLE = frozenset({"doc", "xls", "ppt", "msg"})
_OTHER = frozenset({"eml", "ipynb"})
_DOCUMENTS = _ZIPPED | _OLE | {"pdf", "rtf"}
_FORMAT_BY_EXTENSION = dict.fromkeys(_TEXT, "plain") | {
    ending: family
    for family, endings in (("markdown", _MARKDOWN), ("html", _HTML), ("messages", _MESSAGES))
    for ending in endings
}
# Their likes: pictures, sound, film, archives, programs, databases.
_MAGIC = (
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"II*\0", "a picture"),
    (b"MM\0*", "a picture"),
    (b"RIFF", "sound or film"),
    (b"ID3", "sound"),
    (b"OggS", "sound or film"),
    (b"\x1f\x8b", "an archive"),
    (b"BZh", "an archive"),
    (b"7z\xbc\xaf", "an archive"),
    (b"Rar!", "an archive"),
    (b"\xfd7zXZ", "an archive"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\0", "a database"),
)
_OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")
_HTML_PAGE = re.compile(
    rb"\A\s*+(?:<\?xml[^>]{0,200}+>\s*+)?(?:<!--(?>.{0,2000}?-->)\s*+){0,3}+<(?:!doctype\s++html|html)\b",
    re.IGNORECASE | re.DOTALL,
)
_HEAD = 4096
_PDF_HEAD = 1024


def detect_format(name: str, data: bytes, limits: ParserLimits) -> str:
    """plain, markdown, html, messages, pdf, docx, or one of the office kinds.

    Raises Empty, Encrypted, Broken (the bytes are not what the name promises), DocumentTooLarge or Unsupported.
    """
    if not data.strip(b"\0 \t\r\n\xef\xbb\xbf\xff\xfe"):
        raise EmptyDocument(f"{name} is empty.", hint="Check that the file was saved or uploaded completely.")
    ending = PurePath(name.lower()).suffix[1:]
    return _detect_by_bytes(ending, data, limits) or _detect_by_name(name, ending, data)


def _detect_by_bytes(ending: str, data: bytes, limits: ParserLimits) -> str:
    """The kind that the first bytes prove, or nothing."""
    if b"%PDF-" in data[:_PDF_HEAD] and (ending == "pdf" or data.lstrip()[:5] == b"%PDF-"):
        return "pdf"
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return detect_zip_format(data, limits)
    if data.startswith(b"{\\rtf" if ending != "rtf" else b"{\\"):
        return "rtf"
    if data.startswith(_OLE_MAGIC):
        return _legacy_office_format(ending, data)
    for magic, what in _MAGIC:
        if data.startswith(magic):
            raise UnsupportedFormat(f"The file is {what}.")
    return ""


def _legacy_office_format(ending: str, data: bytes) -> str:
    if _ENCRYPTED_STREAM in data:
        raise EncryptedFile("The file is locked with a password.")
    if ending not in _OLE:
        raise UnsupportedFormat(
            "The file is in an old Office format.", hint="Save it in a current format and add that."
        )
    return ending


def _detect_by_name(name: str, ending: str, data: bytes) -> str:
    page = bool(_HTML_PAGE.match(data[:_HEAD]))
    if ending in _DOCUMENTS:
        if page:
            raise CorruptFile(
                f"{name} is a web page, not a {ending.upper()} file: perhaps the page that asked for a login.",
                hint="Download the file again while you are logged in.",
            )
        raise CorruptFile(f"{name} is not a {ending.upper()} file, or it is damaged.")
    if ending in _OTHER:
        return ending
    if page and ending not in _MARKDOWN | _MESSAGES:
        return "html"
    if ending in _FORMAT_BY_EXTENSION:
        return _FORMAT_BY_EXTENSION[ending]
    if not ending or not ending.isalnum():
        return "plain"
    raise UnsupportedFormat(f"Files of the kind .{ending} cannot be read.")
