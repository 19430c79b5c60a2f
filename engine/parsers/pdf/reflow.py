"""Join the lines of a printed page into paragraphs. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.parsers.passages.blocks import Block

if TYPE_CHECKING:
    from collections.abc import Sequence

# PDFium marks a hyphen at a line's end with U+0002 and has joined the lines already; others leave a soft hyphen.
_HYPHEN = re.compile(r"[\x02\xad\ufffe]\n?")
_WRAPPED = re.compile(r"(?<=[^\W\d_])-\n(?=[a-zà-öø-ÿ])")
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_BULLET = re.compile(r"(?:[-–—•·▪●○‣*]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s")
_END = re.compile(r"[.!?:;。！？][\"'”’)\]]*$")
_FIGURES = re.compile(r"[\d$€£%]")
# A line shorter than this share of its neighbors ends its paragraph; a line that ends a sentence must be fuller.
_SHORT_SHARE, _FULL_SHARE = 0.7, 0.9
_NEIGHBOR_LINES = 4
# Addresses and table rows are narrower than any column of prose.
_MIN_COLUMN_WIDTH = 32


def dehyphenate(text: str) -> str:
    """The text without line-end hyphens, and with ligatures as letters."""
    return _WRAPPED.sub("", _HYPHEN.sub(_hyphen_replacement, text)).translate(_LIGATURES)


def reflow_paragraphs(lines: Sequence[str], first: int) -> list[Block]:
    """Join lines where a sentence continues; rows of figures and list items stay separate lines."""
    stripped = [line.strip() for line in lines]
    groups: list[list[str]] = []
    for at, line in enumerate(stripped):
        before = stripped[at - 1] if at else ""
        if (
            line
            and before
            and _is_continuation(
                before, line, _usual_length(stripped[max(0, at - _NEIGHBOR_LINES) : at + _NEIGHBOR_LINES])
            )
        ):
            groups[-1].append(line)
        elif line:
            groups.append([line])
    return [Block(" ".join(group), first + at, first + at, "item") for at, group in enumerate(groups)]


def _hyphen_replacement(match: re.Match[str]) -> str:
    """An empty string between lower-case letters, a hyphen anywhere else ("Peg-IFN")."""
    text, before, after = match.string, match.start() - 1, match.end()
    inside = before >= 0 and after < len(text) and text[before].islower() and text[after].islower()
    return "" if inside else "-"


def _usual_length(near: Sequence[str]) -> int:
    """The usual length of the neighboring lines: columns differ in width."""
    return sorted(len(line) for line in near)[-2:][0]


def _is_continuation(before: str, line: str, usual: int) -> bool:
    """Whether the sentence in `before` continues in `line`."""
    if _BULLET.match(line) or not any(map(str.isalnum, before)):
        return False
    if line[0].islower() and not _END.search(before):
        return True
    if _is_table_row(before) or _is_table_row(line):
        return False
    return len(before) >= max(_SHORT_SHARE * usual, _MIN_COLUMN_WIDTH) and not (
        _END.search(before) and len(before) < _FULL_SHARE * usual
    )


def _is_table_row(line: str) -> bool:
    """Whether more than half of the words contain figures."""
    words = line.split()
    return 2 * sum(bool(_FIGURES.search(word)) for word in words) > len(words)
