"""Further formats that kreuzberg knows: spreadsheets, slides, OpenDocument, RTF, EPUB, e-mail."""

from __future__ import annotations

from engine.parsers.base import ParsedFile
from engine.parsers.office.rich_text import build_blocks, extract_document, modified_time
from engine.parsers.passages.sections import passages_by_section

_OPENXML = "application/vnd.openxmlformats-officedocument."
MIME_BY_FORMAT = {
    "odt": "application/vnd.oasis.opendocument.text",
    "rtf": "application/rtf",
    "epub": "application/epub+zip",
    "xlsx": _OPENXML + "spreadsheetml.sheet",
    "pptx": _OPENXML + "presentationml.presentation",
    "doc": "application/msword",
    "xls": "application/vnd.ms-excel",
    "ppt": "application/vnd.ms-powerpoint",
    "eml": "message/rfc822",
    "msg": "application/vnd.ms-outlook",
    "ipynb": "application/x-ipynb+json",
}

_MAIL = frozenset({"eml", "msg"})  # they are dated by a header of the message itself


def parse(name: str, data: bytes, kind: str) -> ParsedFile:
    """Passages by heading (a sheet of a workbook is one), else by paragraphs. Raises Encrypted or Broken."""
    result = extract_document(data, MIME_BY_FORMAT[kind])
    passages, time = passages_by_section(build_blocks(result), "paragraph"), modified_time(result.metadata)
    return ParsedFile(name, passages, time) if kind in _MAIL else ParsedFile(name, passages, saved_at=time)
