"""Parse HTML into sections by heading, without scripts, styles, navigation and forms. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from engine.parsers.base import ParsedFile
from engine.parsers.dates import parse_date
from engine.parsers.encodings.decoding import decode_text
from engine.parsers.passages import (
    Block,
    BlockType,
    Cell,
    expand_spans,
    find_first_heading,
    passages_by_section,
    render_table,
    word_count,
)
from engine.parsers.sandbox.nesting import MAX_INDENTED_LEVELS
from engine.text.cleanup import clean_lines, clean_single_line

if TYPE_CHECKING:
    from collections.abc import Mapping

_SCRIPT_TAGS = frozenset({"script", "style"})
# Elements whose text is skipped.
_SKIPPED_TAGS = _SCRIPT_TAGS | {"template", "noscript", "svg", "nav", "iframe", "select", "button", "object"}
_BLOCK_TAGS = frozenset(
    {"address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "div", "dl", "dt"}
    | {"fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "li", "main", "ol", "p", "pre"}
    | {"section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "title", "tr", "ul"}
)
_LIST_MARKER = re.compile(r"\A\s*+(?:-|-?\w{1,20}+\.)\s*+\Z")
_NUMBER = re.compile(r"-?\d{1,6}")
_ROMAN_SIGNS = {1000: "m", 900: "cm", 500: "d", 400: "cd", 100: "c", 90: "xc", 50: "l", 40: "xl", 10: "x", 9: "ix"}
_ROMAN_SIGNS |= {5: "v", 4: "iv", 1: "i"}
_MAX_ROMAN, _LETTERS = 3999, 26
_BLANKS = re.compile(r"\s+")
_HEADING_LEVELS = {f"h{level}": level for level in range(1, 7)}
# Meta names of the date of last change or publication, best first.
_DATE_NAMES = (
    "article:modified_time",
    "og:updated_time",
    "dcterms.modified",
    "last-modified",
    "article:published_time",
    "dcterms.created",
    "dcterms.date",
    "dc.date",
    "date",
)
# A cell with more words than this is page layout, not data.
_MAX_CELL_WORDS = 60
_MAX_TABLE_DEPTH = 20  # of tables within tables; the cells of deeper ones are plain text


def parse(name: str, data: bytes) -> ParsedFile:
    """Passages by section. The title is the page's own, else its first heading, else the name."""
    text = "\n".join(clean_lines(decode_text(data)))
    builder = _build_blocks(text)
    title = clean_single_line(builder.title) or find_first_heading(builder.blocks) or name
    dates = (parse_date(builder.meta[key]) for key in _DATE_NAMES if key in builder.meta)
    return ParsedFile(title, passages_by_section(builder.blocks, "paragraph"), next(filter(None, dates), None))


def read_fragment(markup: str) -> list[Block]:
    """The blocks of a piece of HTML, numbered from 1."""
    return _build_blocks(markup).blocks


def _build_blocks(text: str) -> _HtmlBlockBuilder:
    builder = _read_blocks(text, _SKIPPED_TAGS)
    if not builder.unclosed_tags:
        return builder
    # An element that never ends would skip the rest of the page, so its text is kept.
    return _read_blocks(text, _SKIPPED_TAGS - builder.unclosed_tags | _SCRIPT_TAGS)


def _read_blocks(text: str, skipped_tags: frozenset[str]) -> _HtmlBlockBuilder:
    builder = _HtmlBlockBuilder(skipped_tags)
    # No tag ends after the last ">": the parser would search for its end from each "<" on.
    head, end, tail = text.rpartition(">")
    builder.feed(head + end + tail.replace("<", "&lt;"))
    builder.close()
    builder.end_document()
    return builder


@dataclass(slots=True)
class _OpenTable:
    """A table whose end has not come: its rows, and the blocks of all its cells and of the open one."""

    rows: list[list[Cell]] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    captions: list[Block] = field(default_factory=list)
    cell: list[Block] = field(default_factory=list)
    spans: tuple[int, int] = (1, 1)
    has_open_cell: bool = False
    is_layout: bool = False

    def end_cell(self) -> None:
        """Add the cell to its row; what stood before the first cell is a caption."""
        texts = [flatten_block(block) for block in self.cell]
        if self.has_open_cell:
            if not self.rows:
                self.rows.append([])
            self.rows[-1].append(Cell("; ".join(texts), *self.spans))
            self.blocks += self.cell
        else:
            self.captions += self.cell
        self.is_layout |= any(len(text) > _MAX_CELL_WORDS for text in texts) and (
            sum(map(word_count, texts)) > _MAX_CELL_WORDS
        )
        self.cell, self.has_open_cell = [], False

    def render(self) -> list[Block]:
        """The table, or the blocks of its cells if it only arranges a page."""
        if self.is_layout or all(len(row) <= 1 for row in self.rows):
            return self.captions + self.blocks
        rows = [row for row in expand_spans(self.rows) if any(row)]
        width = max(map(len, rows), default=0)
        titles = next((at for at, row in enumerate(rows) if len(row) > 1 or width == 1), 0)
        heads = [Block(text, 0, 0) for row in rows[:titles] for text in row]
        return [*self.captions, *heads, Block(render_table(rows[titles:]), 0, 0, "table")]


def flatten_block(block: Block) -> str:
    """The text of a block on one line; a table within a cell becomes "a, b; c, d"."""
    if block.type == "text" and "\n" not in block.text:
        return block.text
    if block.type != "table":
        return clean_single_line(block.text)
    rows = [line for line in block.text.split("\n") if line.strip("-| ")]
    return "; ".join(row.replace(" | ", ", ") for row in rows)


@dataclass(slots=True)
class _OpenList:
    """A list that has not ended. `number`: that of its next item, None if its items have none."""

    number: int | None
    kind: str = "1"
    step: int = 1

    def next_marker(self, item: Mapping[str, str | None]) -> str:
        """What stands before an item, which may state its number."""
        if self.number is None:
            return "- "
        number = _read_number(item.get("value"), self.number)
        self.number = number + self.step
        return f"{_format_number(number, item.get('type') or self.kind)}. "


def _open_list(tag: str, attributes: Mapping[str, str | None]) -> _OpenList:
    """A list; one that counts down from its unknown number of items has no numbers."""
    is_reversed = "reversed" in attributes
    if tag == "ul" or (is_reversed and not attributes.get("start")):
        return _OpenList(None)
    number = _read_number(attributes.get("start"), 1)
    return _OpenList(number, attributes.get("type") or "1", -1 if is_reversed else 1)


def _read_number(value: str | None, default: int) -> int:
    text = (value or "").strip()
    return int(text) if text.isascii() and _NUMBER.fullmatch(text) else default


def _format_number(number: int, kind: str) -> str:
    """A number as a list shows it: in figures, letters ("a", "A") or Roman ones ("i", "I")."""
    if kind in {"i", "I"} and 0 < number <= _MAX_ROMAN:
        text = ""
        for value, letters in _ROMAN_SIGNS.items():
            text += letters * (number // value)
            number %= value
    elif kind in {"a", "A"} and number > 0:
        text = ""
        while number:
            number, place = divmod(number - 1, _LETTERS)
            text = chr(ord("a") + place) + text
    else:
        return str(number)
    return text.upper() if kind.isupper() else text


class _HtmlBlockBuilder(HTMLParser):
    """Builds blocks in one pass over the tags; text is collected until the next block begins."""

    def __init__(self, skipped_tags: frozenset[str]) -> None:
        super().__init__(convert_charrefs=True)
        self._skipped_tags = skipped_tags
        self.blocks: list[Block] = []
        self.title = ""
        self.meta: dict[str, str] = {}
        self._text = ""
        self._block_type: BlockType = "text"
        self._level = 0
        self._open_skipped: list[str] = []
        self._lists: list[_OpenList] = []
        self._tables: list[_OpenTable] = []
        self._deeper_tables = 0  # that are open within the deepest one of these
        self._link = ("", 0)

    @property
    def unclosed_tags(self) -> frozenset[str]:
        """Skipped elements that have not ended."""
        return frozenset(self._open_skipped)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self._skipped_tags:
            self._open_skipped.append(tag)
        elif self._open_skipped:
            return
        elif tag == "br":
            self._text += "\n"
        elif tag == "meta":
            values = {key: value or "" for key, value in attrs}
            self.meta.setdefault((values.get("name") or values.get("property", "")).lower(), values.get("content", ""))
        elif tag == "a":
            self._link = (dict(attrs).get("href") or "", len(self._text))
        elif tag == "img":
            self._text += f" {dict(attrs).get('alt') or ''} "
        elif tag in _BLOCK_TAGS or tag in _HEADING_LEVELS:
            self._start_element(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open_skipped:
            while self._open_skipped.pop() != tag:
                pass  # elements left open inside of it end too
        elif self._open_skipped:
            return
        elif tag == "a":
            self._close_link()
        elif tag in _BLOCK_TAGS or tag in _HEADING_LEVELS:
            self._end_element(tag)

    def handle_data(self, data: str) -> None:
        if not self._open_skipped:
            self._text += data if self._block_type == "code" else _BLANKS.sub(" ", data)

    def end_document(self) -> None:
        """End what the page left open."""
        while self._tables:
            self._end_element("table")
        self.end_block()

    def end_block(self) -> None:
        """End the open block. Inside a table the text stays until the end of its cell."""
        if self._tables and not self._level:
            self._text += " "
            return
        if self._block_type == "item" and _LIST_MARKER.fullmatch(self._text):
            return  # the item's text is in a paragraph of its own
        self._flush_text()
        self._block_type, self._level = "text", 0

    def _start_element(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if self._tables and (tag in _HEADING_LEVELS or tag == "table"):
            self._flush_text()
            self._tables[-1].is_layout |= tag in _HEADING_LEVELS
        self.end_block()
        if tag in _HEADING_LEVELS:
            self._block_type, self._level = "heading", _HEADING_LEVELS[tag]
        elif tag == "pre":
            self._block_type = "code"
        elif tag in {"ul", "ol"}:
            self._lists.append(_open_list(tag, dict(attributes)))
        elif tag == "li":
            self._block_type, self._text = "item", self._text + self._list_marker(dict(attributes))
        elif tag == "table":
            self._start_table()
        elif tag in {"td", "th", "tr"} and self._tables and not self._deeper_tables:
            self._start_cell(tag, attributes)

    def _start_table(self) -> None:
        if len(self._tables) < _MAX_TABLE_DEPTH:
            self._tables.append(_OpenTable())
        else:
            self._deeper_tables += 1

    def _end_element(self, tag: str) -> None:
        if tag == "title":
            self.title, self._text = self.title or self._text, ""
        elif tag in {"td", "th"} and self._tables:
            if not self._deeper_tables:
                self._end_cell()
        elif tag == "table" and self._deeper_tables:
            self._deeper_tables -= 1
        elif tag == "table" and self._tables:
            self._end_table()
        else:
            if tag == "li" and _LIST_MARKER.fullmatch(self._text):
                self._text = ""
            self.end_block()
            if tag in {"ul", "ol"} and self._lists:
                self._lists.pop()

    def _start_cell(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Start a cell or a row, which end the cell before: pages may leave out their end tags."""
        self._end_cell()
        table = self._tables[-1]
        if tag == "tr":
            table.rows.append([])
            return
        values = dict(attributes)
        table.spans = _read_span(values.get("colspan"), 1), _read_span(values.get("rowspan"), 0)
        table.has_open_cell = True

    def _end_cell(self) -> None:
        self._flush_text()
        self._tables[-1].end_cell()

    def _end_table(self) -> None:
        self._end_cell()
        for block in self._tables.pop().render():
            self._insert_block(block)

    def _flush_text(self) -> None:
        if self._tables and not self._level:
            text, self._text = clean_single_line(self._text), ""
            if text:
                self._insert_block(Block(text, 0, 0))
            return
        text, self._text = self._text, ""
        lines = [line.rstrip() for line in text.split("\n")] if self._block_type == "code" else text.split("\n")
        cleaned = (
            "\n".join(lines).strip("\n")
            if self._block_type == "code"
            else "\n".join(clean_single_line(line) for line in lines)
        )
        indent = "  " * min(len(self._lists) - 1, MAX_INDENTED_LEVELS) if self._block_type == "item" else ""
        self._add_block(indent + cleaned.strip("\n"), self._block_type)

    def _list_marker(self, attributes: Mapping[str, str | None]) -> str:
        return self._lists[-1].next_marker(attributes) if self._lists else "- "

    def _close_link(self) -> None:
        address, start = self._link
        if (
            address.startswith(("http://", "https://"))
            and address not in self._text[start:]
            and self._text[start:].strip()
        ):
            self._text = self._text.rstrip() + f" ({address})"
        self._link = ("", 0)

    def _add_block(self, text: str, block_type: BlockType) -> None:
        if text.strip():
            self._insert_block(Block(text, 0, 0, block_type, self._level))

    def _insert_block(self, block: Block) -> None:
        """Add a block to the open cell, or to the document."""
        if self._tables:
            self._tables[-1].cell.append(block)
        else:
            number = len(self.blocks) + 1
            self.blocks.append(replace(block, start=number, stop=number))


def _read_span(value: str | None, least: int) -> int:
    """The number of columns or rows that a cell covers."""
    digits = (value or "").strip()[:5]
    return max(int(digits), least) if digits.isascii() and digits.isdigit() else 1
