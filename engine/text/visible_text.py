"""Whether anything of a text can be seen: a model may reply with blanks, unseen characters or an empty code fence."""

from __future__ import annotations

import re
from unicodedata import category

# Separators, controls, invisible formatting, and marks that need a character to stand on.
_UNSEEN_CATEGORIES = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf", "Mn", "Mc", "Me"})
# Hangul fillers, the blank of Braille and the replacement character; marks of code alone are none either.
_UNSEEN = frozenset("\u115f\u1160\u3164\uffa0\u2800\ufffd`~")
_FENCE = re.compile(r"(?:`{3,64}|~{3,64})[ \t]{0,8}[^\s`]{0,40}")
_CITATION = re.compile(r"[\[【［][^\[【［\]】］]{0,200}[\]】］]")


def has_visible_text(text: str) -> bool:
    """Whether a text has more than blanks, invisible characters and fence lines."""
    return any(map(_is_visible_line, text.split("\n")))


def has_visible_uncited_text(text: str) -> bool:
    """Whether that is so without what stands in brackets, which may be citations that are dropped."""
    return has_visible_text(_CITATION.sub("", text))


class VisibleTextGate:
    """Fed with a text in pieces, holds them back until something of them can be seen."""

    def __init__(self) -> None:
        self.is_open = False
        self._held: list[str] = []
        self._line = ""

    def feed(self, text: str) -> str:
        """What is passed on once `text` has come, too."""
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
