"""Wrap a stream of text at spaces for a terminal, and remove control characters. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from unicodedata import east_asian_width

_PART = re.compile(r"\n|[^\S\n]+|\S+")
# Control sequences in foreign text could move the cursor or change the terminal's state; marks of the direction of
# writing show text in another order; separators of lines and tags of languages are invisible.
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def strip_control_chars(text: str) -> str:
    """Remove characters that a terminal, or any other consumer, interprets instead of showing."""
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\t", "    "))


def display_width(text: str) -> int:
    """The columns that a terminal gives to a text."""
    return len(text) + sum(east_asian_width(character) in "WF" for character in text)


@dataclass(slots=True)
class LineWrapper:
    """Wraps a stream: `feed` pieces and write what it returns. A `width` of 0 disables wrapping."""

    width: int
    _pending: str = ""
    _blank: str = ""
    _column: int = 0

    def feed(self, piece: str) -> str:
        """Add a piece; returns the text that can be written now."""
        text = self._pending + piece
        end = max(text.rfind(" "), text.rfind("\n")) + 1
        self._pending = text[end:]
        return self._wrap_lines(text[:end])

    def finish(self) -> str:
        """Return the rest without trailing blanks."""
        rest, self._pending = self._pending, ""
        return self._wrap_lines(rest)

    def _wrap_lines(self, text: str) -> str:
        return "".join(map(self._append_part, _PART.findall(text)))

    def _append_part(self, part: str) -> str:
        if part == "\n":
            self._column, self._blank = 0, ""
            return part
        if part.isspace():
            self._blank += part
            return ""
        blank, self._blank = self._blank, ""
        wide = display_width(part)
        if self.width and self._column and self._column + len(blank) + wide > self.width:
            self._column = wide
            return "\n" + part
        self._column += len(blank) + wide
        return blank + part
