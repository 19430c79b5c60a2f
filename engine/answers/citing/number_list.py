"""Read the numbers of sources in an answer: lists, columns of tables, words before them, and copied numbers. Pure.

The text is what a reader sees (`visible_text`): with plain digits, without marks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from engine.answers.citing.places import ends_sentence, is_reported, read_last_word
from engine.answers.citing.words import (
    AND_WORDS,
    ARTICLES,
    BRACKET_LABELS,
    CITING_WORDS,
    LABELS,
    NUMBER_WORDS,
    PAGE_WORDS,
    RANGE_WORDS,
    REPORTED_WORDS,
    SEE_SUFFIXES,
    SEE_WORDS,
    SOURCE_PHRASES,
    SOURCE_WORDS,
    THING_WORDS,
)
from engine.answers.links.link_syntax import CLOSING_BRACKETS, OPENING_BRACKETS, visible_text
from engine.text.patterns import compile_late

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator


MAX_LIST_LENGTH = 200
MAX_SPANS = 40
HYPHENS = frozenset("-‐‑‒–—―−~〜～")

_TOKEN = compile_late(r"(\d+)|([^\W\d_]{1,40}(?:['’][^\W\d_]{1,20})?[º°]?)|(\.{2,3}|…|\S)")
_LIST_WORDS = ARTICLES | SEE_WORDS | AND_WORDS | RANGE_WORDS | NUMBER_WORDS | SEE_SUFFIXES
_SEPARATORS = frozenset(",;、，；&+|/·•・")
_AFTER_LABEL = frozenset(":：#.№_=-º°")
_TITLED = compile_late(
    r"\s{0,4}(?:(?P<label>[^\W\d_]{1,12})[\s:.#]{0,4})?(?P<number>\d{1,4})\s{0,4}"
    r"(?:[:,|]|(?<=\s)[–—-]\s|\((?=[^()]{3,100}\)\s{0,4}\Z))\s{0,4}(?=[^\W\d_][^\[\]]{2}|[§¶]\s?\d)"
)
_TIMED = compile_late(  # the number of a source, and when it was written
    r"\s{0,4}(?:(?P<label>[^\W\d_]{1,12})[\s:.#]{0,4})?(?P<number>\d{1,4})\s?[,;]\s{0,4}"
    r"(?:\d{1,2}:\d\d(?::\d\d)?|\d{4}-\d\d?-\d\d?(?:[ T,]{1,2}\d{1,2}:\d\d)?)\s{0,4}"
)
_NUMERO = compile_late(r"\bn\.\s?[oº°]s?\b\.?", re.IGNORECASE)  # as in Spanish and Portuguese
_PARTIAL_NUMERO = compile_late(r"\bn\.\s?\Z", re.IGNORECASE)
# The abbreviation of a page, as in German, Portuguese and Spanish; without a point it is a label of a source: "S3".
_ABBREVIATED_PAGE = compile_late(r"(?<![^\W_])s\.\s{0,4}\d", re.IGNORECASE)
_PAGE_BEHIND = compile_late(  # the number of a source
    rf"(?<=\d)\s{{0,4}}[,;:]\s{{0,4}}(?:s\.\s{{0,4}}|(?:{'|'.join(sorted(PAGE_WORDS))})(?:\.\s{{0,4}}|\s{{1,4}}))\d{{1,4}}"
    r"(?:\s?[-–]\s?\d{1,4}|\s?ff?\.?)?\s{0,4}(?=;|\Z)",
    re.IGNORECASE,
)
_COMMUNITY = compile_late(r"\s{0,4}data\s{0,4}:", re.IGNORECASE)
_COMMUNITY_PART = compile_late(r"([^\W\d_]{1,20})\s{0,4}\(([^()]{0,100})\)")
SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"

_WORD = compile_late(rf"([^\W_]{{1,40}})\.?\s?([(（]\d{{1,4}}[)）]|[{SUPERSCRIPTS}]+)")
_OPENING, _CLOSING = re.escape(OPENING_BRACKETS), re.escape(CLOSING_BRACKETS)
_BRACKET = compile_late(rf"[{_OPENING}]([^{_OPENING}{_CLOSING}\n]{{1,80}})[{_CLOSING}]")
_NO_DIGIT = compile_late(r"\D")
_LABEL = compile_late(r"\W{0,4}([^\W\d_]{1,20})")
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
NAMED = compile_late(
    rf"(?P<label>{'|'.join(map(re.escape, BY_LENGTH))})"
    rf"(?P<gap>{_COLON}|\s?(?:#|no\.\s?|nr\.\s?)?)(?P<list>\d{{1,4}}(?:{_NEXT}\d{{1,4}}){{0,9}})",
    re.IGNORECASE,
)  # fmt: skip
NAME_START = compile_late(rf"(?:{'|'.join(map(re.escape, _STARTS))})\Z", re.IGNORECASE)
PARTIAL_NAMED = compile_late(
    rf"(?:{'|'.join(map(re.escape, BY_LENGTH))})(?:{_COLON}|{_EMPHASIS}\s?(?:#|n[or]?\.?\s?)?)"
    rf"(?:\d{{1,4}}(?:{_NEXT}\d{{1,4}}){{0,9}}.{{0,{WORD_LOOKAHEAD}}})?\Z",
    re.IGNORECASE | re.DOTALL,
)
_OTHER_END = compile_late(
    r"[A-Za-z0-9%°]|_\w|[.:/,'’-]\d|\s?(?:of|von|de|di|sur|aus|/)\s?\d|\s(?:of|des?|del|du|da|do|dos|das|der|di)\s[^\W\d]|\sd['’][^\W\d]|\s(?:fois|veces|vezes|[Mm]al|times)\b|\s?(?:km|m|mi|cm|mm|ft|h|min|s|kg|g|l)\b"
)
_LAST_LINE = compile_late(  # the start of one, but no point of a list and no line of a table of facts
    r"(?:\A|(?:[.!?…。！？][)*_\"'”»]{0,3}|\])[ \t]*\n|\n[ \t]*\n)[ \t>]*[*_]{0,3}\Z"
)
_PARAGRAPH_END = compile_late(r"[*_.。]{0,4}[ \t]*(?:\n[ \t]*(?:\n|\Z)|\Z)")


@dataclass(frozen=True, slots=True)
class NumberList:
    """The spans (first, last) of a list.

    `is_labeled`: a word says that they are sources. `is_loose`: the separators have other uses too.
    """

    spans: tuple[tuple[int, int], ...]
    is_labeled: bool = False
    is_loose: bool = False

    def is_given(self, numbers: Collection[int]) -> bool:
        """Whether the model was given all numbers of the list, and each range runs upwards."""
        return all(low in numbers and high in numbers and low <= high for low, high in self.spans)

    def render(self) -> str:
        """The list in square brackets."""
        return "".join(f"[{low}]" if low == high else f"[{low}-{high}]" for low, high in self.spans)


def read_bracket(text: str) -> NumberList | None:
    """The list within square brackets, with any label; None if it reads as something else."""
    if len(text) > MAX_LIST_LENGTH:
        return None
    if found := _COMMUNITY.match(text):
        return _read_community(text[found.end() :])
    text = _PAGE_BEHIND.sub("", text)
    if _ABBREVIATED_PAGE.search(text):
        return None
    if listed := read_list(text.replace("(s)", ""), BRACKET_LABELS, is_bracketed=True):
        return listed
    titled = _TITLED.match(text)
    if titled is None or (titled["label"] and titled["label"].casefold() not in BRACKET_LABELS):
        return None
    return NumberList(((int(titled["number"]),) * 2,), is_loose=True)


def read_timed(text: str) -> int | None:
    """The number of a source that stands before the time at which it was written; None if the text is no such thing."""
    timed = _TIMED.fullmatch(text)
    if (
        timed is None
        or _ABBREVIATED_PAGE.search(text)
        or (timed["label"] and timed["label"].casefold() not in BRACKET_LABELS)
    ):
        return None
    return int(timed["number"])


def read_list(text: str, labels: Collection[str] = LABELS, *, is_bracketed: bool = False) -> NumberList | None:
    """The list that a text consists of; None if it is none.

    `is_bracketed`: numbers may be separated by blanks.
    """
    reader = _ListReader(labels, is_bracketed=is_bracketed)
    for kind, value in _tokens(_NUMERO.sub("no ", text)):
        if not reader.read(kind, value) or len(reader.spans) > MAX_SPANS:
            return None
    return reader.finish()


def may_become_list(text: str, labels: Collection[str] = LABELS) -> bool:
    """Whether a continuation of this text may be a list of numbers."""
    text = _PARTIAL_NUMERO.sub("no", _NUMERO.sub("no ", text))
    *known, last = [*_tokens(text)] or [("sign", "")]
    words = [value for kind, value in known if kind == "word"]
    if not all(word in labels or word in _LIST_WORDS for word in words):
        return False
    if last[0] != "word":
        return len(text) <= MAX_LIST_LENGTH
    return any(label.startswith(last[1]) for group in (labels, _LIST_WORDS) for label in group)


class _ListReader:
    """A list that is read token by token."""

    def __init__(self, labels: Collection[str], *, is_bracketed: bool) -> None:
        self.spans: list[tuple[int, int]] = []
        self._labels = labels
        self._is_bracketed = is_bracketed
        self._is_labeled = self._is_loose = False
        self._last = "start"  # start, see, article, label, number, separator, range or end

    def read(self, kind: str, value: str) -> bool:
        """Read a token; false if the text is no list."""
        if kind == "number":
            return self._read_number(value)
        if kind == "word":
            return self._read_word(value)
        return self._read_sign(value)

    def finish(self) -> NumberList | None:
        """The list, if it ends with a number."""
        if self._last not in {"number", "end"}:
            return None
        return NumberList(tuple(self.spans), self._is_labeled, self._is_loose)

    def _read_number(self, digits: str) -> bool:
        number = int(digits) if len(digits) <= 9 else -1
        if self._last in {"end", "article"}:
            return False
        if self._last == "range":
            self.spans[-1] = (self.spans[-1][0], number)
        elif self._last == "number" and not self._is_bracketed:
            return False
        else:
            self.spans.append((number, number))
        self._last = "number"
        return True

    def _read_word(self, word: str) -> bool:
        if self._last == "number" and word in RANGE_WORDS:
            self._last = "range"
        elif self._last in {"number", "separator"} and word in AND_WORDS and self.spans:
            self._last = "separator"
        elif word in self._labels and self._last != "number":
            self._last, self._is_labeled = "label", True
        elif word in NUMBER_WORDS and self._last == "label":
            pass
        elif word in SEE_SUFFIXES and self._last == "number":
            self._last = "end"
        elif word in ARTICLES and self._last in {"start", "see", "separator"}:
            self._last = "article"
        elif word in SEE_WORDS and self._last in {"start", "see"}:
            self._last = "see"
        else:
            return False
        return True

    def _read_sign(self, sign: str) -> bool:
        if self._last == "number" and (sign in HYPHENS or sign[0] in ".…"):
            if sign == ".":
                return False
            self._last = "range"
        elif self._last == "number" and sign in _SEPARATORS:
            self._is_loose = self._is_loose or sign in "|/+"
            self._last = "separator"
        elif self._last == "separator" and sign in _SEPARATORS:
            self._is_loose = True
        elif self._last in {"label", "see", "article"} and sign in _AFTER_LABEL:
            pass
        elif sign in "#№" and (self._is_bracketed or self._is_labeled) and self._last != "number":
            self._is_labeled = True
        elif sign != "^":
            return False
        return True


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    for found in _TOKEN.finditer(text):
        if found[1]:
            yield "number", found[1]
        elif found[2]:
            yield "word", found[2].casefold().replace("’", "'")
        else:
            yield "sign", found[3]


def _read_community(text: str) -> NumberList | None:
    """The sources in a citation of GraphRAG: `Sources (1, 2); Entities (3)`."""
    spans: list[tuple[int, int]] = []
    for found in _COMMUNITY_PART.finditer(text):
        listed = read_list(found[2].replace("+more", "").rstrip(" ,"), ())
        if found[1].casefold() in LABELS and listed:
            spans += listed.spans
    return NumberList(tuple(spans), is_labeled=True) if spans else None


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
