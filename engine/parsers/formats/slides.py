"""Parse slides (PPTX, ODP) one by one, with their tables, charts, notes and comments. No library reads both. Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from engine.errors import InvalidDocument
from engine.models import Omission
from engine.parsers.base import IS_PICTURE, Attachment, EmbeddedPicture, ParsedFile, count_parts
from engine.parsers.formats.opendocument.content import ContentReader
from engine.parsers.formats.opendocument.text import check_encryption, read_part, read_saved_time
from engine.parsers.formats.openxml.comments import slide_comments
from engine.parsers.formats.openxml.drawings import drawing_blocks
from engine.parsers.formats.openxml.embedded import embedded_files
from engine.parsers.formats.openxml.parts import PartReader, picture_texts
from engine.parsers.formats.xml_tree import XmlArchive, attribute, find_all, local_name, related_parts, resolve_path
from engine.parsers.passages import Block, passages_by_part, render_table
from engine.text.cleanup import clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from xml.etree.ElementTree import Element

_SLIDE_NAME = re.compile(r"ppt/slides/slide(\d+)\.xml")
_TITLE_TYPES = frozenset({"title", "ctrTitle"})
# Placeholders that repeat on every slide.
_REPEATED_TYPES = frozenset({"dt", "ftr", "hdr", "sldNum"})
_WORDED_TYPES = frozenset({"ftr", "hdr"})  # those that say more than a date or a number
_REPEATED = "header and footer"
_DECLARED, _CLASSES = ("header-decl", "footer-decl"), frozenset({"header", "footer"})
_FIELD = re.compile(r"<[^<>]*>")
_BREAKS = {"br": "\n", "line-break": "\n", "tab": "\t", "s": " "}


def parse_pptx(name: str, data: bytes, mime: str) -> ParsedFile:  # noqa: ARG001 - the archive names its parts itself
    """Passages labeled "slide 7: Title". Raises CorruptFile."""
    parts = PartReader(XmlArchive(data))
    slides = [_read_slide(parts, number, part) for number, part in enumerate(_pptx_slides(parts.archive), 1)]
    passages = passages_by_part(_label_all(slides, (text for slide in slides for text in slide.repeated)))
    if not any(slide.has_picture for slide in slides):
        parts.raise_if_empty(passages)
    return replace(
        _with_unread(ParsedFile(name, passages, omissions=tuple(parts.omissions)), slides),
        saved_at=read_saved_time(parts.archive, "docProps/core.xml"),
        embedded=_pptx_pictures(parts.archive),
        attachments=tuple(file for slide in slides for file in slide.files),
    )


def parse_odp(name: str, data: bytes, mime: str) -> ParsedFile:  # noqa: ARG001 - the archive names its parts itself
    """Passages labeled "slide 7: Title". Raises EncryptedFile and CorruptFile."""
    archive = XmlArchive(data)
    check_encryption(archive)
    archive.read("content.xml")
    reader = ContentReader(archive)
    slides = [
        _Slide(number, _odp_title(page), list(_odp_blocks(reader, page)), any(True for _ in find_all(page, "image")))
        for number, page in enumerate(find_all(archive.parse("content.xml"), "page"), 1)
    ]
    passages = passages_by_part(_label_all(slides, _odp_repeated(archive, reader.omissions)))
    return replace(
        _with_unread(ParsedFile(name, passages, omissions=tuple(reader.omissions)), slides),
        saved_at=read_saved_time(archive, "meta.xml"),
        embedded=_odp_pictures(archive),
    )


class _Slide(NamedTuple):
    """A slide as blocks, none for one that could not be read or holds a picture alone.

    `repeated`: its header and footer, and those of its notes.
    """

    number: int
    title: str
    blocks: list[Block]
    has_picture: bool
    files: tuple[Attachment, ...] = ()
    repeated: tuple[str, ...] = ()


def _with_unread(parsed: ParsedFile, slides: Sequence[_Slide]) -> ParsedFile:
    """The file with the slides that are nothing but a picture as omissions."""
    pictures = [slide.number for slide in slides if not slide.blocks and slide.has_picture]
    omissions = (*parsed.omissions, *(Omission(f"slide {number}", IS_PICTURE) for number in pictures))
    damaged = sum(omission.part.startswith("slide ") and "," not in omission.part for omission in parsed.omissions)
    return replace(
        parsed,
        omissions=omissions,
        coverage=count_parts(len(slides) - len(pictures) - damaged, len(slides), "slide"),
    )


def _label_all(slides: Iterable[_Slide], repeated: Iterable[str]) -> Iterator[tuple[str, list[Block]]]:
    """The slides with their labels, then each header and footer once."""
    yield from ((_label_slide(slide.number, slide.title), slide.blocks) for slide in slides)
    yield _REPEATED, [Block(text, 0, 0, "item") for text in dict.fromkeys(repeated)]


def _label_slide(number: int, title: str) -> str:
    return f"slide {number}{f': {title}' if title else ''}"


def _pptx_pictures(archive: XmlArchive) -> Iterator[EmbeddedPicture]:
    for number, part in enumerate(_pptx_slides(archive), 1):
        try:
            slide, targets = archive.parse(part), related_parts(archive, part)
        except InvalidDocument:  # its text is missing, too, and named
            continue
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


def _read_slide(parts: PartReader, number: int, part: str) -> _Slide:
    """A slide with its charts, diagrams, notes and comments."""
    place = f"slide {number}"
    slide = parts.read(part, place)
    if slide is None:
        return _Slide(number, "", [], has_picture=False)
    relations = parts.relations(part)
    blocks = [*_shape_blocks(slide), *drawing_blocks(parts, relations, place)]
    blocks += [Block(text, 0, 0, "item") for text in dict.fromkeys(picture_texts(slide))]
    repeated = [*_repeated_texts(slide)]
    for relation in relations:
        if relation.type == "notesSlide" and (notes := parts.read(relation.target, f"{place}, notes")) is not None:
            text = "\n".join(block.text for block in _shape_blocks(notes, skipped=_REPEATED_TYPES | {"sldImg"}))
            blocks += [Block(f"Notes: {text}", 0, 0)] if text else []
            repeated += _repeated_texts(notes)
        elif (
            relation.type == "comments" and (comments := parts.read(relation.target, f"{place}, comments")) is not None
        ):
            blocks += [Block(text, 0, 0, "item") for text in slide_comments(parts, comments)]
    files = tuple(embedded_files(parts, relations, place))
    has_picture = any(True for _ in find_all(slide, "blip"))
    return _Slide(number, _pptx_title(slide), blocks, has_picture, files, tuple(repeated))


def _repeated_texts(element: Element) -> Iterator[str]:
    for shape in find_all(element, "sp"):
        if _placeholder(shape) in _WORDED_TYPES and (text := _text_of(shape)):
            yield text


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
    return next((attribute(element, "type") for element in find_all(shape, "ph")), "")


def _pptx_title(slide: Element | None) -> str:
    shapes = (shape for shape in find_all(slide, "sp") if _placeholder(shape) in _TITLE_TYPES)
    return clean_single_line(_text_of(shape)) if (shape := next(shapes, None)) is not None else ""


def _odp_blocks(reader: ContentReader, page: Element) -> Iterator[Block]:
    notes = [child for child in page if local_name(child) == "notes"]
    for note in notes:
        page.remove(note)
    for block in reader.read(page):
        is_line = block.type in {"text", "heading"}
        yield replace(block, start=0, stop=0, type="item" if is_line else block.type)
    for note in notes:
        if text := "\n".join(block.text for block in reader.read(note)):
            yield Block(f"Notes: {text}", 0, 0)


def _odp_repeated(archive: XmlArchive, omissions: list[Omission]) -> Iterator[str]:
    """The declared headers and footers, and those of master slides; not the names of their fields, such as <footer>."""
    declared = (element for tag in _DECLARED for element in find_all(archive.parse("content.xml"), tag))
    masters = find_all(read_part(archive, "styles.xml", omissions), "master-page")
    frames = (
        element for page in masters for element in find_all(page, "frame") if attribute(element, "class") in _CLASSES
    )
    for text in (*("".join(element.itertext()).strip() for element in declared), *map(_text_of, frames)):
        if any(map(str.isalpha, text)) and not _FIELD.fullmatch(text):
            yield text


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
