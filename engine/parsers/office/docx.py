"""DOCX: sections under headings, tables as rows, through kreuzberg."""

from __future__ import annotations

from engine.parsers.base import ParsedFile
from engine.parsers.office.rich_text import build_blocks, extract_document, modified_time
from engine.parsers.passages.sections import find_first_heading, passages_by_section

MIME = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def parse(name: str, data: bytes) -> ParsedFile:
    """Passages by section; outside of headings labelled "paragraphs 3–7". Raises Encrypted or Broken."""
    result = extract_document(data, MIME)
    found = build_blocks(result)
    return ParsedFile(
        find_first_heading(found) or name,
        passages_by_section(found, "paragraph"),
        saved_at=modified_time(result.metadata),
    )
