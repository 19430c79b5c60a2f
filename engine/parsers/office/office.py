"""Parse office formats other than DOCX, through kreuzberg: spreadsheets, slides, OpenDocument, RTF, EPUB, e-mail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.parsers.base import ParsedFile
from engine.parsers.office.rich_text import build_blocks, extract_document, modified_time
from engine.parsers.passages.sections import passages_by_section

if TYPE_CHECKING:
    from engine.models import Passage


def parse(name: str, data: bytes, mime: str) -> ParsedFile:
    """Passages by heading (a sheet of a workbook is one), else by paragraphs. Raises EncryptedFile or CorruptFile."""
    result = extract_document(data, mime)
    return ParsedFile(name, _passages(result), saved_at=modified_time(result.metadata))


def parse_mail(name: str, data: bytes, mime: str) -> ParsedFile:
    """An e-mail by paragraphs, dated by its own header. Raises EncryptedFile or CorruptFile."""
    result = extract_document(data, mime)
    return ParsedFile(name, _passages(result), modified_time(result.metadata))


def _passages(result: Any) -> tuple[Passage, ...]:
    return passages_by_section(build_blocks(result), "paragraph")
