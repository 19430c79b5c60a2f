"""Build a table of Slack from the first table of a Markdown text; the text before and after it stays Markdown. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.slack.replies.mrkdwn import LINKLESS_PARSER, MARKDOWN_PARSER, MAX_BRACKETS
from bot.text.markdown import is_web_link

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

    Block = dict[str, Any]

MAX_ROWS, MAX_COLUMNS = 100, 20  # of a table; a message has one
MAX_LENGTH = 10_000  # characters of all cells
STYLES = {"strong": "bold", "em": "italic", "s": "strike"}
EMPTY = " "  # a cell has at least one character


def split_at_table(markdown: str) -> tuple[str, Block | None, str]:
    """The text before the first table, the table as a block, and the text after it.

    There is no block if there is no table, or none that Slack would take.
    """
    if "|" not in markdown:
        return markdown, None, ""
    tokens = (MARKDOWN_PARSER if markdown.count("[") <= MAX_BRACKETS else LINKLESS_PARSER).parse(markdown)
    opening = next((at for at, each in enumerate(tokens) if each.type == "table_open" and each.level == 0), None)
    if opening is None or not (place := tokens[opening].map):
        return markdown, None, ""
    closing = next(at for at in range(opening, len(tokens)) if tokens[at].type == "table_close")
    block = _build_table(tokens[opening:closing])
    lines = markdown.split("\n")
    before, after = "\n".join(lines[: place[0]]), "\n".join(lines[place[1] :])
    return (before.strip("\n"), block, after.strip("\n")) if block else (markdown, None, "")


def _build_table(tokens: Sequence[Token]) -> Block | None:
    """The block of the tokens of a table; None if it is too large."""
    rows: list[list[Block]] = []
    alignments: list[str] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "th_open":
            alignments.append(str(token.attrGet("style") or "").removeprefix("text-align:"))
        elif token.type == "inline":
            rows[-1].append(_build_cell(token.children or []))
    length = sum(len(leaf.get("text", "")) + len(leaf.get("url", "")) for row in rows for leaf in _list_leaves(row))
    if not rows or len(rows) > MAX_ROWS or len(alignments) > MAX_COLUMNS or length > MAX_LENGTH:
        return None
    settings = [{"align": alignment or "left", "is_wrapped": True} for alignment in alignments]
    return {"type": "table", "column_settings": settings, "rows": rows}


def _list_leaves(row: Sequence[Block]) -> Iterator[Block]:
    for cell in row:
        yield from cell["elements"][0]["elements"] if cell["type"] == "rich_text" else [cell]


def _build_cell(tokens: Sequence[Token]) -> Block:
    """A cell: plain, or with styles and links to the web."""
    leaves: list[Block] = []
    open_styles: list[str] = []
    address = ""
    for token in tokens:
        name = token.type.rpartition("_")[0]
        if name in STYLES:
            open_styles = [*open_styles, name] if token.nesting > 0 else open_styles[:-1]
        elif token.type == "link_open":
            address = str(token.attrGet("href") or "")
        elif token.type == "link_close":
            address = ""
        elif text := " " if token.type in {"softbreak", "hardbreak"} else token.content:
            style = {STYLES[tag]: True for tag in open_styles} | ({"code": True} if name == "code" else {})
            kind = {"type": "link", "url": address} if is_web_link(address) else {"type": "text"}
            leaves.append({**kind, "text": text, **({"style": style} if style else {})})
    if all(leaf.keys() == {"type", "text"} and leaf["type"] == "text" for leaf in leaves):
        return {"type": "raw_text", "text": "".join(leaf["text"] for leaf in leaves) or EMPTY}
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": leaves}]}
