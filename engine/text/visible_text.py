"""Detect visible text: a model may reply with only blanks, invisible characters or an empty code fence."""

from __future__ import annotations

import re
from unicodedata import category

# Separators, controls, invisible formatting, and combining marks.
_UNSEEN_CATEGORIES = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf", "Mn", "Mc", "Me"})
# Hangul fillers, the Braille blank, the replacement character, and code markers.
_UNSEEN = frozenset("\u115f\u1160\u3164\uffa0\u2800\ufffd`~")
_FENCE = re.compile(r"(?:`{3,64}|~{3,64})[ \t]{0,8}[^\s`]{0,40}")
_CITATION = re.compile(r"[\[【［][^\[【［\]】］]{0,200}[\]】］]")


def has_visible_text(text: str) -> bool:
    """Whether a text contains more than blanks, invisible characters and fence lines."""
    return any(map(_is_visible_line, text.split("\n")))


def has_visible_uncited_text(text: str) -> bool:
    """Whether a text has visible text outside brackets, which may hold citations that will be removed."""
    return has_visible_text(_CITATION.sub("", text))


class VisibleTextGate:
    """Holds back a streamed text until its first visible character."""

    def __init__(self) -> None:
        self.is_open = False
        self._held: list[str] = []
        self._line = ""

    def feed(self, text: str) -> str:
        """Add a piece; returns the text that can be shown now."""
        if self.is_open:
            return text
        self._held.append(text)
        line = self._line + text
        self.is_open = _has_visible(text) and has_visible_text(line)
        self._line = line.rpartition("\n")[2]
        return "".join(self._held) if self.is_open else ""


def _is_visible_line(line: str) -> bool:
    return _has_visible(line) and not _FENCE.fullmatch(line.strip())


def _has_visible(text: str) -> bool:
    return any(char not in _UNSEEN and category(char) not in _UNSEEN_CATEGORIES for char in text)
