"""What others wrote, as text inside of a card: no markup, no links, nobody is called. Pure."""

from __future__ import annotations

import re

from bot import texts
from bot.text.excerpts import LENGTH, shortened
from bot.text.terminal import harmless

_BREAKING = re.compile(r"[\s()<>]")
_MARKUP = re.compile(r"([\\`*_~\[\]<>|])")


def plain(text: str, length: int = LENGTH) -> str:
    """One line of a text that others, or a model, wrote; shortened at a word."""
    return _MARKUP.sub(r"\\\1", texts.harmless(shortened(harmless(text), length)))


def linked(title: str, link: str) -> str:
    """A title that leads to an address, if that is one of the web."""
    safe = link.startswith(("https://", "http://")) and not _BREAKING.search(link)
    return f"[{plain(title)}]({link})" if safe else plain(title)
