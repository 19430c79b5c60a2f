"""Table of file formats: the parse function, the extensions and the signature of each.

To add a format, add a row to `PARSERS` and a module with its parse function: detection, the hint of unsupported files
and the help texts read the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Literal

from engine.parsers.base import ParserLimits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.parsers.base import ParsedFile


@dataclass(frozen=True, slots=True)
class FileFormat:
    """One format that can be read.

    `label` names it in help texts. `parser` is `module:function`, imported with the first file of the format; it is
    called with the name and the bytes, and with `mime` if that is set (formats of the rich-text library). `signature`
    and `named_signature` are regular expressions for the first bytes, the latter for files with one of `extensions`.
    `container` is the archive a format is packed in. A ZIP is recognized by its `mimetype` entry, which holds `mime`,
    or by `zip_folder`; an OLE file (old Office) by its extension. A format with neither signature nor container is text
    and recognized by its extension or its first lines. `is_dated`: a date in the name or the first lines is the
    document's. `takes_limits`: the parser is called with the limits, too. `has_parts`: each part has an encoding.
    """

    label: str
    parser: str
    extensions: tuple[str, ...]
    mime: str = ""
    signature: bytes = b""
    named_signature: bytes = b""
    container: Literal["", "zip", "ole"] = ""
    zip_folder: str = ""
    is_dated: bool = True
    takes_limits: bool = False
    has_parts: bool = False

    @property
    def is_binary(self) -> bool:
        """Whether the bytes must prove the format: the extension alone does not."""
        return bool(self.signature or self.container)

    @property
    def is_text(self) -> bool:
        """Whether the whole file is text in one encoding."""
        return not (self.is_binary or self.has_parts)

    def parse(self, name: str, data: bytes, limits: ParserLimits | None = None) -> ParsedFile:
        """Parse a file of this format. Raises one of the InvalidDocument family."""
        function = resolve_name(self.parser)
        further = [self.mime] if self.mime else [limits or ParserLimits()] if self.takes_limits else []
        parsed: ParsedFile = function(name, data, *further)
        return parsed


_TEXT_EXTENSIONS = (
    *("txt", "text", "log", "json5", "toml", "ini", "cfg", "conf", "properties", "tex", "bib", "rst", "org", "adoc"),
    *("asciidoc", "diff", "patch", "css", "scss", "dockerfile", "makefile", "env", "out", "err", "nfo"),
)
_CODE_EXTENSIONS = (
    *("py", "pyi", "js", "mjs", "ts", "jsx", "tsx", "java", "kt", "scala", "c", "h", "cc", "cpp", "hpp", "cs", "go"),
    *("rs", "rb", "php", "pl", "lua", "r", "sql", "sh", "bash", "zsh", "ps1", "bat", "swift", "proto", "graphql", "tf"),
    *(
        "vue",
        "svelte",
        "dart",
        "ex",
        "exs",
        "erl",
        "hs",
        "clj",
        "fs",
        "groovy",
        "gradle",
        "jl",
        "zig",
        "nim",
        "m",
        "mm",
    ),
    *("cjs", "mts", "cts", "cxx", "hh", "hxx", "ino", "vb", "pas", "asm", "sol", "cmake", "fish", "psm1", "cmd", "awk"),
)
_FORMATS, _ARCHIVES, _PERSONAL = "engine.parsers.formats.", "engine.parsers.archives.", "engine.parsers.personal."
_DOCX = "engine.parsers.office:parse_docx"
_OFFICE = "engine.parsers.office:parse"
_ODT = _FORMATS + "opendocument.text:parse"
_SHEETS = _FORMATS + "spreadsheets:parse"
_OPENDOCUMENT = "application/vnd.oasis.opendocument."
_READ_LIKE = {"text-master": "text", "text-web": "text", "graphics": "presentation"}
_OPENXML = "application/vnd.openxmlformats-officedocument."

_TAR = rb"\x1f\x8b|BZh[1-9]|\xfd7zXZ|(?s:.{257})ustar"

PARSERS: dict[str, FileFormat] = {
    "plain": FileFormat("text", "engine.parsers.plain_text:parse", _TEXT_EXTENSIONS),
    "markdown": FileFormat("Markdown", "engine.parsers.markdown:parse", ("md", "markdown", "mdown", "mkd", "mdx")),
    "markdown-pages": FileFormat("Markdown", "engine.parsers.converted.pages:parse", ("mdpages",)),
    "html": FileFormat("HTML", "engine.parsers.html:parse", ("html", "htm", "xhtml", "shtml")),
    "pdf": FileFormat(
        "PDF",
        "engine.parsers.formats.pdf.parser:parse",
        ("pdf",),
        "application/pdf",
        signature=rb"\s{0,1019}+%PDF-",
        named_signature=rb"(?s:.){0,1019}?%PDF-",
    ),
    "docx": FileFormat(
        "Word",
        _DOCX,
        ("docx", "docm", "dotx", "dotm"),
        _OPENXML + "wordprocessingml.document",
        container="zip",
        zip_folder="word/",
    ),
    "doc": FileFormat("Word", _OFFICE, ("doc", "dot"), "application/msword", container="ole"),
    "xlsx": FileFormat(
        "Excel",
        _SHEETS,
        ("xlsx", "xlsm", "xltx", "xltm", "xlsb"),
        _OPENXML + "spreadsheetml.sheet",
        container="zip",
        zip_folder="xl/",
    ),
    "xls": FileFormat("Excel", _SHEETS, ("xls", "xlt"), "application/vnd.ms-excel", container="ole"),
    "pptx": FileFormat(
        "PowerPoint",
        _FORMATS + "slides:parse_pptx",
        ("pptx", "pptm", "ppsx", "ppsm", "potx", "potm"),
        _OPENXML + "presentationml.presentation",
        container="zip",
        zip_folder="ppt/",
    ),
    "ppt": FileFormat(
        "PowerPoint",
        _FORMATS + "old_office.slides:parse",
        ("ppt", "pps", "pot"),
        "application/vnd.ms-powerpoint",
        container="ole",
    ),
    "odt": FileFormat("OpenDocument", _ODT, ("odt", "ott", "odm", "oth"), _OPENDOCUMENT + "text", container="zip"),
    "ods": FileFormat("OpenDocument", _SHEETS, ("ods", "ots"), _OPENDOCUMENT + "spreadsheet", container="zip"),
    "odp": FileFormat(
        "OpenDocument",
        _FORMATS + "slides:parse_odp",
        ("odp", "otp", "odg", "otg"),
        _OPENDOCUMENT + "presentation",
        container="zip",
    ),
    "flat-opendocument": FileFormat(
        "OpenDocument", _FORMATS + "opendocument.flat:parse", ("fodt", "fods", "fodp", "fodg"), has_parts=True
    ),
    "rtf": FileFormat(
        "RTF",
        _FORMATS + "rich_text.rtf:parse",
        ("rtf",),
        "application/rtf",
        signature=rb"\{\\rtf",
        named_signature=rb"\{\\",
    ),
    "epub": FileFormat("EPUB", _FORMATS + "epub:parse", ("epub",), "application/epub+zip", container="zip"),
    "eml": FileFormat("e-mail", _FORMATS + "mail:parse_eml", ("eml",), has_parts=True),
    "emlx": FileFormat("e-mail", _FORMATS + "mail:parse_emlx", ("emlx",), has_parts=True),
    "msg": FileFormat("e-mail", _FORMATS + "mail:parse_msg", ("msg",), "application/vnd.ms-outlook", container="ole"),
    "mbox": FileFormat("e-mail", _ARCHIVES + "mailboxes:parse", ("mbox", "mbx"), is_dated=False, has_parts=True),
    "mht": FileFormat("HTML", _ARCHIVES + "web_archives:parse", ("mht", "mhtml"), has_parts=True),
    "calendar": FileFormat("calendars", _PERSONAL + "calendars:parse", ("ics", "ical", "ifb", "vcs"), is_dated=False),
    "contacts": FileFormat("contacts", _PERSONAL + "contacts:parse", ("vcf", "vcard"), is_dated=False),
    "zip": FileFormat("archives", _ARCHIVES + "zip_files:parse", ("zip",), container="zip", is_dated=False),
    "tar": FileFormat(
        "archives",
        _ARCHIVES + "tar_files:parse",
        ("tar", "tgz", "tbz2", "txz", "gz", "bz2", "xz"),
        signature=_TAR,
        named_signature=_TAR + rb"|(?s:[^\0].{99})[0-7 \0]{56}",  # old ones have nothing but numbers
        is_dated=False,
        takes_limits=True,
    ),
    "iwork": FileFormat("Pages, Numbers and Keynote by their previews", _ARCHIVES + "iwork:parse", (), container="zip"),
    "ipynb": FileFormat("Jupyter notebooks", _FORMATS + "notebooks:parse", ("ipynb",)),
    "table": FileFormat("CSV", _FORMATS + "delimited:parse", ("csv", "tsv", "tab"), is_dated=False),
    "json": FileFormat("JSON", _FORMATS + "structured_data:parse_json", ("json", "geojson"), is_dated=False),
    "yaml": FileFormat("YAML", _FORMATS + "structured_data:parse_yaml", ("yaml", "yml"), is_dated=False),
    "xml": FileFormat("XML", _FORMATS + "xml_text:parse", ("xml", "rss", "atom", "opml", "xsd", "xsl", "xslt", "svg")),
    "subtitles": FileFormat("subtitles", _FORMATS + "subtitles:parse", ("srt", "vtt")),
    "code": FileFormat("source code", _FORMATS + "source_code:parse", _CODE_EXTENSIONS),
    "picture": FileFormat(
        "pictures",
        "engine.parsers.scans.pictures:parse",
        ("png", "jpg", "jpeg", "gif", "tif", "tiff", "webp"),
        signature=rb"\x89PNG|\xff\xd8\xff|GIF8|II\*\0|MM\0\*|(?s:RIFF.{4}WEBP)",
    ),
    "messages": FileFormat(
        "chat messages as JSON Lines", "engine.parsers.chat_export:parse", ("jsonl", "ndjson"), is_dated=False
    ),
}


def find_by_extension(extension: str) -> str:
    """The format of a lower-case extension without its dot, or an empty string."""
    return next((name for name, row in PARSERS.items() if extension in row.extensions), "")


def find_by_mime(mime: str) -> str:
    """The format of an archive that says this type, or an empty string; templates are read like documents."""
    kind = mime.strip().removesuffix("-template")
    usual = _OPENDOCUMENT + _READ_LIKE.get(kind.removeprefix(_OPENDOCUMENT), kind.removeprefix(_OPENDOCUMENT))
    wanted = usual if kind.startswith(_OPENDOCUMENT) else kind
    return next((name for name, row in zip_formats() if row.mime and row.mime == wanted), "")


def zip_formats() -> Iterable[tuple[str, FileFormat]]:
    """The formats that are ZIP archives, by name."""
    return ((name, row) for name, row in PARSERS.items() if row.container == "zip")


def describe_formats() -> str:
    """The formats in words, for help texts: "text, Markdown, … and chat messages as JSON Lines"."""
    *labels, last = dict.fromkeys(row.label for row in PARSERS.values())
    return f"{', '.join(labels)} and {last}"


def supported_formats_hint() -> str:
    """The hint of an UnsupportedFormat."""
    return f"Supported: {describe_formats()}."
