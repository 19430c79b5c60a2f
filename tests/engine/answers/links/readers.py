"""What a reader sees of an answer on each platform: its words, and its links with their labels.

Independent of the filter. Words within code keep their digits and lose their brackets: `a[9]` cites nothing.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import mistune
from markdown_it import MarkdownIt

from adapters.discord.replies.render import render_markdown
from adapters.slack.replies.mrkdwn import defuse_mentions, to_mrkdwn
from adapters.web.pages.asking.answer_html import render_answer

CODE_BRACKETS = dict.fromkeys(map(ord, "[]【】［］〔〕〖〗⟦⟧⁅⁆❲❳〚〛﹝﹞"), "|")
SLACK_MARKDOWN = MarkdownIt("gfm-like", {"html": True, "linkify": False})
MISTUNE = mistune.create_markdown(escape=False, plugins=["url", "table", "strikethrough"])
BLOCKS = frozenset(("p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "td", "th", "blockquote", "pre", "br", "hr", "div"))

MRKDWN_CODE = re.compile(r"```.+?```|`[^`\n]+`", re.DOTALL)
MRKDWN_LINK = re.compile(r"<((?:https?|mailto):[^<>|]*)(?:\|([^<>\n]*))?>")
DISCORD_CODE = re.compile(r"```.+?```|(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)", re.DOTALL)
DISCORD_LINK = re.compile(r"(?<!\\)\[((?:\\.|[^\[\]\\]|\[[^\[\]]*\])*)\]\(<?(https?://[^\s<>]+?)>?\)")
DISCORD_ANGLED = re.compile(r"<(https?://[^\s<>]+)>")
MARKS = re.compile(r"\*{1,3}|_{1,3}|~~|\|\|")
ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")

BRACKETED = re.compile(r"[\[〔〖⟦⁅❲〚【]([^\[\]〔〕〖〗⟦⟧⁅⁆❲❳〚〛【】\n]{1,400})[\]〕〗⟧⁆❳〛】]")
NUMBERS = re.compile(r"[\s,;&^–—―‐-]*\d[\d\s,;&^–—―‐-]*")
YEAR_OR_DATE = re.compile(r"\s*(?:19|20)\d\d(?:\s*[–-]\s*(?:19|20)\d\d|[-–]\d\d(?:[-–]\d\d)?)?\s*")


@dataclass(slots=True)
class Page:
    """A shown text: its words, and its links as (label, address)."""

    words: str = ""
    links: list[tuple[str, str]] = field(default_factory=list)


class HtmlReader(HTMLParser):
    """Reads the words and links of HTML."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self.code = 0
        self.label: list[str] | None = None
        self.target = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.code += tag in ("code", "pre")
        if tag in BLOCKS:
            self.page.words += "\n"
        if tag == "a":
            self.label, self.target = [], dict(attrs).get("href") or ""

    def handle_endtag(self, tag: str) -> None:
        self.code -= tag in ("code", "pre") and self.code > 0
        if tag in BLOCKS:
            self.page.words += "\n"
        if tag == "a" and self.label is not None:
            self.page.links.append(("".join(self.label), self.target))
            self.label = None

    def handle_data(self, data: str) -> None:
        self.page.words += data.translate(CODE_BRACKETS) if self.code else data
        if self.label is not None:
            self.label.append(data)


def read_html(text: str) -> Page:
    """What a browser shows of HTML."""
    reader = HtmlReader()
    reader.feed(text)
    reader.close()
    return reader.page


def read_page(text: str) -> Page:
    """The page of the program; the number of a citation stands there in a frame in place of brackets."""
    return read_html(re.sub(r'<span class="citation">(\d+)</span>', r"[\1]", render_answer(text)))


def read_slack_markdown(text: str) -> Page:
    """A Markdown block of Slack."""
    return read_html(SLACK_MARKDOWN.render(defuse_mentions(text)))


def read_gfm(text: str) -> Page:
    """Another library that renders GitHub's Markdown, for the programs of others."""
    try:
        made: Any = MISTUNE(text)
    except IndexError:  # it cannot read a fence whose name is an odd blank
        return Page()
    return read_html(made)


def read_slack_mrkdwn(text: str) -> Page:
    """A section of Slack."""
    page = Page()

    def take(found: re.Match[str]) -> str:
        page.links.append((html.unescape(MARKS.sub("", found[2] or found[1])), html.unescape(found[1])))
        return found[2] or found[1]

    shown = MRKDWN_CODE.sub(
        lambda found: found[0].translate(CODE_BRACKETS).strip("`"), to_mrkdwn(defuse_mentions(text))
    )
    page.words = html.unescape(re.sub(r"[*_~]", "", MRKDWN_LINK.sub(take, shown)))
    return page


def read_discord(text: str) -> Page:
    """A message of Discord."""
    page = Page()

    def take(found: re.Match[str]) -> str:
        page.links.append((plain(found[1]), found[2]))
        return found[1]

    def take_angled(found: re.Match[str]) -> str:
        page.links.append((found[1], found[1]))
        return found[1]

    def plain(text: str) -> str:
        return ESCAPE.sub(r"\1", MARKS.sub("", text))

    shown = DISCORD_CODE.sub(lambda found: found[0].translate(CODE_BRACKETS).strip("`"), render_markdown(text))
    page.words = plain(DISCORD_ANGLED.sub(take_angled, DISCORD_LINK.sub(take, shown)))
    return page


def read_raw(text: str) -> Page:
    """A terminal or a program that shows the text as it is."""
    return Page(MRKDWN_CODE.sub(lambda found: found[0].translate(CODE_BRACKETS), text))


READERS: dict[str, Callable[[str], Page]] = {
    "page": read_page,
    "slack markdown": read_slack_markdown,
    "slack mrkdwn": read_slack_mrkdwn,
    "discord": read_discord,
    "gfm": read_gfm,
    "raw": read_raw,
}


def seen(text: str) -> str:
    """The text as eyes read it: without what is invisible, with plain digits."""
    wide = "".join(_seen_character(each) for each in text)
    return "".join(_seen_character(character) for character in unicodedata.normalize("NFKC", wide))


def _seen_character(character: str) -> str:
    if character in "\u3164\u115f\u1160\uffa0\u2800" or unicodedata.category(character) in ("Cf", "Mn", "Me"):
        return ""
    digit = unicodedata.digit(character, None)
    return character if digit is None else str(digit)


def bracketed_numbers(words: str) -> set[int]:
    """The numbers that stand in brackets without any words, apart from years and dates."""
    found = (match[1] for match in BRACKETED.finditer(seen(words)))
    lists = (each for each in found if NUMBERS.fullmatch(each) and not YEAR_OR_DATE.fullmatch(each))
    return {int(number) for list_ in lists for number in re.findall(r"\d+", list_)}


def reads_as_number(label: str) -> bool:
    """Whether a label has a digit and no letter, or a number in brackets."""
    words = seen(label)
    has_letter = any(word.isalpha() and unicodedata.numeric(word, None) is None for word in words)
    has_digit = any(unicodedata.numeric(word, None) is not None for word in words)
    return (has_digit and not has_letter) or bool(bracketed_numbers(words))
