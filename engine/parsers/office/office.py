"""Further formats that kreuzberg knows: spreadsheets, slides, OpenDocument, RTF, EPUB, e-mail."""

from __future__ import annotations

from engine.parsers.base import Read
from engine.parsers.office.rich_text import blocks, extract, stamp
from engine.parsers.passages.sections import sections

_OPEN = "application/vnd.openxmlformats-officedocument."
MIMES = {
    "odt": "application/vnd.oasis.opendocument.text",
    "rtf": "application/rtf",
    "epub": "application/epub+zip",
    "xlsx": _OPEN + "spreadsheetml.sheet",
    "pptx": _OPEN + "presentationml.presentation",
    "doc": "application/msword",
    "xls": "application/vnd.ms-excel",
    "ppt": "application/vnd.ms-powerpoint",
    "eml": "message/rfc822",
    "msg": "application/vnd.ms-outlook",
    "ipynb": "application/x-ipynb+json",
}

_MAIL = frozenset({"eml", "msg"})  # they are dated by a header of the message itself


def read(name: str, data: bytes, kind: str) -> Read:
    """Passages by heading (a sheet of a workbook is one), else by paragraphs. Raises Encrypted or Broken."""
    result = extract(data, MIMES[kind])
    passages, time = sections(blocks(result), "paragraph"), stamp(result.metadata)
    return Read(name, passages, time) if kind in _MAIL else Read(name, passages, stamp=time)
