"""Join the lines of a paragraph that was wrapped at a width, so that names of several words stay whole. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.llm.offline.words import UPPER

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

_PARAGRAPHS = re.compile(r"(\n\s*\n)")
_HYPHENATED = re.compile(r"(?<![\w-])[^\W\d_]++-[^\W\d_]++(?![\w-])")
_LOOSE_HYPHEN = re.compile(rf"(?<=\w{UPPER})-[ \n](?={UPPER}\w)")  # "SARS- CoV"
_MARKED = re.compile(r"\A(?:[-*•‣–|#>]|\(?\d{1,3}[.)]|\[\d{1,4}\])")  # a list item, a table row, a heading, a citation
_MIN_WIDTH = 40
_MAX_START = 40  # characters of a word that a line had no room for; longer ones are addresses, or have no spaces
_MIN_SMALL_SHARE = 4  # one of so many breaks of a wrapped paragraph comes before a word in lower case


def join_wrapped_lines(text: str) -> str:
    """The text, each line joined with the next where that one's first word did not fit the width of the paragraph.

    A hyphen at the end of a line goes unless a capital follows or the text has the word with it.
    """
    if "\n" not in text:
        return text
    text = _LOOSE_HYPHEN.sub("-", text)
    hyphenated = {word.casefold() for word in _HYPHENATED.findall(text)}
    parts = _PARAGRAPHS.split(text)
    return "".join(part if at % 2 else "".join(_join(part.split("\n"), hyphenated)) for at, part in enumerate(parts))


def _join(lines: Sequence[str], hyphenated: Container[str]) -> Iterator[str]:
    """The lines of a paragraph, each with the break or the blank after it."""
    width = max(map(len, lines))
    starts = [line.split(maxsplit=1)[0] if line.strip() else "" for line in lines[1:]]
    full = [
        len(line) + 1 + len(start) > width and len(start) <= _MAX_START
        for line, start in zip(lines, starts, strict=False)
    ]
    small = sum(start[:1].islower() for start, is_full in zip(starts, full, strict=True) if is_full)
    is_long = width >= _MIN_WIDTH and sum(full) > max(1, len(full) // 2 - 1)
    is_wrapped = is_long and small * _MIN_SMALL_SHARE >= sum(full)
    for line, start, is_full, following in zip(lines, starts, full, lines[1:], strict=False):
        is_cut = line.endswith("-") and line[-2:-1].isalpha() and start[:1].isalnum() and width >= _MIN_WIDTH
        if not start or not (is_cut or (is_wrapped and is_full)) or _MARKED.match(following) or "|" in following:
            yield f"{line}\n"
        elif is_cut:
            yield line if _keeps_hyphen(line, start, hyphenated) else line[:-1]
        else:
            yield f"{line} "
    yield lines[-1]


def _keeps_hyphen(line: str, start: str, hyphenated: Container[str]) -> bool:
    word = f"{line.rsplit(maxsplit=1)[-1]}{start.rstrip('.,;:!?)')}"
    return not start[:1].islower() or word.casefold() in hyphenated
