"""Render the blocks of a Slack message as its text: rich text, tables, code and lists as Markdown. Pure.

The result is in Slack's markup (`<@U1>`, `<url|label>`, `&lt;`), which `markup.to_plain_text` resolves.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from adapters.common.json_fields import (
    MAX_DEPTH,
    get_row,
    get_rows,
    get_text,
    join_lines,
    list_rows,
    render_markdown_table,
)
from adapters.slack.workspace.markup import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Row = Mapping[str, Any]

ID = re.compile(r"[A-Z0-9]{1,40}")
MRKDWN, CONTROLS = "mrkdwn", frozenset({"actions", "context_actions", "divider", "file"})
PICTURE = "image"
VALUES = ("initial_value", "initial_date", "initial_time")  # of a field that is filled in
TOKEN_OR_BAR = re.compile(r"<[^<>]*>|\|")
URL_CHARACTERS = str.maketrans({"<": "%3C", ">": "%3E", "|": "%7C", " ": "%20", "\n": ""})
# Where blocks that are not known have their words, in the order in which Slack shows them.
TEXT_FIELDS = (
    "name",
    "title",
    "subtitle",
    "label",
    "text",
    "body",
    "description",
    "details",
    "output",
    "hint",
    "value",
)
LIST_FIELDS = ("fields", "blocks", "elements", "rows", "items", "tasks", "columns", "sources", "children")


def render_blocks(blocks: object, depth: int = 0) -> str:
    """The text of blocks, or of other elements that stand below each other."""
    return join_lines(render_block(row, depth) for row in list_rows(blocks)) if depth < MAX_DEPTH else ""


def render_block(block: Row, depth: int = 0) -> str:
    """The text of a block; "" for one that only has buttons."""
    kind = get_text(block, "type")
    if kind in CONTROLS:
        return join_lines(_render_button(row) for row in get_rows(block, "elements"))
    render = BLOCKS.get(kind) or RICH_TEXT.get(kind)
    return render(block, depth + 1) if render else _render_unknown(block, depth + 1)


def link(url: str, label: str = "") -> str:
    """A link in Slack's markup."""
    target = escape(url.translate(URL_CHARACTERS))
    return f"<{target}|{' '.join(escape(label).split())}>" if label else f"<{target}>" if target else ""


def mention(sign: str, id_: str, label: str = "") -> str:
    """A mention in Slack's markup; the label, or "", if the id is none of Slack's."""
    name = " ".join(escape(label).split())
    if not ID.fullmatch(id_):
        return name
    return f"<{sign}{id_}|{name}>" if name else f"<{sign}{id_}>"


def quote(text: str) -> str:
    """A text as a quotation."""
    return "\n".join(f"&gt; {line}".rstrip() for line in text.split("\n"))


# Blocks.


def _render_text(found: object) -> str:
    """The text of a text object, or of a plain text."""
    if isinstance(found, str):
        return escape(found.strip())
    if not isinstance(found, dict):
        return ""
    text = get_text(found, "text")
    return text if found.get("type") == MRKDWN else escape(text)


def _render_section(block: Row, _depth: int) -> str:
    fields = (_render_text(row) for row in get_rows(block, "fields"))
    accessory = get_row(block, "accessory")
    return join_lines([_render_text(block.get("text")), *fields, _render_button(accessory), _render_chosen(accessory)])


def _render_context(block: Row, _depth: int) -> str:
    return " ".join(
        filter(None, (_render_text(row) for row in get_rows(block, "elements") if row.get("type") != PICTURE))
    )


def _render_picture(block: Row, _depth: int) -> str:
    title, alt = _render_text(block.get("title")), escape(get_text(block, "alt_text"))
    return join_lines([title, alt if alt != title else ""])


def _render_video(block: Row, _depth: int) -> str:
    title, url = get_row(block, "title"), get_text(block, "title_url", "video_url")
    label = get_text(title, "text") or get_text(block, "alt_text")
    return join_lines([link(url, label) if url else escape(label), _render_text(block.get("description"))])


def _render_input(block: Row, _depth: int) -> str:
    chosen = _render_chosen(get_row(block, "element"))
    return join_lines([_render_text(block.get("label")), chosen, _render_text(block.get("hint"))])


def _render_chosen(element: Row) -> str:
    """What a field is filled with, or which of its options are chosen."""
    options = [get_row(element, "initial_option"), *get_rows(element, "initial_options")]
    filled = escape(get_text(element, *VALUES))
    rich = get_row(element, "initial_value")
    return join_lines([filled, render_block(rich) if rich else "", *(_render_text(row.get("text")) for row in options)])


def _render_table(block: Row, depth: int) -> str:
    rows = block.get("rows")
    found = [row for row in rows if isinstance(row, list)] if isinstance(rows, list) else []
    return render_markdown_table([_render_cell(cell, depth) for cell in list_rows(row)] for row in found)


def _render_cell(cell: Row, depth: int) -> str:
    if cell.get("type") == "raw_number":
        return escape(get_text(cell, "text", "value"))
    text = _render_text(cell) if "text" in cell else render_block(cell, depth)
    return TOKEN_OR_BAR.sub(lambda found: r"\|" if found[0] == "|" else found[0], text)


def _render_call(block: Row, _depth: int) -> str:
    found = get_row(get_row(block, "call"), "v1")
    return escape(get_text(found, "name", "topic"))


def _render_button(element: Row) -> str:
    """A button that leads somewhere; others are controls."""
    url = get_text(element, "url")
    return link(url, get_text(get_row(element, "text"), "text")) if url else ""


def _render_unknown(block: Row, depth: int) -> str:
    """The words of a block that this module does not know, wherever it has them."""
    parts = []
    for key in TEXT_FIELDS:
        found = block.get(key)
        if isinstance(found, dict) and not isinstance(found.get("text"), str):
            parts.append(render_block(found, depth) if depth < MAX_DEPTH else "")
        else:
            parts.append(_render_text(found))
    parts += [render_blocks(block.get(key), depth) for key in LIST_FIELDS]
    return join_lines(parts)


# Rich text.


def _render_inline(element: Row, depth: int) -> str:
    """The elements of a section of rich text, one after the other."""
    if depth >= MAX_DEPTH:
        return ""
    return "".join(_render_element(row, depth + 1) for row in get_rows(element, "elements"))


def _render_element(element: Row, depth: int) -> str:
    kind = get_text(element, "type")
    if kind in INLINE:
        return _style(INLINE[kind](element), get_row(element, "style"))
    if kind in RICH_TEXT:
        return RICH_TEXT[kind](element, depth)
    url, label = get_text(element, "url"), get_text(element, "text", "title", "name", "fallback")
    return link(url, label) if url else escape(label) or _render_unknown(element, depth)


def _style(text: str, style: Row) -> str:
    """Mark code and what was struck through; emphasis has no meaning of its own."""
    core = text.strip()
    for name, sign in (("code", "`"), ("strike", "~")):
        if style.get(name) and core:
            return text.replace(core, f"{sign}{core}{sign}", 1)
    return text


def _plain(element: Row) -> str:
    text = element.get("text")
    return escape(text) if isinstance(text, str) else ""


def _date(element: Row) -> str:
    seconds = get_text(element, "timestamp").partition(".")[0]
    label = escape(get_text(element, "fallback"))
    return label or (f"<!date^{seconds}^{{date}}>" if seconds.isdigit() else "")


def _emoji(element: Row) -> str:
    name = get_text(element, "name")
    return f":{escape(name)}:" if name else ""


INLINE: Mapping[str, Callable[[Row], str]] = {
    "text": _plain,
    "link": lambda found: link(get_text(found, "url"), get_text(found, "text")),
    "user": lambda found: mention("@", get_text(found, "user_id")),
    "channel": lambda found: mention("#", get_text(found, "channel_id")),
    "usergroup": lambda found: mention("!subteam^", get_text(found, "usergroup_id")),
    "broadcast": lambda found: f"<!{get_text(found, 'range')}>" if get_text(found, "range").isalpha() else "",
    "color": lambda found: escape(get_text(found, "value")),
    "emoji": _emoji,
    "date": _date,
}


def _render_rich_section(element: Row, depth: int) -> str:
    return _render_inline(element, depth).strip("\n")


def _render_list(element: Row, depth: int) -> str:
    return "\n".join(_list_items(element, depth))


def _list_items(element: Row, depth: int) -> Iterator[str]:
    indent = "  " * min(_count(element, "indent"), MAX_DEPTH)
    first = _count(element, "offset") + 1
    for number, item in enumerate(get_rows(element, "elements"), first):
        sign = f"{number}." if element.get("style") == "ordered" else "-"
        yield f"{indent}{sign} {render_block(item, depth)}"


def _count(element: Row, key: str) -> int:
    value = element.get(key)
    return value if isinstance(value, int) and value > 0 else 0


def _render_code(element: Row, depth: int) -> str:
    return f"```\n{_render_inline(element, depth)}\n```"


def _render_quote(element: Row, depth: int) -> str:
    return quote(_render_inline(element, depth))


RICH_TEXT: Mapping[str, Callable[[Row, int], str]] = {
    "rich_text_section": _render_rich_section,
    "rich_text_list": _render_list,
    "rich_text_preformatted": _render_code,
    "rich_text_quote": _render_quote,
}

BLOCKS: Mapping[str, Callable[[Row, int], str]] = {
    "rich_text": lambda block, depth: render_blocks(block.get("elements"), depth),
    "header": lambda block, _: _render_text(block.get("text")),
    "markdown": lambda block, _: _render_text(block.get("text")),
    "section": _render_section,
    "context": _render_context,
    "image": _render_picture,
    "video": _render_video,
    "input": _render_input,
    "table": _render_table,
    "call": _render_call,
}
