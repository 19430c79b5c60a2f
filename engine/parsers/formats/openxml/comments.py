"""Comments of OpenXML files with their authors, of older and newer kinds. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.parsers.formats.openxml.parts import run_text
from engine.parsers.formats.xml_tree import attribute, find_all, local_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from engine.parsers.formats.openxml.parts import PartReader

_SLIDE_AUTHORS = ("ppt/commentAuthors.xml", "ppt/authors.xml")
_PERSONS = "xl/persons/person.xml"


def slide_comments(parts: PartReader, root: Element) -> Iterator[str]:
    """The comments on a slide, and the replies to them."""
    authors = _read_names(parts, _SLIDE_AUTHORS, "id", "name")
    for comment in root.iter():
        if local_name(comment) in {"cm", "reply"}:
            texts = [_own_text(child) for child in comment if local_name(child) in {"text", "txBody"}]
            if text := " ".join(filter(None, texts)):
                yield _format_comment(authors.get(attribute(comment, "authorId"), ""), text)


def cell_comments(root: Element) -> Iterator[tuple[str, str]]:
    """The notes of cells by the cell. Newer comments are stored a second time, with a word of warning: left out."""
    authors = ["".join(element.itertext()).strip() for element in find_all(root, "author")]
    for comment in find_all(root, "comment"):
        at = attribute(comment, "authorId")
        author = authors[int(at)] if at.isdecimal() and int(at) < len(authors) else ""
        text = run_text(comment)
        if text and not author.startswith("tc="):
            yield attribute(comment, "ref"), _format_comment(author, text.removeprefix(f"{author}:").strip())


def threaded_comments(parts: PartReader, root: Element) -> Iterator[tuple[str, str]]:
    """The comments of newer workbooks by the cell."""
    persons = _read_names(parts, (_PERSONS,), "id", "displayName")
    for comment in find_all(root, "threadedComment"):
        text = " ".join("".join(element.itertext()) for element in find_all(comment, "text")).strip()
        if text:
            yield attribute(comment, "ref"), _format_comment(persons.get(attribute(comment, "personId"), ""), text)


def _read_names(parts: PartReader, names: tuple[str, ...], key: str, value: str) -> dict[str, str]:
    roots = [parts.read(name, name) for name in names if name in parts.archive.names]
    elements = (element for root in roots if root is not None for element in root.iter())
    return {attribute(element, key): attribute(element, value) for element in elements if attribute(element, value)}


def _own_text(element: Element) -> str:
    return run_text(element) or " ".join((element.text or "").split())


def _format_comment(author: str, text: str) -> str:
    return f"Comment by {author}: {text}" if author else f"Comment: {text}"
