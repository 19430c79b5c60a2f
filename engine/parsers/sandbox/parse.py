"""Parse one file: detect its format, call the parser, check the result. Runs inside the worker process."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.errors import DocumentTooLarge, EmptyDocument
from engine.parsers.dates import find_stated_date
from engine.parsers.detection.detect import detect_format
from engine.parsers.registry import PARSERS

if TYPE_CHECKING:
    from engine.parsers.base import ParsedFile, ParserLimits


def parse_file(name: str, data: bytes, limits: ParserLimits) -> ParsedFile:
    """The file as passages, at least one. Raises one of the InvalidDocument family."""
    file_format = PARSERS[detect_format(name, data, limits)]
    parsed = file_format.parse(name, data)
    if not parsed.passages:
        raise EmptyDocument(f"There is no text in {name}.")
    if sum(len(passage.text) for passage in parsed.passages) > limits.max_text_length:
        raise DocumentTooLarge(f"{name} holds more than {limits.max_text_length:,} characters of text.")
    if parsed.time or not file_format.is_dated:
        return parsed
    return replace(parsed, time=find_stated_date(name, _document_head(parsed)) or parsed.saved_at)


def _document_head(parsed: ParsedFile) -> str:
    """The title and the first passage: where a document states its date."""
    return f"{parsed.title}\n{parsed.passages[0].text}" if parsed.title else parsed.passages[0].text
