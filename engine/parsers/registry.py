"""Bytes and a name to passages: decide the family and let it read. Runs inside the worker process."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from engine.errors import DocumentTooLarge, EmptyDocument
from engine.parsers.dates import find_stated_date
from engine.parsers.detect import detect_format

if TYPE_CHECKING:
    from engine.parsers.base import ParsedFile, ParserLimits

_PARSER_MODULES = {
    "plain": "plain_text",
    "markdown": "markdown",
    "html": "html",
    "messages": "chat_export",
    "pdf": "pdf.pdf",
    "docx": "office.docx",
}


def parse_file(name: str, data: bytes, limits: ParserLimits) -> ParsedFile:
    """The file as passages. Raises one of the InvalidDocument family."""
    kind = detect_format(name, data, limits)
    # A family is loaded when its first file comes: kreuzberg is not needed for plain text.
    found: ParsedFile = (
        import_module(f"engine.parsers.{_PARSER_MODULES[kind]}").parse(name, data)
        if kind in _PARSER_MODULES
        else import_module("engine.parsers.office.office").parse(name, data, kind)
    )
    if not found.passages:
        raise EmptyDocument(f"There is no text in {name}.")
    if sum(len(passage.text) for passage in found.passages) > limits.max_text_length:
        raise DocumentTooLarge(f"{name} holds more than {limits.max_text_length:,} characters of text.")
    if found.time or kind == "messages":
        return found
    return replace(found, time=find_stated_date(name, _document_head(found)) or found.saved_at)


def _document_head(found: ParsedFile) -> str:
    """The title and the first passage: where a document states its date."""
    return f"{found.title}\n{found.passages[0].text}" if found.title else found.passages[0].text
