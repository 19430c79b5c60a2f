"""Tell whether an answer copies words with a number from its sources: then they are quoted, and cite nothing."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from engine.answers.citing.places import ends_sentence, is_reported, read_last_word
from engine.answers.citing.words import (
    BRACKET_LABELS,
    CITING_WORDS,
    LABELS,
    REPORTED_WORDS,
    SOURCE_PHRASES,
    SOURCE_WORDS,
    THING_WORDS,
)
from engine.answers.links.link_syntax import CLOSING_BRACKETS, OPENING_BRACKETS, visible_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"

_WORD = re.compile(rf"([^\W_]{{1,40}})\.?\s?([(（]\d{{1,4}}[)）]|[{SUPERSCRIPTS}]+)")
_OPENING, _CLOSING = re.escape(OPENING_BRACKETS), re.escape(CLOSING_BRACKETS)
_BRACKET = re.compile(rf"[{_OPENING}]([^{_OPENING}{_CLOSING}\n]{{1,80}})[{_CLOSING}]")
_NO_DIGIT = re.compile(r"\D")
_LABEL = re.compile(r"\W{0,4}([^\W\d_]{1,20})")
_SAME = str.maketrans({"（": "(", "）": ")", "：": ":", "*": "", "_": ""})
MAX_ROW = 1000  # characters of a heading row
WORD_LOOKAHEAD = 16  # characters after "document 2" that decide it

_NAMES = SOURCE_WORDS | REPORTED_WORDS | SOURCE_PHRASES
_EMPHASIS = "[*_]{0,3}"
_COLON = rf"{_EMPHASIS}\s?[:：]{_EMPHASIS}\s?{_EMPHASIS}"
BY_LENGTH = sorted(_NAMES, key=len, reverse=True)
_STARTS = sorted({word[:length] for word in _NAMES for length in range(1, len(word))}, key=len, reverse=True)
_NEXT = (
    r"(?:\s?,\s?(?:(?:and|und|y|e|et)\s)?|\s?&\s?|\s(?:and|und|y|e|et|or|oder|o|ou|to|bis|a|à)\s|\s?[-–、と和]\s?|、)"
)
NAMED = re.compile(
    rf"(?P<label>{'|'.join(map(re.escape, BY_LENGTH))})"
    rf"(?P<gap>{_COLON}|\s?(?:#|no\.\s?|nr\.\s?)?)(?P<list>\d{{1,4}}(?:{_NEXT}\d{{1,4}}){{0,9}})",
    re.IGNORECASE,
)  # fmt: skip
NAME_START = re.compile(rf"(?:{'|'.join(map(re.escape, _STARTS))})\Z", re.IGNORECASE)
PARTIAL_NAMED = re.compile(
    rf"(?:{'|'.join(map(re.escape, BY_LENGTH))})(?:{_COLON}|{_EMPHASIS}\s?(?:#|n[or]?\.?\s?)?)"
    rf"(?:\d{{1,4}}(?:{_NEXT}\d{{1,4}}){{0,9}}.{{0,{WORD_LOOKAHEAD}}})?\Z",
    re.IGNORECASE | re.DOTALL,
)
_OTHER_END = re.compile(
    r"[A-Za-z0-9%°]|_\w|[.:/,'’-]\d|\s?(?:of|von|de|di|sur|aus|/)\s?\d|\s(?:of|des?|del|du|da|do|dos|das|der|di)\s[^\W\d]|\sd['’][^\W\d]|\s(?:fois|veces|vezes|[Mm]al|times)\b|\s?(?:km|m|mi|cm|mm|ft|h|min|s|kg|g|l)\b"
)
_LAST_LINE = re.compile(  # the start of one, but no point of a list and no line of a table of facts
    r"(?:\A|(?:[.!?…。！？][)*_\"'”»]{0,3}|\])[ \t]*\n|\n[ \t]*\n)[ \t>]*[*_]{0,3}\Z"
)
_PARAGRAPH_END = re.compile(r"[*_.。]{0,4}[ \t]*(?:\n[ \t]*(?:\n|\Z)|\Z)")


class CopiedNumbers:
    """The numbers with words that texts contain; `texts`: what sources, titles and the question say."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(texts)

    def has(self, written: str) -> bool:
        """Whether a text says this word with its number, as "gate (1)", "Source 2" or "Reference: 5"."""
        return _squeeze(written) in self._words

    def has_bracket(self, content: str, *, is_given: bool = False) -> bool:
        """Whether a bracket quotes one of a text that begins with a label and has a number: "[Ref. 3]".

        "[Source 3]" is a citation if its number `is_given`: the text that has it may be a copied answer.
        """
        seen = visible_text(content)
        cites = is_given and _read_label(seen) in CITING_WORDS
        return not cites and _is_labeled(seen) and _squeeze(seen) in self._brackets

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(_squeeze(words) for text in self._texts for words in _find_words(text))

    @cached_property
    def _brackets(self) -> frozenset[str]:
        found = (visible_text(match[1]) for text in self._texts for match in _BRACKET.finditer(text))
        return frozenset(map(_squeeze, filter(_is_labeled, found)))


def _find_words(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        yield f"{match[1]}{match[2]}"
    for match in NAMED.finditer(_BRACKET.sub(_drop_citation, text)):
        yield match[0]
        yield match["label"] + match["gap"] + _NO_DIGIT.split(match["list"], maxsplit=1)[0]


def _drop_citation(bracket: re.Match[str]) -> str:
    """No words for a citation of a copied answer, as "[Source 1]"; other brackets as they are."""
    return "[]" if _read_label(bracket[1]) in CITING_WORDS else bracket[0]


def _is_labeled(seen: str) -> bool:
    return _read_label(seen) in BRACKET_LABELS and any(map(str.isdigit, seen))


def _read_label(seen: str) -> str:
    label = _LABEL.match(seen)
    return label[1].casefold() if label else ""


def _squeeze(text: str) -> str:
    return "".join(text.casefold().translate(_SAME).split())


class TableColumns:
    """Reads the rows of a text as it comes; "Source" in a cell of the heading row makes its column one of sources."""

    def __init__(self) -> None:
        self._row = ""  # the start of the line
        self._bars = 0
        self._was_row = False
        self._cited: frozenset[int] = frozenset()

    def record(self, text: str) -> None:
        """Read on."""
        first, *lines = text.split("\n")
        self._read(first)
        for line in lines:
            self._end_line()
            self._read(line)

    def is_cited_after(self, bar: str) -> bool:
        """Whether the cell after a bar that comes next belongs to a column of sources."""
        return (
            bool(self._cited)
            and bar == "|"
            and (not self._row.strip() or self._row.lstrip()[0] == "|")
            and (self._bars in self._cited)
        )

    def _read(self, text: str) -> None:
        self._bars += text.count("|")
        if len(self._row) < MAX_ROW:
            self._row += text[:MAX_ROW]

    def _end_line(self) -> None:
        is_row = self._row.lstrip().startswith("|")
        if is_row and not self._was_row:
            cells = self._row.strip().strip("|").split("|")
            self._cited = frozenset(
                place for place, cell in enumerate(cells) if visible_text(cell).strip(" .:#").casefold() in LABELS
            )
        elif not is_row:
            self._cited = frozenset()
        self._was_row, self._row, self._bars = is_row, "", 0


def is_named_source(found: re.Match[str], before: str, behind: str) -> bool:
    """Whether such words cite: `before` ends before them, `behind` follows them.

    "Source: 2" ends a line; "Source: 2 pages" counts pages.
    """
    label, has_colon = found["label"].casefold(), found["gap"].strip(" *_") in {":", "："}
    if read_last_word(before) in THING_WORDS or _OTHER_END.match(behind) or (has_colon and not ends_sentence(behind)):
        return False
    is_last = has_colon and _LAST_LINE.search(before) is not None and _PARAGRAPH_END.match(behind) is not None
    return label in SOURCE_WORDS or (is_last and label in SOURCE_PHRASES) or is_reported(before, behind)
