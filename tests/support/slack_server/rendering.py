"""What a message looks like: mrkdwn and blocks, turned into the lines, links and buttons that a person sees."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.support.slack_server.dates import shown_date
from tests.support.slack_server.shapes import TOKEN

if TYPE_CHECKING:
    from tests.support.slack_server.state import JSON, Message
    from tests.support.slack_server.workspace import Workspace

CITATION = re.compile(r"\[\d+\]")
MARKDOWN_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(<?(https?://[^\s<>()]+(?:\([^\s<>()]*\)[^\s<>()]*)*)>?\)")
BARE_LINK = re.compile(r"https?://[^\s<>()\]|]+")
BARE_NAME = re.compile(  # Slack links what looks like a domain or a mail address, unless it is told to be literal
    r"(?<![\w@./:-])(?:[\w.+-]+@)?(?:[\w-]+\.)+(?:com|net|org|io|app|dev|example|md|zip|py|sh)(?![\w-])(?:[/?#][^\s<>|`]*)?"
)
CODE = re.compile(r"(```.*?(?:```|$)|`[^`\n]+`)", re.DOTALL)
BOLD = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
ITALIC = re.compile(r"(?<!\w)_(?=\S)([^_\n]+)(?<=\S)_(?!\w)")
HEADING = re.compile(r"^#{1,6} +", re.MULTILINE)
LITERAL = re.compile(r"\*\*\S[^*\n]*\*\*|\]\(https?:|^#{1,6} |^\|.*\|\s*$", re.MULTILINE)
MARKS = {"complete": "✓", "in_progress": "◐", "pending": "○", "error": "✗"}


def draw_markdown(text: str) -> str:
    """Standard Markdown as it is drawn: bold and headings without their marks, labels with their addresses."""
    pieces = CODE.split(text)
    for number in range(0, len(pieces), 2):
        plain = MARKDOWN_LINK.sub(lambda found: _render_link(found[1], found[2]), pieces[number])
        pieces[number] = HEADING.sub("", ITALIC.sub(r"\1", BOLD.sub(r"\1", plain)))
    return "".join(pieces)


def _render_link(label: str, url: str) -> str:
    """A link as it is printed: its label, and where it leads unless it is the number of a source."""
    return label if CITATION.fullmatch(label) else f"{label} ({url})"


@dataclass(slots=True)
class RenderedMessage:
    """Everything visible of a message; `links` as (label, address), `sources` as (number or title, address).

    `body` is what was written, before it was drawn; `literal` are marks of Markdown where Slack does not draw it.
    """

    lines: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    literal: list[str] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    sources: list[tuple[str, str]] = field(default_factory=list)
    buttons: list[tuple[str, JSON, JSON, JSON]] = field(default_factory=list)


class Renderer:
    """Renders for one viewer, because some buttons are for some people only."""

    def __init__(self, space: Workspace, viewer: str) -> None:
        self.space = space
        self.viewer = viewer

    def render(self, message: Message) -> RenderedMessage:
        """Blocks if there are any, or else the text."""
        face = RenderedMessage()
        blocks = message.stream.blocks if message.stream is not None else message.blocks
        if not blocks:
            face.body.append(self.mrkdwn(message.text, face))
            face.lines += face.body
        self.blocks(blocks or [], face)
        return face

    def blocks(self, blocks: list[JSON], face: RenderedMessage) -> None:
        for block in blocks:
            self._block(block, face)

    def mrkdwn(self, text: str, face: RenderedMessage, *, literal: bool = False) -> str:
        """Slack's own markup: names for ids, labels with their addresses; not `literal`: addresses are links, too."""

        def shown(found: re.Match[str]) -> str:
            sign, value, label = found.groups()
            if sign == "@":
                return f"@{self._name(value)}"
            if sign == "#":
                channel = self.space.channels.get(value)
                return f"#{channel.name if channel is not None else label or value}"
            if sign == "!":
                return self._special(value, label or "", face)
            if not value.startswith(("http", "mailto")):
                return found.group()
            face.links.append((html.unescape(label or value), html.unescape(value)))
            return _render_link(label, value) if label else value

        face.literal += LITERAL.findall(CODE.sub("", text))
        if not literal:
            bare = TOKEN.sub("", text)
            face.links += [(url, url) for url in BARE_LINK.findall(bare)]
            face.links += [
                (name, f"http://{name}") for name in BARE_NAME.findall(CODE.sub("", BARE_LINK.sub("", bare)))
            ]
        return html.unescape(TOKEN.sub(shown, text))

    def _special(self, value: str, label: str, face: RenderedMessage) -> str:
        """A call to many, the handle of a group, or a date."""
        kind, _, rest = value.partition("^")
        if kind != "date":
            return f"@{label.lstrip('@') or kind}"
        timestamp, form, url = (*rest.split("^", 2), "", "")[:3]
        return self._date({"timestamp": timestamp, "format": form, "url": html.unescape(url), "fallback": label}, face)

    def _date(self, leaf: JSON, face: RenderedMessage) -> str:
        """A date, which may be a link."""
        shown = shown_date(leaf["timestamp"], leaf["format"], leaf.get("fallback") or "", self.space.clock.now())
        if leaf.get("url"):
            face.links.append((shown, leaf["url"]))
        return shown

    def _name(self, user: str) -> str:
        return self.space.users[user].name if user in self.space.users else user

    def markdown(self, text: str, face: RenderedMessage) -> str:
        """Standard Markdown stays as it was written, but for names; its links are noted."""
        face.links += [(label, html.unescape(url)) for label, url in MARKDOWN_LINK.findall(text)]
        rest = MARKDOWN_LINK.sub("", text)
        inner = RenderedMessage()
        shown = self.mrkdwn(text, inner, literal=True)
        face.links += [link for link in inner.links if link[0] != link[1]]
        known = {url for _, url in face.links}
        face.links += [(url, url) for url in dict.fromkeys(BARE_LINK.findall(rest)) if url not in known]
        names = BARE_NAME.findall(CODE.sub("", BARE_LINK.sub("", TOKEN.sub("", rest))))
        face.links += [(name, f"http://{name}") for name in names]
        return shown

    def _block(self, block: JSON, face: RenderedMessage) -> None:
        kind = block["type"]
        if kind == "markdown":
            face.body.append(self.markdown(block["text"], face))
            face.lines.append(draw_markdown(face.body[-1]))
        elif kind in {"section", "header"}:
            for each in filter(None, [block.get("text"), *(block.get("fields") or [])]):
                face.lines.append(self._text(each, face))
            if "accessory" in block:
                self._button(block, block["accessory"], face)
        elif kind == "context":
            face.lines.append("  ".join(self._text(each, face) for each in block["elements"]))
        elif kind in {"actions", "context_actions"}:
            for element in block["elements"]:
                self._button(block, element, face)
        elif kind == "rich_text":
            for element in block["elements"]:
                self._rich(element, face)
        else:
            self._other(block, face)

    def _other(self, block: JSON, face: RenderedMessage) -> None:
        kind = block["type"]
        if kind == "divider":
            face.lines.append("─" * 8)
        elif kind == "plan":
            face.lines.append(f"▤ {block['title']}")
        elif kind == "image":
            face.lines.append(f"[picture: {block['alt_text']}]")
        elif kind == "task_card":
            said = " — ".join(filter(None, (block["title"], block.get("details"), block.get("output"))))
            face.lines.append(f"{MARKS[block['status']]} {said}")
            face.links += [(source["text"], source["url"]) for source in block.get("sources") or []]
        else:
            face.lines.append(f"[{kind}]")

    def _text(self, element: JSON, face: RenderedMessage) -> str:
        if element["type"] == "image":
            return f"[picture: {element['alt_text']}]"
        if element["type"] != "mrkdwn":
            return str(element["text"])
        return self.mrkdwn(element["text"], face, literal=bool(element.get("verbatim")))

    def _button(self, block: JSON, element: JSON, face: RenderedMessage) -> None:
        if element["type"] == "feedback_buttons":
            for name in ("positive_button", "negative_button"):
                button = element[name]
                face.buttons.append((button["text"]["text"], block, element, {"value": button["value"]}))
            return
        chosen = element.get("visible_to_user_ids")
        if chosen is None or self.viewer in chosen:
            label = (element.get("text") or {}).get("text") or element["type"]
            face.buttons.append((label, block, element, {}))
            if element.get("url"):
                face.links.append((label, element["url"]))

    def _rich(self, element: JSON, face: RenderedMessage) -> None:
        kind = element["type"]
        if kind == "rich_text_list":
            for number, item in enumerate(element["elements"], 1):
                mark = f"{number}." if element.get("style") == "ordered" else "•"
                face.lines.append(f"{mark} {self._leaves(item, face)}")
        elif kind == "rich_text_quote":
            face.lines.append(f"> {self._leaves(element, face)}")
        else:
            face.lines.append(self._leaves(element, face))

    def _leaves(self, section: JSON, face: RenderedMessage) -> str:
        return "".join(self._leaf(leaf, face) for leaf in section.get("elements") or [])

    def _leaf(self, leaf: JSON, face: RenderedMessage) -> str:
        kind = leaf["type"]
        if kind == "citation":
            label = leaf.get("text") or str(leaf.get("index", ""))
            face.sources.append((label, leaf["url"]))
            return f"⟦{label}⟧"
        if kind == "link":
            label = leaf.get("text") or leaf["url"]
            face.links.append((label, leaf["url"]))
            return f"{label} ({leaf['url']})" if leaf.get("text") else str(leaf["url"])
        if kind == "user":
            return f"@{self._name(leaf['user_id'])}"
        if kind == "date":
            return self._date(leaf, face)
        return {"emoji": f":{leaf.get('name')}:", "broadcast": f"@{leaf.get('range')}"}.get(
            kind, str(leaf.get("text") or "")
        )
