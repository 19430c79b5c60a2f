"""Render a source of an answer as the model sees it. Pure.

The token budget, the key of the answer cache and the request to the model each render all sources of a question. So
short passages, of which a question may have hundreds, are rendered once.
"""

from __future__ import annotations

import functools
import re
from datetime import UTC
from datetime import time as day_time
from typing import TYPE_CHECKING

from engine.text.message_line import MESSAGE_TIME, MINUTE_FORMAT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from engine.models import Source

UNDATED = "undated"
MIDNIGHT = day_time()
SHORT_TEXT = 1_000  # characters of a passage that is rendered once
MAX_RENDERED = 4_096  # such passages: those of twenty questions
_MESSAGE_HEAD = re.compile(rf"\[({MESSAGE_TIME})\] ([^:\n]{{1,100}}): ")


def render_source(source: Source) -> str:
    """A source as the model sees it: `[n] (title, label, author, date) text`; only its first line begins with [.

    Each part appears once: parts contained in another part are left out, and so is a message head that repeats them.
    """
    render = _render_short_passage if len(source.text) <= SHORT_TEXT else _render_passage
    return f"[{source.number}] {render(source.title, source.label, source.author, source.time, source.text)}"


def _render_passage(title: str, label: str, author: str, time: datetime | None, text: str) -> str:
    """A source without its number."""
    date = _format_date(time) if time else UNDATED
    head = _join_distinct([join_words(part) for part in (title, label, author, date)])
    if ":" in date:
        head = re.sub(rf"(?<!\w){date}(?!\w| UTC)", f"{date} UTC", head, count=1)
    repeated = _MESSAGE_HEAD.match(text)
    if repeated and all(_contains_words(part, head) for part in repeated.groups()):
        text = text[repeated.end() :]
    return f"({head}) {indent_lines(text)}"


@functools.lru_cache(maxsize=MAX_RENDERED)
def _render_short_passage(title: str, label: str, author: str, time: datetime | None, text: str) -> str:
    return _render_passage(title, label, author, time, text)


def _format_date(moment: datetime) -> str:
    """A time in UTC; midnight means a day without a time."""
    utc = moment.astimezone(UTC)
    return utc.strftime("%Y-%m-%d" if utc.time() == MIDNIGHT else MINUTE_FORMAT)


def _join_distinct(parts: Sequence[str]) -> str:
    """Join the parts, without those that another part contains."""
    kept = [
        part
        for place, part in enumerate(parts)
        if part
        and not any(
            _contains_words(part, other) and (len(other) > len(part) or at < place)
            for at, other in enumerate(parts)
            if at != place
        )
    ]
    return ", ".join(kept)


def _contains_words(part: str, text: str) -> bool:
    """Whether the text contains the words, not as part of longer words."""
    start = text.find(part)
    while start >= 0:
        if not (_is_word(text[start - 1 : start]) or _is_word(text[start + len(part) :][:1])):
            return True
        start = text.find(part, start + 1)
    return False


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def join_words(text: str) -> str:
    """The text on one line."""
    return " ".join(text.split())


def indent_lines(text: str) -> str:
    """The text with its later lines indented, so that none begins as a row of the prompt does."""
    return "\n    ".join(text.strip().splitlines())
