"""Mentions in the markup of the platforms: what begins a message to the bot, and what copies the bot in. Pure.

A message copies the bot in if nothing but the mention follows a copying word ("The lease is signed. cc @bot"), or if it
is no more than that ("fyi @bot please"). What begins so and goes on is said to the bot ("cc @bot the lease is signed").
What else only mentions the bot was learned (`kinds.passing`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.text.speech import phrases

if TYPE_CHECKING:
    from collections.abc import Collection

MENTION = re.compile(r"<@[!&]?\w++(?:\|[^<>]*+)?>")
_LEADING_MENTION = re.compile(r"\A\s*+<@[!&]?(\w++)(?:\|[^>]*+)?>[\s,:]*+(?:<@[!&]?\1(?:\|[^>]*+)?>[\s,:]*+)*+")

_PERSON = re.compile(r"<@!?(\w++)(?:\|[^<>]*+)?>[\s,:&]*+")

MAX_COPYING_WORDS = 3  # besides the mention
MAX_END = 200  # characters at the end of a message in which it copies people in

_COPYING = phrases.parse_words("cc fyi ping via with and also + & please pls bitte con avec com mit und y et e")
_COPIED_AT_END = re.compile(rf"(?<!\w)(?:cc|fyi)[\s:/]*(?:{MENTION.pattern}[\s,&+]*)+[.!)]*\Z", re.IGNORECASE)
_COPYING_AT_START = re.compile(rf"\A\s*+(?:cc|fyi)[\s:/]*+(?={MENTION.pattern})", re.IGNORECASE)


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


def is_called(text: str) -> bool:
    """Whether a mention begins a text."""
    return bool(_LEADING_MENTION.match(text))


def strip_copying(text: str) -> str:
    """A message without the copying word before a mention that begins it, if it says more than that."""
    found = None if _copies_only(text) else _COPYING_AT_START.match(text)
    return text[found.end() :] if found else text


def without_copy(text: str) -> str | None:
    """What a message says before it copies the bot in, which may be nothing; None if it does not."""
    if _copies_only(text):
        return ""
    found = _COPIED_AT_END.search(text, max(0, len(text) - MAX_END))
    return text[: found.start()].strip().rstrip("( ") if found else None


def _copies_only(text: str) -> bool:
    words = MENTION.sub(" ", text).casefold().replace(":", " ").replace(",", " ").split()
    return 0 < len(words) <= MAX_COPYING_WORDS and _COPYING.issuperset(words)
