"""Parse EPUB books chapter by chapter, in reading order. Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from engine.errors import CorruptFile, EncryptedFile, InvalidDocument
from engine.parsers.base import EmbeddedPicture, Omission, ParsedFile, count_parts, word_reason
from engine.parsers.dates import first_stated, parse_date
from engine.parsers.formats.xml_text import parse as parse_xml
from engine.parsers.formats.xml_tree import XmlArchive, attribute, find_all, local_name, resolve_path
from engine.parsers.html import parse as parse_html
from engine.parsers.passages import shorten_label
from engine.text.cleanup import clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from xml.etree.ElementTree import Element

    from engine.models import Passage

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PICTURE = re.compile(r"""<(?:img|(?:svg:)?image)\b[^>]*?\b(?:src|href)\s*=\s*["']([^"']+)""", re.IGNORECASE)
_PICTURE_SUFFIXES = (".jpg", ".jpeg", ".png", ".gif", ".webp", ".tif", ".tiff")
_FONT_OBFUSCATION = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")


class _Chapter(NamedTuple):
    """A part of the book, its number in reading order, and its title in the table of contents."""

    number: int
    path: str
    title: str


def parse(name: str, data: bytes, mime: str) -> ParsedFile:  # noqa: ARG001 - the archive names its parts itself
    """Passages labeled with the chapter and its headings. Raises EncryptedFile or CorruptFile."""
    archive = XmlArchive(data)
    _check_encryption(archive)
    package_path = next(
        (attribute(element, "full-path") for element in find_all(archive.parse(_CONTAINER), "rootfile")), ""
    )
    package = archive.parse(package_path)
    if package is None:
        raise CorruptFile("The book is damaged or incomplete.")
    parts = list(_list_parts(archive, package_path, package))
    read = [_read_chapter(archive, part) if isinstance(part, _Chapter) else part for part in parts]
    found = (passage for part in read if not isinstance(part, Omission) for passage in part)
    passages = tuple(replace(passage, position=position) for position, passage in enumerate(found))
    omissions = tuple(part for part in read if isinstance(part, Omission))
    title = next((clean_single_line(element.text or "") for element in find_all(package, "title")), "")
    chapters = [part for part, each in zip(parts, read, strict=True) if not isinstance(each, Omission)]
    pictures = (
        picture for part in chapters if isinstance(part, _Chapter) for picture in _chapter_pictures(archive, part)
    )
    return ParsedFile(
        title or name,
        passages,
        saved_at=_publication_time(package),
        embedded=pictures,
        omissions=omissions,
        coverage=count_parts(len(chapters), len(parts), "chapter"),
    )


def _check_encryption(archive: XmlArchive) -> None:
    methods = [attribute(element, "Algorithm") for element in find_all(archive.parse(_ENCRYPTION), "EncryptionMethod")]
    if any(method not in _FONT_OBFUSCATION for method in methods):
        raise EncryptedFile("The book is protected against copying.", hint="Add a copy without protection.")


def _list_parts(archive: XmlArchive, package_path: str, package: Element) -> Iterator[_Chapter | Omission]:
    """The chapters in reading order, without the table of contents, and those that the book lacks."""
    items = {attribute(element, "id"): element for element in find_all(package, "item")}
    titles = _chapter_titles(archive, package_path, list(items.values()))
    title = ""
    for number, reference in enumerate(find_all(package, "itemref"), 1):
        item = items.get(attribute(reference, "idref"))
        path = resolve_path(package_path, attribute(item, "href")) if item is not None else ""
        if item is not None and "nav" in attribute(item, "properties").split():
            continue
        title = titles.get(path, title)
        chapter = _Chapter(number, path, title)
        yield chapter if path in archive.names else Omission(_name_chapter(chapter), "it is missing in the book")


def _name_chapter(chapter: _Chapter) -> str:
    name = chapter.title or chapter.path.rpartition("/")[2]
    return f"chapter {chapter.number}, {name}" if name else f"chapter {chapter.number}"


def _read_chapter(archive: XmlArchive, chapter: _Chapter) -> list[Passage] | Omission:
    """The passages of a chapter; none of a picture, which is read with the others."""
    try:
        data = archive.read(chapter.path)
        if _is_picture(chapter.path):
            return []
        is_drawing = chapter.path.lower().endswith(".svg")
        passages = (parse_xml if is_drawing else parse_html)(chapter.path, data).passages
    except InvalidDocument as error:
        return Omission(_name_chapter(chapter), word_reason(error))
    return [
        replace(passage, key=f"c{chapter.number}.{passage.key}", label=_label(chapter.title, passage.label))
        for passage in passages
    ]


def _is_picture(path: str) -> bool:
    return path.lower().endswith(_PICTURE_SUFFIXES)


def _chapter_pictures(archive: XmlArchive, chapter: _Chapter) -> Iterator[EmbeddedPicture]:
    if _is_picture(chapter.path):
        yield EmbeddedPicture(chapter.title or "picture", archive.read(chapter.path))
        return
    for source in _PICTURE.findall(archive.read(chapter.path).decode("utf-8", "replace")):
        path = resolve_path(chapter.path, source)
        if path in archive.names:
            yield EmbeddedPicture(f"{chapter.title}, picture" if chapter.title else "picture", archive.read(path))


def _label(title: str, section: str) -> str:
    """The title of the chapter before the headings, unless they begin with it."""
    if not title or section.startswith(title):
        return section
    return shorten_label(f"{title} › {section}" if section else title)


def _chapter_titles(archive: XmlArchive, package_path: str, items: list[Element]) -> dict[str, str]:
    """The titles in the table of contents, by the part that they lead to first."""
    titles: dict[str, str] = {}
    for item in items:
        path = resolve_path(package_path, attribute(item, "href"))
        is_contents = "nav" in attribute(item, "properties").split() or attribute(item, "media-type").endswith(
            "ncx+xml"
        )
        for entry in (archive.parse(path) if is_contents else None) or ():
            for target, text in _contents_entries(entry):
                titles.setdefault(resolve_path(path, target.partition("#")[0]), text)
    return titles


def _contents_entries(tree: Element) -> Iterator[tuple[str, str]]:
    for element in tree.iter():
        if local_name(element) == "a" and attribute(element, "href"):
            yield attribute(element, "href"), clean_single_line("".join(element.itertext()))
        elif local_name(element) == "navPoint":
            labels, targets = next(find_all(element, "text"), None), next(find_all(element, "content"), None)
            if labels is not None and targets is not None:
                yield attribute(targets, "src"), clean_single_line(labels.text or "")


def _publication_time(package: Element) -> datetime | None:
    """The time of the last change, else the first date of the book."""
    stated = [
        element.text or ""
        for element in find_all(package, "meta")
        if attribute(element, "property") == "dcterms:modified"
    ]
    times = map(parse_date, stated + [element.text or "" for element in find_all(package, "date")])
    return first_stated(times)
