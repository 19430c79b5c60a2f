"""Parse HTML into sections by heading, without scripts, styles, navigation and forms. Pure."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from engine.parsers.base import ParsedFile
from engine.parsers.dates import parse_date
from engine.parsers.encodings.decoding import decode_text
from engine.parsers.passages import Block, BlockType, find_first_heading, passages_by_section, render_table, word_count
from engine.parsers.sandbox.nesting import MAX_INDENTED_LEVELS
from engine.text.cleanup import clean_lines, clean_single_line

_SCRIPT_TAGS = frozenset({"script", "style"})
# Elements whose text is skipped.
_SKIPPED_TAGS = _SCRIPT_TAGS | {"template", "noscript", "svg", "nav", "iframe", "select", "button", "object"}
_BLOCK_TAGS = frozenset(
    {"address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "div", "dl", "dt"}
    | {"fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "li", "main", "ol", "p", "pre"}
    | {"section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "title", "tr", "ul"}
)
_LIST_MARKER = re.compile(r"\A\s*+(?:-|\d++\.)\s*+\Z")
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


def parse(name: str, data: bytes) -> ParsedFile:
    """Passages by section. The title is the page's own, else its first heading, else the name."""
    text = "\n".join(clean_lines(decode_text(data)))
    builder = _build_blocks(text, _SKIPPED_TAGS)
    if builder.unclosed_tags:
        # An element that never ends would skip the rest of the page, so its text is kept.
        builder = _build_blocks(text, _SKIPPED_TAGS - builder.unclosed_tags | _SCRIPT_TAGS)
    title = clean_single_line(builder.title) or find_first_heading(builder.blocks) or name
    dates = (parse_date(builder.meta[key]) for key in _DATE_NAMES if key in builder.meta)
    return ParsedFile(title, passages_by_section(builder.blocks, "paragraph"), next(filter(None, dates), None))


def _build_blocks(text: str, skipped_tags: frozenset[str]) -> _HtmlBlockBuilder:
    builder = _HtmlBlockBuilder(skipped_tags)
    # No tag ends after the last ">": the parser would search for its end from each "<" on.
    head, end, tail = text.rpartition(">")
    builder.feed(head + end + tail.replace("<", "&lt;"))
    builder.close()
    builder.end_document()
    return builder


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
        self._lists: list[int | None] = []
        self._tables: list[list[list[str]]] = []
        self._open_cells: list[bool] = []  # of each open table, whether a cell has begun
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
            self._start_element(tag)

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

    def _start_element(self, tag: str) -> None:
        if tag in _HEADING_LEVELS or tag == "table":
            self._flatten_layout_table()
        self.end_block()
        if tag in _HEADING_LEVELS:
            self._block_type, self._level = "heading", _HEADING_LEVELS[tag]
        elif tag == "pre":
            self._block_type = "code"
        elif tag in {"ul", "ol"}:
            self._lists.append(None if tag == "ul" else 0)
        elif tag == "li":
            self._block_type, self._text = "item", self._text + self._list_marker()
        elif tag == "table":
            self._tables.append([])
            self._open_cells.append(False)
        elif tag in {"td", "th", "tr"} and self._tables:
            self._start_cell(tag)

    def _end_element(self, tag: str) -> None:
        if tag == "title":
            self.title, self._text = self.title or self._text, ""
        elif tag in {"td", "th"} and self._tables:
            self._open_cells[-1] = False
            self._end_cell()
        elif tag == "table" and self._tables:
            if self._open_cells.pop():
                self._end_cell()
            self._end_table(self._tables.pop())
        else:
            if tag == "li" and _LIST_MARKER.fullmatch(self._text):
                self._text = ""
            self.end_block()
            if tag in {"ul", "ol"} and self._lists:
                self._lists.pop()

    def _start_cell(self, tag: str) -> None:
        """Start a cell or a row, which end the cell before: pages may leave out their end tags."""
        if self._open_cells[-1]:
            self._end_cell()
        elif self._text.strip():  # a caption
            self._add_block(clean_single_line(self._text), "text")
            self._text = ""
        self._open_cells[-1] = tag != "tr"
        if tag == "tr":
            self._tables[-1].append([])

    def _end_cell(self) -> None:
        text, self._text = clean_single_line(self._text), ""
        rows = self._tables[-1]
        if not rows:
            rows.append([])
        rows[-1].append(text)

    def _end_table(self, rows: list[list[str]]) -> None:
        rest, self._text = self._text, ""
        rows = [row for row in rows if any(row)]
        if any(word_count(cell) > _MAX_CELL_WORDS for row in rows for cell in row) or all(
            len(row) == 1 for row in rows
        ):
            for cell in (cell for row in rows for cell in row):
                self._add_block(cell, "text")
        else:
            self._add_block(render_table(rows), "table")
        self._text = rest
        self.end_block()

    def _flatten_layout_table(self) -> None:
        """Turn the rows so far into plain text: a table with headings or tables inside is page layout."""
        if self._tables:
            rows, self._tables[-1] = self._tables[-1], []
            for cell in (cell for row in rows for cell in row):
                self._add_block(cell, "text")
            self._flush_text()

    def _flush_text(self) -> None:
        text, self._text = self._text, ""
        lines = [line.rstrip() for line in text.split("\n")] if self._block_type == "code" else text.split("\n")
        cleaned = (
            "\n".join(lines).strip("\n")
            if self._block_type == "code"
            else "\n".join(clean_single_line(line) for line in lines)
        )
        indent = "  " * min(len(self._lists) - 1, MAX_INDENTED_LEVELS) if self._block_type == "item" else ""
        self._add_block(indent + cleaned.strip("\n"), self._block_type)

    def _list_marker(self) -> str:
        number = self._lists[-1] if self._lists else None
        if number is None:
            return "- "
        self._lists[-1] = number + 1
        return f"{number + 1}. "

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
            number = len(self.blocks) + 1
            self.blocks.append(Block(text, number, number, block_type, self._level))
