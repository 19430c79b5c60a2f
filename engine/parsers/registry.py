"""Bytes and a name to passages: decide the family and let it read. Runs inside the worker process."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from engine.errors import Empty, TooLarge
from engine.parsers.dates import stated_date
from engine.parsers.detect import kind_of

if TYPE_CHECKING:
    from engine.parsers.base import Limits, Read

_MODULES = {
    "plain": "plain_text",
    "markdown": "markdown",
    "html": "html",
    "messages": "chat_export",
    "pdf": "pdf.pdf",
    "docx": "office.docx",
}


def read(name: str, data: bytes, limits: Limits) -> Read:
    """The file as passages. Raises one of the BadInput family."""
    kind = kind_of(name, data, limits)
    # A family is loaded when its first file comes: kreuzberg is not needed for plain text.
    found: Read = (
        import_module(f"engine.parsers.{_MODULES[kind]}").read(name, data)
        if kind in _MODULES
        else import_module("engine.parsers.office.office").read(name, data, kind)
    )
    if not found.passages:
        raise Empty(f"There is no text in {name}.")
    if sum(len(passage.text) for passage in found.passages) > limits.text:
        raise TooLarge(f"{name} holds more than {limits.text:,} characters of text.")
    if found.time or kind == "messages":
        return found
    return replace(found, time=stated_date(name, _head(found)) or found.stamp)


def _head(found: Read) -> str:
    """The title and the first passage: where a document states its date."""
    return f"{found.title}\n{found.passages[0].text}" if found.title else found.passages[0].text
