"""A stream of text broken into lines at spaces, while it comes. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from unicodedata import east_asian_width

_PART = re.compile(r"\n|[^\S\n]+|\S+")
# What moves a terminal's cursor or changes its state has no business in a text that others wrote.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    """The text without characters that a terminal would obey instead of show."""
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\t", "    "))


def width_of(text: str) -> int:
    """The columns that a terminal gives to a text."""
    return len(text) + sum(east_asian_width(character) in "WF" for character in text)


@dataclass(slots=True)
class Wrap:
    """Feed it pieces, write what it gives back: words are held until they end. `width` 0 breaks nothing."""

    width: int
    _held: str = ""
    _blank: str = ""
    _column: int = 0

    def feed(self, piece: str) -> str:
        """What can be written now."""
        text = self._held + piece
        end = max(text.rfind(" "), text.rfind("\n")) + 1
        self._held = text[end:]
        return self._broken(text[:end])

    def finish(self) -> str:
        """The rest, without blanks at the end."""
        rest, self._held = self._held, ""
        return self._broken(rest)

    def _broken(self, text: str) -> str:
        return "".join(map(self._placed, _PART.findall(text)))

    def _placed(self, part: str) -> str:
        if part == "\n":
            self._column, self._blank = 0, ""
            return part
        if part.isspace():
            self._blank += part
            return ""
        blank, self._blank = self._blank, ""
        wide = width_of(part)
        if self.width and self._column and self._column + len(blank) + wide > self.width:
            self._column = wide
            return "\n" + part
        self._column += len(blank) + wide
        return blank + part
