"""How a message looks: mrkdwn and blocks as the lines, links and buttons that a person sees."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tests.support.slack_server.shapes import TOKEN

if TYPE_CHECKING:
    from tests.support.slack_server.state import JSON, Message
    from tests.support.slack_server.workspace import Workspace

CITATION = re.compile(r"\[\d+\]")
MARKDOWN_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(<?(https?://[^\s<>()]+(?:\([^\s<>()]*\)[^\s<>()]*)*)>?\)")
BARE_LINK = re.compile(r"https?://[^\s<>()\]|]+")
BARE_NAME = re.compile(  # Slack links what looks like a domain or a mail address, unless text is verbatim
    r"(?<![\w@./:-])(?:[\w.+-]+@)?(?:[\w-]+\.)+(?:com|net|org|io|app|dev|example|md|zip|py|sh)(?![\w-])(?:[/?#][^\s<>|`]*)?"
)
NAME_END = re.compile(r"[)'\"]{0,2}[.,;!?]?\Z")  # of a name, part of the sentence
CODE = re.compile(r"(```.*?(?:```|$)|`[^`\n]+`)", re.DOTALL)
# Markdown whose marks Slack draws, with the group that remains.
DRAWN = (
    (re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*"), r"\1"),
    (re.compile(r"(?<!\w)_(?=\S)([^_\n]+)(?<=\S)_(?!\w)"), r"\1"),
    (re.compile(r"^#{1,6} +", re.MULTILINE), ""),
)
TASK_MARKS = {"complete": "✓", "in_progress": "◐", "pending": "○", "error": "✗"}


def draw_markdown(text: str) -> str:
    """Markdown as Slack draws it, but for code: bold and headings without marks, labels with their addresses."""
    pieces = CODE.split(text)
    for number in range(0, len(pieces), 2):
        pieces[number] = MARKDOWN_LINK.sub(lambda found: _draw_link(found[1], found[2]), pieces[number])
        for pattern, drawn in DRAWN:
            pieces[number] = pattern.sub(drawn, pieces[number])
    return "".join(pieces)


def _draw_link(label: str, url: str) -> str:
    """A link as it is printed: its label, and its address unless the label is the number of a source."""
    return label if CITATION.fullmatch(label) else f"{label} ({url})"


def draw_date(timestamp: object, now: float) -> str:
    """A date in the format of the adapter, `{date_short_pretty} {time}`, for a reader in UTC."""
    time, today = datetime.fromtimestamp(int(str(timestamp)), UTC), datetime.fromtimestamp(now, UTC).date()
    day = {0: "today", 1: "yesterday"}.get((today - time.date()).days, f"{time:%b} {time.day}, {time.year}")
    return f"{day} {time:%-I:%M %p}"


def find_bare_links(text: str) -> list[tuple[str, str]]:
    """The addresses and names in a text that Slack makes links of its own, as (label, address)."""
    names = [NAME_END.sub("", name) for name in BARE_NAME.findall(CODE.sub("", BARE_LINK.sub("", text)))]
    urls = dict.fromkeys(BARE_LINK.findall(text))
    return [*((url, url) for url in urls), *((name, f"http://{name}") for name in names)]


@dataclass(slots=True)
class RenderedMessage:
    """What is visible of a message; `links` as (label, address), `sources` as (number or title, address).

    `body` is the text as it was written. `buttons`: label, block, element, and what a press adds to the element.
    """

    lines: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    sources: list[tuple[str, str]] = field(default_factory=list)
    buttons: list[tuple[str, JSON, JSON, JSON]] = field(default_factory=list)


class Renderer:
    """Renders for one viewer: some buttons are visible to some people only."""

    def __init__(self, space: Workspace, viewer: str) -> None:
        self.space = space
        self.viewer = viewer

    def render(self, message: Message) -> RenderedMessage:
        """Render the blocks if there are any, else the text."""
        blocks = message.stream.blocks if message.stream is not None else message.blocks
        if blocks:
            return self.render_blocks(blocks)
        face = RenderedMessage()
        face.body.append(self._mrkdwn(message.text, face))
        face.lines += face.body
        return face

    def render_blocks(self, blocks: list[JSON]) -> RenderedMessage:
        face = RenderedMessage()
        for block in blocks:
            self._block(block, face)
        return face

    def _block(self, block: JSON, face: RenderedMessage) -> None:
        match block["type"]:
            case "markdown":
                face.body.append(self._markdown(block["text"], face))
                face.lines.append(draw_markdown(face.body[-1]))
            case "section":
                face.lines.append(self._text(block["text"], face))
            case "context":
                face.lines.append("  ".join(self._text(element, face) for element in block["elements"]))
            case "actions" | "context_actions":
                for element in block["elements"]:
                    self._button(block, element, face)
            case "rich_text":
                self._rich_text(block, face)
            case "table":
                face.lines += ["  ".join(self._cell(cell, face) for cell in row) for row in block["rows"]]
            case "task_card":
                self._task(block, face)

    def _rich_text(self, block: JSON, face: RenderedMessage) -> None:
        for element in block["elements"]:
            is_list = element["type"] == "rich_text_list"
            for section in element["elements"] if is_list else [element]:
                leaves = "".join(self._leaf(leaf, face) for leaf in section["elements"])
                face.lines.append(f"• {leaves}" if is_list else leaves)

    def _task(self, block: JSON, face: RenderedMessage) -> None:
        face.lines.append(f"{TASK_MARKS[block['status']]} {block['title']}")
        face.links += [(source["text"], source["url"]) for source in block["sources"]]

    def _cell(self, cell: JSON, face: RenderedMessage) -> str:
        if cell["type"] == "raw_text":
            return str(cell["text"])
        return "".join(self._leaf(leaf, face) for element in cell["elements"] for leaf in element["elements"])

    def _text(self, element: JSON, face: RenderedMessage) -> str:
        return self._mrkdwn(element["text"], face, verbatim=bool(element.get("verbatim")))

    def _mrkdwn(self, text: str, face: RenderedMessage, *, verbatim: bool = False) -> str:
        """Slack's own markup: names for ids, labels with their addresses."""

        def draw(found: re.Match[str]) -> str:
            sign, value, label = found.groups()
            if sign == "@":
                return f"@{self.space.users[value].name if value in self.space.users else value}"
            if sign == "#":
                return f"#{self.space.channels[value].name if value in self.space.channels else label or value}"
            if value.startswith("date^"):
                return draw_date(value.split("^")[1], self.space.clock.time())
            if sign == "!":
                return f"@{(label or '').lstrip('@') or value.partition('^')[0]}"
            if not value.startswith(("http", "mailto")):
                return found.group()
            face.links.append((html.unescape(label or value), html.unescape(value)))
            return _draw_link(label, value) if label else value

        if not verbatim:
            face.links += find_bare_links(TOKEN.sub("", text))
        return html.unescape(TOKEN.sub(draw, text))

    def _markdown(self, text: str, face: RenderedMessage) -> str:
        """Markdown as it was written, but with names for ids; its links are collected."""
        face.links += [(label, html.unescape(url)) for label, url in MARKDOWN_LINK.findall(text)]
        rest = MARKDOWN_LINK.sub("", text)
        inner = RenderedMessage()
        drawn = self._mrkdwn(text, inner, verbatim=True)
        face.links += [link for link in inner.links if link[0] != link[1]]
        known = {url for _, url in face.links}
        face.links += [link for link in find_bare_links(TOKEN.sub("", rest)) if link[1] not in known]
        return drawn

    def _leaf(self, leaf: JSON, face: RenderedMessage) -> str:
        if leaf["type"] == "citation":
            face.sources.append((leaf["text"], leaf["url"]))
            return f"⟦{leaf['text']}⟧"
        return draw_date(leaf["timestamp"], self.space.clock.time()) if leaf["type"] == "date" else str(leaf["text"])

    def _button(self, block: JSON, element: JSON, face: RenderedMessage) -> None:
        if element["type"] == "feedback_buttons":
            for name in ("positive_button", "negative_button"):
                button = element[name]
                face.buttons.append((button["text"]["text"], block, element, {"value": button["value"]}))
        elif self.viewer in element.get("visible_to_user_ids", [self.viewer]):
            face.buttons.append((element["text"]["text"], block, element, {}))
