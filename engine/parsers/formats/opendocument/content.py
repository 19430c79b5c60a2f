"""Read the blocks of an OpenDocument file: paragraphs, lists, tables, frames, charts, formulas, notes. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.models import Omission
from engine.parsers.base import ABSENT
from engine.parsers.formats.opendocument.inline import SKIPPED, read_comment, read_inline, read_paragraphs
from engine.parsers.formats.opendocument.tables import read_rows
from engine.parsers.formats.xml_tree import attribute, find_all, local_name, resolve_path
from engine.parsers.passages import Block, render_table
from engine.parsers.sandbox.nesting import MAX_INDENTED_LEVELS
from engine.text.cleanup import clean_single_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from xml.etree.ElementTree import Element

    from engine.parsers.formats.xml_tree import XmlArchive
    from engine.parsers.passages import BlockType

_FIELD_NAMES = ("current-value", "value", "current-state", "current-selected")
NO_DOCUMENT = "it is an object of another program"


class ContentReader:
    """Reads blocks, numbered from 1 in the order of the file; `omissions` are parts that could not be read."""

    def __init__(self, archive: XmlArchive) -> None:
        self.omissions: list[Omission] = []
        self._archive = archive
        self._count = 0
        self._readers: dict[str, Callable[[Element], Iterator[Block]]] = {
            "table": self._table,
            "annotation": self._note,
            "object": self._object,
            "object-ole": self._object,
            **dict.fromkeys(("title", "subtitle", "desc"), self._title),
        }

    def read(self, element: Element, depth: int = -1) -> Iterator[Block]:
        """The blocks below an element; `depth` of its list, -1 outside of lists."""
        for child in element:
            name = local_name(child)
            if name in {"h", "p"}:
                kind: BlockType = "heading" if name == "h" else "text" if depth < 0 else "item"
                yield from self._paragraph(child, kind, _level(child) if name == "h" else depth)
            elif read := self._readers.get(name):
                yield from read(child)
            elif name not in SKIPPED:
                yield from self.read(child, depth + (name == "list"))

    def read_forms(self, root: Element) -> Iterator[Block]:
        """The fields of forms that are filled in."""
        for form in find_all(root, "forms"):
            for control in form.iter():
                values = (attribute(control, name) for name in _FIELD_NAMES)
                label = attribute(control, "label") or attribute(control, "name")
                if value := clean_single_line(next(filter(None, values), "")):
                    yield from self._block(f"{clean_single_line(label)}: {value}", "item")

    def read_repeated(self, styles: Element | None) -> Iterator[Block]:
        """The headers and footers of the pages, each once."""
        seen = set[str]()
        for master in find_all(styles, "master-styles"):
            for element in master.iter():
                if local_name(element).startswith(("header", "footer")):
                    text = "\n".join(block.text for block in ContentReader(self._archive).read(element))
                    if text not in seen and any(map(str.isalpha, text)):
                        seen.add(text)
                        kind = "Header" if local_name(element).startswith("header") else "Footer"
                        yield from self._block(f"{kind}: {text}", "text")

    def _paragraph(self, element: Element, kind: BlockType, depth: int) -> Iterator[Block]:
        found = read_inline(element)
        indent = "  " * min(depth, MAX_INDENTED_LEVELS) + "- " if kind == "item" else ""
        yield from self._block(found.text and indent + found.text, kind, depth if kind == "heading" else 0)
        for frame in found.frames:
            yield from self.read(frame)
        for note in found.notes:
            yield from self._note(note)

    def _note(self, note: Element) -> Iterator[Block]:
        """A footnote after its paragraph, or a comment with its author."""
        if local_name(note) == "annotation":
            yield from self._block(read_comment(note), "text")
        else:
            text = read_paragraphs(note)
            mark = "".join(element.text or "" for element in find_all(note, "note-citation"))
            yield from self._block(text and f"[{mark}] {text}", "text")

    def _table(self, table: Element) -> Iterator[Block]:
        yield from self._block(render_table(read_rows(table)), "table")
        for element in find_all(table, "annotation"):
            yield from self._note(element)
        for element in find_all(table, "object"):
            yield from self._object(element)

    def _object(self, element: Element) -> Iterator[Block]:
        """A chart with its numbers, or a formula, which is a document of its own within the archive."""
        yield from self.read(element)
        target = resolve_path("content.xml", attribute(element, "href")) if attribute(element, "href") else ""
        root = self._archive.parse(f"{target}/content.xml") if target else None
        if root is None:
            reason = NO_DOCUMENT if target in self._archive.names else ABSENT
            self.omissions += [Omission(f"object {target}", reason)] if target and "://" not in target else []
            return
        yield from self._block(_formula(root), "text")
        for body in find_all(root, "body"):
            yield from self.read(body)

    def _title(self, element: Element) -> Iterator[Block]:
        """The title of a chart, or the words instead of a picture (in the namespace of SVG)."""
        kind = "Picture" if "svg" in str(element.tag) else "Chart"
        text = clean_single_line(" ".join(element.itertext()))
        yield from self._block(text and f"{kind}: {text}", "text")

    def _block(self, text: str, kind: BlockType, level: int = 0) -> Iterator[Block]:
        if text.strip():
            self._count += 1
            yield Block(text, self._count, self._count, kind, level)


def _level(heading: Element) -> int:
    level = attribute(heading, "outline-level")
    return int(level) if level.isascii() and level.isdigit() and len(level) < 3 else 1


def _formula(root: Element) -> str:
    """A formula as it was typed, else its signs."""
    if local_name(root) != "math":
        return ""
    typed = next((element.text for element in find_all(root, "annotation") if element.text), "")
    return clean_single_line(typed or " ".join(root.itertext()))
