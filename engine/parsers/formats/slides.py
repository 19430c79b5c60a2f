"""Parse slides (PPTX, ODP) one by one, with their tables and notes. No library reads both. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.parsers.base import EmbeddedPicture, ParsedFile
from engine.parsers.dates import is_default_time, parse_date
from engine.parsers.formats.xml_tree import XmlArchive, attribute, find_all, local_name, related_parts, resolve_path
from engine.parsers.passages import Block, passages_by_part, render_table
from engine.text.cleanup import clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from xml.etree.ElementTree import Element

_SLIDE_NAME = re.compile(r"ppt/slides/slide(\d+)\.xml")
_TITLE_TYPES = frozenset({"title", "ctrTitle"})
# Placeholders that repeat on every slide.
_REPEATED_TYPES = frozenset({"dt", "ftr", "hdr", "sldNum"})
_BREAKS = {"br": "\n", "line-break": "\n", "tab": "\t", "s": " "}


def parse_pptx(name: str, data: bytes, mime: str) -> ParsedFile:  # noqa: ARG001 - the archive names its parts itself
    """Passages labeled "slide 7: Title". Raises CorruptFile."""
    archive = XmlArchive(data)
    slides = (
        (number, _pptx_blocks(archive, part), _pptx_title(archive.parse(part)))
        for number, part in enumerate(_pptx_slides(archive), 1)
    )
    passages, saved = passages_by_part(_label_slides(slides)), _saved_time(archive, "docProps/core.xml")
    return ParsedFile(name, passages, saved_at=saved, embedded=_pptx_pictures(archive))


def parse_odp(name: str, data: bytes, mime: str) -> ParsedFile:  # noqa: ARG001 - the archive names its parts itself
    """Passages labeled "slide 7: Title". Raises CorruptFile."""
    archive = XmlArchive(data)
    archive.read("content.xml")
    slides = (
        (number, list(_odp_blocks(page)), _odp_title(page))
        for number, page in enumerate(find_all(archive.parse("content.xml"), "page"), 1)
    )
    passages, saved = passages_by_part(_label_slides(slides)), _saved_time(archive, "meta.xml")
    return ParsedFile(name, passages, saved_at=saved, embedded=_odp_pictures(archive))


def _label_slides(slides: Iterator[tuple[int, list[Block], str]]) -> Iterator[tuple[str, list[Block]]]:
    return ((_label_slide(number, title), blocks) for number, blocks, title in slides)


def _label_slide(number: int, title: str) -> str:
    return f"slide {number}{f': {title}' if title else ''}"


def _pptx_pictures(archive: XmlArchive) -> Iterator[EmbeddedPicture]:
    for number, part in enumerate(_pptx_slides(archive), 1):
        slide, targets = archive.parse(part), related_parts(archive, part)
        for blip in find_all(slide, "blip"):
            target = targets.get(attribute(blip, "embed"), "")
            if target in archive.names:
                yield EmbeddedPicture(f"{_label_slide(number, _pptx_title(slide))}, picture", archive.read(target))


def _odp_pictures(archive: XmlArchive) -> Iterator[EmbeddedPicture]:
    for number, page in enumerate(find_all(archive.parse("content.xml"), "page"), 1):
        for image in find_all(page, "image"):
            target = resolve_path("content.xml", attribute(image, "href"))
            if target in archive.names:
                yield EmbeddedPicture(f"{_label_slide(number, _odp_title(page))}, picture", archive.read(target))


def _saved_time(archive: XmlArchive, part: str) -> datetime | None:
    root = archive.parse(part)
    times = (parse_date(each.text or "") for tag in ("modified", "date", "created") for each in find_all(root, tag))
    return next((time for time in times if time and not is_default_time(time)), None)


def _pptx_slides(archive: XmlArchive) -> list[str]:
    """The parts of the slides in the order of the presentation, else by number."""
    parts = related_parts(archive, "ppt/presentation.xml")
    order = (
        parts.get(value, "")
        for slide in find_all(archive.parse("ppt/presentation.xml"), "sldId")
        for key, value in slide.attrib.items()
        if key.endswith("}id")
    )
    numbered = ((int(found[1]), part) for part in archive.names if (found := _SLIDE_NAME.fullmatch(part)))
    return [part for part in order if part in archive.names] or [part for _, part in sorted(numbered)]


def _pptx_blocks(archive: XmlArchive, part: str) -> list[Block]:
    slide = archive.parse(part)
    blocks = list(_shape_blocks(slide)) if slide is not None else []
    for target in related_parts(archive, part).values():
        if "notesSlide" in target and (notes := archive.parse(target)) is not None:
            text = "\n".join(block.text for block in _shape_blocks(notes, skipped=_REPEATED_TYPES | {"sldImg"}))
            blocks += [Block(f"Notes: {text}", 0, 0)] if text else []
    return blocks


def _shape_blocks(element: Element, skipped: frozenset[str] = _REPEATED_TYPES) -> Iterator[Block]:
    """Paragraphs and tables below an element in the order of the file, title first."""
    shapes = sorted(find_all(element, "sp"), key=lambda shape: _placeholder(shape) not in _TITLE_TYPES)
    for shape in shapes:
        if _placeholder(shape) in skipped:
            continue
        for paragraph in find_all(shape, "p"):
            if text := _text_of(paragraph):
                yield Block(text, 0, 0, "item")
    for table in find_all(element, "tbl"):
        rows = [[_text_of(cell) for cell in find_all(row, "tc")] for row in find_all(table, "tr")]
        yield Block(render_table(rows), 0, 0, "table")


def _placeholder(shape: Element) -> str:
    return next((attribute(each, "type") for each in find_all(shape, "ph")), "")


def _pptx_title(slide: Element | None) -> str:
    shapes = (shape for shape in find_all(slide, "sp") if _placeholder(shape) in _TITLE_TYPES)
    return clean_single_line(_text_of(shape)) if (shape := next(shapes, None)) is not None else ""


def _odp_blocks(page: Element) -> Iterator[Block]:
    skipped = {id(each) for holder in ("notes", "table") for found in find_all(page, holder) for each in found.iter()}
    for each in page.iter():
        if local_name(each) in {"p", "h"} and id(each) not in skipped and (text := _text_of(each)):
            yield Block(text, 0, 0, "item")
    for table in find_all(page, "table"):
        rows = [[_text_of(cell) for cell in find_all(row, "table-cell")] for row in find_all(table, "table-row")]
        yield Block(render_table(rows), 0, 0, "table")
    for notes in find_all(page, "notes"):
        if text := "\n".join(filter(None, map(_text_of, find_all(notes, "p")))):
            yield Block(f"Notes: {text}", 0, 0)


def _odp_title(page: Element) -> str:
    frames = (frame for frame in find_all(page, "frame") if attribute(frame, "class") == "title")
    return clean_single_line(_text_of(frame)) if (frame := next(frames, None)) is not None else ""


def _text_of(element: Element) -> str:
    """The text below an element; paragraphs and breaks end lines."""
    pieces: list[str] = []

    def walk(each: Element, *, is_top: bool) -> None:
        name = local_name(each)
        pieces.append(_BREAKS.get(name, ""))
        # In PPTX only runs hold text: everything between elements is indentation.
        pieces.append(each.text or "" if name in {"t", "p", "h", "span", "a"} else "")
        for child in each:
            walk(child, is_top=False)
            pieces.append(child.tail or "" if name in {"p", "h", "span", "a"} else "")
        pieces.append("\n" if name in {"p", "h"} and not is_top else "")

    walk(element, is_top=True)
    return "\n".join(filter(None, map(str.strip, "".join(pieces).split("\n"))))
