"""Parse Markdown into sections by heading, without emphasis markers; code blocks are kept unchanged. Pure."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from engine.parsers.base import ParsedFile
from engine.parsers.dates import parse_date
from engine.parsers.encodings.decoding import decode_text
from engine.parsers.html import read_fragment
from engine.parsers.passages import Block, find_first_heading, passages_by_section, render_table
from engine.text.cleanup import clean_lines, clean_multiline, clean_single_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

    from engine.parsers.passages import BlockType

_FRONT_MATTER = re.compile(r"\A\n*+---[ \t]*+\n(?=[\w-]++[ \t]*+:)(.*?\n)(?:---|\.\.\.)[ \t]*+(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^(title|date|updated)[ \t]*:[ \t]*(.+?)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_TABLE_TAG = re.compile(r"<(/?)table\b", re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_NO_LINE = "<!-- -->"
_BREAK = re.compile(r"</?(?:br|tr|li|p|div|dt|dd|h[1-6]|table)\b", re.IGNORECASE)
_CELL = re.compile(r"<t[dh]\b", re.IGNORECASE)


def parse(name: str, data: bytes) -> ParsedFile:
    """Passages by section. The title is the front matter's, else the first heading, else the name."""
    text = "\n".join(clean_lines(decode_text(data)))
    front = _FRONT_MATTER.match(text)
    front_text = front[1] if front else ""
    first = text.count("\n", 0, front.start(1)) + 1 if front else 1
    fields = {match[1].lower(): match[2].strip("\"'") for match in _FIELD.finditer(front_text)}
    body = parse_blocks(_blank_prefix(text, front.end()) if front else text)
    head = [Block(clean_multiline(front_text), first, first + front_text.count("\n") - 1, "code")] if front else []
    title = clean_single_line(fields.get("title", "")) or find_first_heading(body) or name
    return ParsedFile(
        title, passages_by_section([*head, *body], "line"), parse_date(fields.get("updated") or fields.get("date", ""))
    )


def parse_blocks(text: str) -> list[Block]:
    """The blocks of a Markdown text in order, located by their lines."""
    builder = _MarkdownBlockBuilder()
    for token in _parser().parse(_join_tables(text)):
        builder.handle_token(token)
    return [block for block in builder.blocks if block.text.strip()]


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"maxNesting": 60}).enable(["table", "strikethrough"])


class _MarkdownBlockBuilder:
    """Builds blocks in one pass over the tokens of a document, tracking open lists, tables and headings."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._lists: list[int | None] = []
        self._list_marker = ""
        self._level = 0
        self._rows: list[list[str]] | None = None
        self._line_range = (1, 1)

    def handle_token(self, token: Token) -> None:
        if token.map and self._rows is None:
            self._line_range = (token.map[0] + 1, max(token.map[0] + 1, token.map[1]))
        if token.type == "inline":
            self._handle_inline(render_inline(token.children or []))
        elif token.type in {"fence", "code_block"}:
            self._add_block(token.content.strip("\n"), "code")
        elif token.type == "html_block":
            for block in read_fragment(token.content):
                self._add_block(block.text, block.type, block.level)
        elif token.type.startswith("heading_"):
            self._level = int(token.tag[1]) if token.nesting == 1 else 0
        else:
            self._handle_container(token)

    def _handle_inline(self, text: str) -> None:
        if self._rows is not None:
            self._rows[-1].append(clean_single_line(text))
        elif self._level:
            self.blocks.append(Block(clean_single_line(text), *self._line_range, "heading", self._level))
        elif self._list_marker:
            self._add_block(self._list_marker + text, "item")
            self._list_marker = ""
        else:
            self._add_block("  " * len(self._lists) + text, "item" if self._lists else "text")

    def _handle_container(self, token: Token) -> None:
        match token.type:
            case "bullet_list_open":
                self._lists.append(None)
            case "ordered_list_open":
                self._lists.append(int(token.attrGet("start") or 1))
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
            case "list_item_open":
                self._list_marker = self._next_list_marker()
            case "table_open":
                self._rows = []
            case "tr_open" if self._rows is not None:
                self._rows.append([])
            case "table_close" if self._rows is not None:
                self._add_block(render_table(self._rows), "table")
                self._rows = None
            case _:
                pass

    def _next_list_marker(self) -> str:
        number = self._lists[-1]
        if number is not None:
            self._lists[-1] = number + 1
        return "  " * (len(self._lists) - 1) + ("- " if number is None else f"{number}. ")

    def _add_block(self, text: str, block_type: BlockType = "text", level: int = 0) -> None:
        self.blocks.append(Block(text, *self._line_range, block_type, level))


def render_inline(tokens: Sequence[Token]) -> str:
    """The text of a paragraph; web links keep their address after their text, pictures their description."""
    pieces: list[str] = []
    links: list[tuple[int, str]] = []
    for token in tokens:
        if token.type == "link_open":
            links.append((len(pieces), str(token.attrGet("href") or "")))
        elif token.type == "link_close":
            start, address = links.pop()
            if address.startswith(("http://", "https://")) and address not in "".join(pieces[start:]):
                pieces.append(f" ({address})")
        elif token.type in {"softbreak", "hardbreak"}:
            pieces.append(" " if token.type == "softbreak" else "\n")
        elif token.type == "html_inline":
            pieces.append("\n" if _BREAK.match(token.content) else " " if _CELL.match(token.content) else "")
        else:
            pieces.append(token.content)
    return "".join(pieces)


def _join_tables(text: str) -> str:
    """The text without empty lines inside of HTML tables, which would end them; all lines stay where they are."""
    lines, fence, start, depth = text.split("\n"), "", 0, 0
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark and not depth and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1][:3]
        if fence or not _TABLE_TAG.search(line):
            continue
        start = start if depth else number
        depth += sum(-1 if tag[1] else 1 for tag in _TABLE_TAG.finditer(line))
        if depth <= 0:
            lines[start:number] = [inner if inner.strip() else _NO_LINE for inner in lines[start:number]]
            depth = 0
    return "\n".join(lines)


def _blank_prefix(text: str, end: int) -> str:
    """The text with its beginning replaced by empty lines, so that line numbers stay the same."""
    return "\n" * text.count("\n", 0, end) + text[end:]
