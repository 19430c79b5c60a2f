"""Mentions in the markup of the platforms, and the one that begins a message to the bot. Pure."""

from __future__ import annotations

import re

MENTION = re.compile(r"<@[!&]?\w+(?:\|[^>]*)?>")
_LEADING_MENTION = re.compile(r"\A\s*+<@[!&]?(\w++)(?:\|[^>]*+)?>[\s,:]*+(?:<@[!&]?\1(?:\|[^>]*+)?>[\s,:]*+)*+")


def strip_mention(text: str) -> str:
    """Remove the leading mention of the bot from a question, also if it is repeated."""
    found = _LEADING_MENTION.match(text)
    return text[found.end() :].strip() if found else text.strip()
