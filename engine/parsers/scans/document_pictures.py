"""Find the pictures of text documents (DOCX, ODT), with the headings above them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import InvalidDocument
from engine.parsers.base import EmbeddedPicture
from engine.parsers.formats.xml_tree import XmlArchive, attribute, find_all, local_name, related_parts, resolve_path
from engine.text.cleanup import clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

_DOCX_PART, _ODT_PART = "word/document.xml", "content.xml"
_HEADING_STYLES = ("heading", "title")


def list_docx_pictures(data: bytes) -> Iterator[EmbeddedPicture]:
    """The pictures of a DOCX in its order. Raises CorruptFile."""
    archive = XmlArchive(data)
    targets = related_parts(archive, _DOCX_PART)
    heading = ""
    for element in _elements(archive, _DOCX_PART):
        match local_name(element):
            case "p" if _is_docx_heading(element):
                heading = clean_single_line("".join(run.text or "" for run in find_all(element, "t")))
            case "blip":
                yield from _load(archive, targets.get(attribute(element, "embed"), ""), heading)


def list_odt_pictures(data: bytes) -> Iterator[EmbeddedPicture]:
    """The pictures of an ODT in its order. Raises CorruptFile."""
    archive, heading = XmlArchive(data), ""
    for element in _elements(archive, _ODT_PART):
        match local_name(element):
            case "h":
                heading = clean_single_line("".join(element.itertext()))
            case "image":
                yield from _load(archive, resolve_path(_ODT_PART, attribute(element, "href")), heading)


def _elements(archive: XmlArchive, part: str) -> Iterator[Element]:
    try:
        root = archive.parse(part)
    except InvalidDocument:  # named by the parser
        root = None
    return root.iter() if root is not None else iter(())


def _is_docx_heading(paragraph: Element) -> bool:
    """Whether a paragraph has a style of headings; those of paragraphs within it, in text boxes, are their own."""
    properties = (property_ for child in paragraph if local_name(child) == "pPr" for property_ in child)
    styles = (attribute(property_, "val").lower() for property_ in properties if local_name(property_) == "pStyle")
    return any(style.startswith(_HEADING_STYLES) for style in styles)


def _load(archive: XmlArchive, part: str, heading: str) -> Iterator[EmbeddedPicture]:
    if part in archive.names:
        yield EmbeddedPicture(f"{heading}, picture" if heading else "picture", archive.read(part))
