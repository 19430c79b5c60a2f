"""Show what others wrote as text, in the markup of each consumer: no markup, no links, no mentions of its own. Pure.

A name, a title or a heading reaches a consumer as a typed part, which its `Markup` turns into text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

from bot.text.excerpts import EXCERPT_LENGTH, truncate_line
from bot.text.terminal import strip_control_chars
from engine.answers.links.stream import LinkFilter

if TYPE_CHECKING:
    from collections.abc import Iterable

SAFE_CHARACTERS = "/:?#@!$&'*+,;=%-._~"  # of a URL: no markup language gives them a meaning

_BLANK = re.compile(r"\s")
_MARKUP = re.compile(r"([\\`*_~\[\]<>|]|&(?=#?\w{1,31};))")


@dataclass(frozen=True, slots=True)
class Words:
    """What others wrote: a name, a title, a heading, an excerpt."""

    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """Words that lead to an address, if it is one of the web."""

    text: str
    address: str


@dataclass(frozen=True, slots=True)
class Citation:
    """The number of a source."""

    number: int


Part = Words | Link | Citation


class Markup(Protocol):
    """The markup of a consumer."""

    def render_words(self, words: str) -> str:
        """Foreign words as one line of inert text."""

    def render_link(self, words: str, address: str) -> str:
        """Inert words as a link to a safe address of the web."""

    def render_citation(self, number: int) -> str:
        """The number of a source in a list of sources."""


def render_parts(parts: Iterable[Part], markup: Markup) -> str:
    """The parts that have text, separated by blanks."""
    return " ".join(filter(None, (_render_part(part, markup) for part in parts)))


def _render_part(part: Part, markup: Markup) -> str:
    match part:
        case Citation(number):
            return markup.render_citation(number)
        case Link(text, address) if safe := web_address(address):
            return markup.render_link(text, safe)
        case _:
            return markup.render_words(part.text)


def clean_line(text: str) -> str:
    """A text on one line, without characters that control what is shown or in which order."""
    return " ".join(strip_control_chars(text).split())


def sanitize_inline(text: str, *, domains: bool = False) -> str:
    """Put a text on one line and defuse its mentions and its links; with `domains`, also those without a scheme."""
    links = LinkFilter.from_texts((), "", domains=domains)
    return links.feed(clean_line(text)) + links.close()


def is_web_link(link: str) -> bool:
    """Whether a link is an address of the web (http or https)."""
    return link.startswith(("https://", "http://"))


def web_address(link: str) -> str:
    """A link whose characters have no meaning in any markup; empty if it is no address of the web."""
    safe = is_web_link(link) and not _BLANK.search(link)
    return quote(link, safe=SAFE_CHARACTERS) if safe else ""


def escape_markdown(text: str, length: int = EXCERPT_LENGTH, *, domains: bool = False) -> str:
    """Escape foreign text as one line, truncated at a word."""
    return _MARKUP.sub(r"\\\1", sanitize_inline(truncate_line(strip_control_chars(text), length), domains=domains))


def markdown_link(title: str, link: str) -> str:
    """A title as a link, if the URL is a web address."""
    return render_parts([Link(title, link)], CardMarkup())


class CardMarkup:
    """Implements `Markup` for cards, in Markdown; platforms link no names without a scheme there."""

    domains = False

    def render_words(self, words: str) -> str:
        return escape_markdown(words, domains=self.domains)

    def render_link(self, words: str, address: str) -> str:
        return f"[{self.render_words(words)}]({address})"

    def render_citation(self, number: int) -> str:
        return f"[{number}]"


class MarkdownMarkup(CardMarkup):
    """Implements `Markup` for programs of others, which may link anything and show HTML."""

    domains = True
