"""DOCX: sections under headings, tables as rows, through kreuzberg."""

from __future__ import annotations

from engine.parsers.base import Read
from engine.parsers.office.rich_text import blocks, extract, stamp
from engine.parsers.passages.sections import first_heading, sections

MIME = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def read(name: str, data: bytes) -> Read:
    """Passages by section; outside of headings labelled "paragraphs 3–7". Raises Encrypted or Broken."""
    result = extract(data, MIME)
    found = blocks(result)
    return Read(first_heading(found) or name, sections(found, "paragraph"), stamp=stamp(result.metadata))
