"""Convert Markdown to Slack's mrkdwn without mentions that notify anyone. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from adapters.slack.workspace.markup import escape
from bot.text.markdown import is_web_link, sanitize_inline

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from markdown_it.token import Token

WORD_JOINER = "\u2060"  # zero width; breaks the token of a mention
MENTION_START = re.compile(r"<([@#!])(?=\w)")
USER_MENTION = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^<>\n]*)?>")
MARKDOWN_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
# For texts with very many brackets, of which most are no links: to look for one from each takes long.
LINKLESS_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable(["link", "image", "reference"])
MAX_BRACKETS = 1500  # more than three hundred citations have
NOTIFICATION_SHARE = 4  # characters of Markdown that are read for one of a notification

LINK_OR_STAR = re.compile(r"<[^<>]*>|\*")

PARAGRAPH_ENDS = frozenset(
    ("paragraph_close", "heading_close", "table_close", "bullet_list_close", "ordered_list_close")
)  # followed by an empty line
INLINE_MARKUP = {
    "strong_open": "*",
    "strong_close": "*",
    "em_open": "_",
    "em_close": "_",
    "s_open": "~",
    "s_close": "~",
}


class MrkdwnMarkup:
    """Implements `Markup` for sections of Slack."""

    def render_words(self, words: str) -> str:
        return escape(sanitize_inline(words))

    def render_link(self, words: str, address: str) -> str:
        return f"<{_escape_url(address)}|{self.render_words(words)}>" if words else f"<{_escape_url(address)}>"

    def render_citation(self, number: int) -> str:
        return f"[{number}]"


def defuse_mentions(markdown: str, name: Callable[[str], str] = lambda _: "") -> str:
    """Replace user mentions by names (`name` maps an id to a name, empty if unknown) and defuse all other mentions.

    Appending to the Markdown only appends to the result, so that a stream can be continued.
    """
    with_names = USER_MENTION.sub(lambda found: f"@{sanitize_inline(name(found[1])) or 'somebody'}", markdown)
    return MENTION_START.sub(rf"<\1{WORD_JOINER}", with_names)


def to_mrkdwn(markdown: str) -> str:
    """Convert Markdown to mrkdwn, for fields that do not support Markdown."""
    writer = MrkdwnWriter()
    parser = MARKDOWN_PARSER if markdown.count("[") <= MAX_BRACKETS else LINKLESS_PARSER
    for token in parser.parse(markdown):
        writer.add_token(token)
    return "\n".join(writer.lines).strip("\n")


class MrkdwnWriter:
    """Writes Markdown tokens as mrkdwn lines: list markers, quote marks, bold headings, table rows with bars."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._lists: list[int | None] = []
        self._quoted = 0
        self._marker = ""
        self._heading = False
        self._row: list[str] | None = None

    def add_token(self, token: Token) -> None:
        """Add the next token."""
        if token.nesting:
            self._handle_nesting(token)
        elif token.type == "inline":
            self._add_text(_render_inline(token.children or ()))
        elif token.type in ("fence", "code_block"):
            self.lines.append("```\n" + escape(token.content.rstrip("\n")) + "\n```")
        else:
            self.lines.append("———" if token.type == "hr" else escape(token.content.rstrip("\n")))

    def _handle_nesting(self, token: Token) -> None:
        """Handle an opening or closing token."""
        match token.type:
            case "bullet_list_open":
                self._lists.append(None)
            case "ordered_list_open":
                self._lists.append(int(token.attrGet("start") or 1))
            case "list_item_open":
                self._set_marker()
            case "blockquote_open" | "blockquote_close":
                self._quoted += token.nesting
            case "heading_open" | "heading_close":
                self._heading = token.nesting > 0
            case "tr_open":
                self._row = []
            case "tr_close":
                self.lines.append(" | ".join(self._row or ()))
                self._row = None
        if token.type in ("bullet_list_close", "ordered_list_close"):
            self._lists.pop()
        if token.type in PARAGRAPH_ENDS and not self._lists:
            self.lines.append("")

    def _add_text(self, text: str) -> None:
        if self._row is not None:
            self._row.append(text)
            return
        line = f"*{LINK_OR_STAR.sub(lambda found: found[0].removeprefix('*'), text)}*" if self._heading else text
        self.lines.append("&gt; " * self._quoted + "    " * max(len(self._lists) - 1, 0) + self._marker + line)
        self._marker = ""

    def _set_marker(self) -> None:
        """Set the marker of the next list item."""
        number = self._lists[-1]
        self._marker = "• " if number is None else f"{number}. "
        self._lists[-1] = None if number is None else number + 1


def _render_inline(tokens: Sequence[Token]) -> str:
    """Render bold, italic, strikethrough, code and links within a line."""
    text = ""
    links: list[str] = []
    for token in tokens:
        match token.type:
            case "text":
                text += escape(token.content)
            case "code_inline":
                text += f"`{escape(token.content)}`"
            case "softbreak" | "hardbreak":
                text += "\n"
            case "link_open":
                links.append(str(token.attrGet("href") or ""))
                text += f"<{_escape_url(links[-1])}|" if _is_link(links[-1]) else ""
            case "link_close":
                text += ">" if _is_link(links.pop()) else ""
            case "image" | "html_inline":
                text += escape(token.content)
            case token_type:
                text += INLINE_MARKUP.get(token_type, "")
    return text


def _is_link(address: str) -> bool:
    return is_web_link(address) or address.startswith("mailto:")


def _escape_url(address: str) -> str:
    return escape(address).replace("|", "%7C")


def notification_text(markdown: str, limit: int) -> str:
    """The start of a text, for notifications and screen readers."""
    text = to_mrkdwn(defuse_mentions(markdown[: NOTIFICATION_SHARE * limit]))
    return text if len(text) <= limit else text[: limit - 1] + "…"


def status_sentence(status: str) -> str:
    """Turn a status that follows the bot's name (“is searching”) into a sentence of its own."""
    sentence = status.removeprefix("is ")
    return sentence[:1].upper() + sentence[1:]


def split_rendered(text: str, limit: int) -> list[str]:
    """Split rendered mrkdwn into pieces of at most `limit` characters, at a line end, else at a space.

    bot.text.splitting is for Markdown: it would cut inside of `<url|words>`.
    """
    pieces = []
    while len(text) > limit:
        cut = text.rfind("\n", limit // 2, limit) + 1 or text.rfind(" ", limit // 2, limit) + 1 or limit
        pieces.append(text[:cut])
        text = text[cut:]
    return [*pieces, text] if text or not pieces else pieces
