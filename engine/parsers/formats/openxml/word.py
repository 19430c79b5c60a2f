"""What a DOCX holds beside its main text, and paragraphs of that which were overlooked. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from engine.errors import CorruptFile
from engine.models import Omission, Passage
from engine.parsers.base import DAMAGED, Attachment
from engine.parsers.formats.openxml.drawings import drawing_blocks
from engine.parsers.formats.openxml.embedded import embedded_files
from engine.parsers.formats.openxml.parts import PartReader, picture_texts
from engine.parsers.formats.xml_tree import XmlArchive, attribute, find_all, local_name
from engine.parsers.passages import Block, group_blocks, join_blocks
from engine.text.cleanup import clean_multiline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from xml.etree.ElementTree import Element

    from engine.parsers.formats.openxml.parts import PartRelation

_WORD = ("wordprocessingml/2006/main", "wordprocessingml/main")  # namespaces, of the usual and the strict form
_NOTES = {"footnotes": ("footnote", "footnotes"), "endnotes": ("endnote", "endnotes")}
_CHUNK = "aFChunk"
# What the library adds to a text: marks of notes, addresses of links, and those of Markdown.
_ADDED = re.compile(r"\[\^[^\]\s]{1,10}\]|\(https?://[^\s()]*\)|[*~`]|\\(?=\|)")
_UNKNOWN_ENDINGS = (".dat", ".bin")


class WordExtras(NamedTuple):
    """Passages that follow the main text, files within, and what could not be read."""

    passages: tuple[Passage, ...]
    attachments: tuple[Attachment, ...]
    omissions: tuple[Omission, ...]


def read_extras(data: bytes, known: Iterable[str], first: int) -> WordExtras:
    """Notes, comments, text boxes, charts, headers of a document, and paragraphs that are not among the `known` texts.

    `first`: the position of their first passage. Raises CorruptFile if the archive is damaged.
    """
    parts = PartReader(XmlArchive(data))
    main = next(
        (relation.target for relation in parts.relations("") if relation.type == "officeDocument"), "word/document.xml"
    )
    relations = parts.relations(main)
    overlooked = _Overlooked(known)
    found: dict[str, list[Block]] = {}
    root = parts.read(main, "main text")
    for label, text in (*overlooked.find(root), *_part_texts(parts, relations, overlooked)):
        found.setdefault(label, []).append(Block(text, 0, 0, "item"))
    for text in dict.fromkeys(picture_texts(root)):
        if not overlooked.is_known(text.removeprefix("Picture: ")):
            found.setdefault("picture", []).append(Block(text, 0, 0, "item"))
    found.setdefault("drawing", []).extend(drawing_blocks(parts, relations, "document"))
    files = [*embedded_files(parts, relations, ""), *_read_chunks(parts, relations)]
    passages = [
        Passage(f"x{number}.{part}", text, label, position=0)
        for number, (label, blocks) in enumerate(found.items(), 1)
        for part, group in enumerate(group_blocks(blocks), 1)
        if (text := clean_multiline(join_blocks(group)))
    ]
    placed = tuple(Passage(each.key, each.text, each.label, position=first + at) for at, each in enumerate(passages))
    if not placed and not any(True for _ in overlooked.known):
        parts.raise_if_empty(placed)
    return WordExtras(placed, tuple(files), tuple(parts.omissions))


class _Overlooked:
    """Finds texts that are not known yet, by their characters without spaces."""

    def __init__(self, known: Iterable[str]) -> None:
        texts = list(known)
        self.known = _compact(" ".join(texts))
        self._words = set(" ".join(texts).split())

    def find(self, root: Element | None) -> Iterator[tuple[str, str]]:
        """The paragraphs of the main text that are not known, with their labels."""
        boxes = {id(element) for box in find_all(root, "txbxContent") for element in find_all(box, "p")}
        for paragraph in find_all(root, "p"):
            if not _is_word(paragraph) or not (text := _own_text(paragraph)) or self.is_known(text):
                continue
            has_link = any(True for _ in find_all(paragraph, "hyperlink"))
            if not (has_link and self._words.issuperset(text.split())):
                self.add(text)
                yield "text box" if id(paragraph) in boxes else "more text", text

    def is_known(self, text: str) -> bool:
        """Whether a text was read already."""
        return _compact(text) in self.known

    def add(self, text: str) -> None:
        """Remember a text, which is not to be read twice."""
        self.known += _compact(text)


def _part_texts(parts: PartReader, relations: list[PartRelation], overlooked: _Overlooked) -> Iterator[tuple[str, str]]:
    """The texts of notes, comments, headers and footers, with their labels."""
    for relation in relations:
        if relation.type in _NOTES and (root := parts.read(relation.target, relation.type)) is not None:
            element, label = _NOTES[relation.type]
            yield from ((label, text) for note in find_all(root, element) if (text := _text_below(note, overlooked)))
        elif relation.type == "comments" and (root := parts.read(relation.target, "comments")) is not None:
            for comment in find_all(root, "comment"):
                author = attribute(comment, "author")
                if text := _text_below(comment):
                    yield "comments", f"Comment by {author}: {text}" if author else f"Comment: {text}"
        elif relation.type in {"header", "footer"} and (root := parts.read(relation.target, relation.type)) is not None:
            text = _text_below(root, overlooked)
            if any(map(str.isalpha, text)):
                overlooked.add(text)
                yield f"page {relation.type}", text


def _text_below(element: Element, overlooked: _Overlooked | None = None) -> str:
    """The paragraphs below an element as lines; an empty string if all of it is known."""
    lines = [text for paragraph in find_all(element, "p") if (text := _own_text(paragraph))]
    if overlooked is not None and all(map(overlooked.is_known, lines)):
        return ""
    return "\n".join(lines)


def _own_text(paragraph: Element) -> str:
    """The text of a paragraph without those of text boxes in it, and without what was deleted."""
    pieces: list[str] = []

    def walk(element: Element) -> None:
        for child in element:
            name = local_name(child)
            if name == "t" and _is_word(child):
                pieces.append(child.text or "")
            elif name in {"tab", "br", "cr"}:
                pieces.append(" ")
            elif name == "noBreakHyphen":
                pieces.append("-")
            elif name not in {"p", "txbxContent", "pPr", "del", "moveFrom"}:
                walk(child)

    walk(paragraph)
    return " ".join("".join(pieces).split())


def _is_word(element: Element) -> bool:
    return any(namespace in str(element.tag) for namespace in _WORD)


def _compact(text: str) -> str:
    return "".join(_ADDED.sub("", text).split())


def _read_chunks(parts: PartReader, relations: list[PartRelation]) -> Iterator[Attachment]:
    """The documents of other formats that the program inserts when it opens the file."""
    for relation in relations:
        if relation.type == _CHUNK:
            name = relation.target.rpartition("/")[2]
            try:
                data = parts.archive.read(relation.target)
            except CorruptFile:
                parts.omissions.append(Omission(name, DAMAGED))
                continue
            stem, dot, ending = name.rpartition(".")
            is_mail = data.lstrip()[:13].lower() == b"mime-version:"
            shown = stem + ".mht" if is_mail else stem if dot + ending in _UNKNOWN_ENDINGS else name
            yield Attachment(shown, data)
