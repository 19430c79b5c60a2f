"""Parse DOCX into sections by heading, with tables as rows, through kreuzberg."""

from __future__ import annotations

from engine.parsers.base import ParsedFile
from engine.parsers.office.rich_text import build_blocks, extract_document, modified_time
from engine.parsers.passages.sections import find_first_heading, passages_by_section


def parse_docx(name: str, data: bytes, mime: str) -> ParsedFile:
    """Passages by section; outside of headings labeled "paragraphs 3–7". Raises EncryptedFile or CorruptFile."""
    result = extract_document(data, mime)
    blocks = build_blocks(result)
    return ParsedFile(
        find_first_heading(blocks) or name,
        passages_by_section(blocks, "paragraph"),
        saved_at=modified_time(result.metadata),
    )
