"""Mentions in the markup of the platforms, and the one that begins a message to the bot. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

MENTION = re.compile(r"<@[!&]?\w++(?:\|[^<>]*+)?>")
_LEADING_MENTION = re.compile(r"\A\s*+<@[!&]?(\w++)(?:\|[^>]*+)?>[\s,:]*+(?:<@[!&]?\1(?:\|[^>]*+)?>[\s,:]*+)*+")

_PERSON = re.compile(r"<@!?(\w++)(?:\|[^<>]*+)?>[\s,:&]*+")


def calls_another(text: str, bot_ids: Collection[str]) -> bool:
    """Whether a text begins with mentions of people, and mentions the bot only later; `bot_ids`: of the bot."""
    at, called = len(text) - len(text.lstrip()), False
    while found := _PERSON.match(text, at):
        if found[1] in bot_ids:
            return False
        at, called = found.end(), True
    return called and any(f"<@{mark}{bot_id}" in text[at:] for bot_id in bot_ids for mark in ("", "!"))


def strip_mention(text: str) -> str:
    """Remove the leading mention of the bot from a question, also if it is repeated."""
    found = _LEADING_MENTION.match(text)
    return text[found.end() :].strip() if found else text.strip()
