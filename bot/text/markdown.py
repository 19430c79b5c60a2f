"""Make foreign text safe inside a message or a card: no markup, no links, no mentions. Pure."""

from __future__ import annotations

import re

from bot.text.excerpts import EXCERPT_LENGTH, truncate_line
from bot.text.terminal import strip_control_chars
from engine import LinkFilter

SAFE_CHARACTERS = "/:?#@!$&'*+,;=%-._~"  # of a URL: no markup language gives them a meaning

_UNSAFE_IN_LINK = re.compile(r"[\s()<>]")
_MARKUP = re.compile(r"([\\`*_~\[\]<>|])")


def sanitize_inline(text: str) -> str:
    """Put a text on one line and defuse its mentions and links with a scheme."""
    links = LinkFilter.from_texts((), "", domains=False)
    line = " ".join(text.split())
    return links.feed(line) + links.close()


def is_web_link(link: str) -> bool:
    """Whether a link is an address of the web (http or https)."""
    return link.startswith(("https://", "http://"))


def escape_markdown(text: str, length: int = EXCERPT_LENGTH) -> str:
    """Escape foreign text as one line, truncated at a word."""
    return _MARKUP.sub(r"\\\1", sanitize_inline(truncate_line(strip_control_chars(text), length)))


def markdown_link(title: str, link: str) -> str:
    """A title as a link, if the URL is a web address."""
    safe = is_web_link(link) and not _UNSAFE_IN_LINK.search(link)
    return f"[{escape_markdown(title)}]({link})" if safe else escape_markdown(title)
