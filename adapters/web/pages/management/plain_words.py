"""Sentences of the bot, written in Markdown, as plain lines for a page. Pure."""

from __future__ import annotations

import re

_MARKS = re.compile(r"\*\*|`|\\(?=[^\w\s])")


def to_plain_lines(text: str) -> list[str]:
    """The lines of a short text without the marks of Markdown."""
    return [plain for line in text.splitlines() if (plain := _MARKS.sub("", line).strip())]
