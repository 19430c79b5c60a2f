"""Read the numbers in a list like "1, 2", "Sources 1 and 3", "S1|S2" or "1: Harbor notes". Pure.

The text is what a reader sees (`visible_text`): with plain digits, without marks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.answers.citing.words import (
    AND_WORDS,
    ARTICLES,
    BRACKET_LABELS,
    LABELS,
    NUMBER_WORDS,
    PAGE_WORDS,
    RANGE_WORDS,
    SEE_SUFFIXES,
    SEE_WORDS,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

MAX_LIST_LENGTH = 200
MAX_SPANS = 40
HYPHENS = frozenset("-‐‑‒–—―−~〜～")

_TOKEN = re.compile(r"(\d+)|([^\W\d_]{1,40}(?:['’][^\W\d_]{1,20})?[º°]?)|(\.{2,3}|…|\S)")
_LIST_WORDS = ARTICLES | SEE_WORDS | AND_WORDS | RANGE_WORDS | NUMBER_WORDS | SEE_SUFFIXES
_SEPARATORS = frozenset(",;、，；&+|/·•・")
_AFTER_LABEL = frozenset(":：#.№_=-º°")
_TITLED = re.compile(
    r"\s{0,4}(?:(?P<label>[^\W\d_]{1,12})[\s:.#]{0,4})?(?P<number>\d{1,4})\s{0,4}"
    r"(?:[:,|]|(?<=\s)[–—-]\s|\((?=[^()]{3,100}\)\s{0,4}\Z))\s{0,4}(?=[^\W\d_][^\[\]]{2}|[§¶]\s?\d)"
)
_TIMED = re.compile(  # the number of a source, and when it was written
    r"\s{0,4}(?:(?P<label>[^\W\d_]{1,12})[\s:.#]{0,4})?(?P<number>\d{1,4})\s?[,;]\s{0,4}"
    r"(?:\d{1,2}:\d\d(?::\d\d)?|\d{4}-\d\d?-\d\d?(?:[ T,]{1,2}\d{1,2}:\d\d)?)\s{0,4}"
)
_NUMERO = re.compile(r"\bn\.\s?[oº°]s?\b\.?", re.IGNORECASE)  # as in Spanish and Portuguese
_PARTIAL_NUMERO = re.compile(r"\bn\.\s?\Z", re.IGNORECASE)
# The abbreviation of a page, as in German, Portuguese and Spanish; without a point it is a label of a source: "S3".
_ABBREVIATED_PAGE = re.compile(r"(?<![^\W_])s\.\s{0,4}\d", re.IGNORECASE)
_PAGE_BEHIND = re.compile(  # the number of a source
    rf"(?<=\d)\s{{0,4}}[,;:]\s{{0,4}}(?:s\.\s{{0,4}}|(?:{'|'.join(sorted(PAGE_WORDS))})(?:\.\s{{0,4}}|\s{{1,4}}))\d{{1,4}}"
    r"(?:\s?[-–]\s?\d{1,4}|\s?ff?\.?)?\s{0,4}(?=;|\Z)",
    re.IGNORECASE,
)
_COMMUNITY = re.compile(r"\s{0,4}data\s{0,4}:", re.IGNORECASE)
_COMMUNITY_PART = re.compile(r"([^\W\d_]{1,20})\s{0,4}\(([^()]{0,100})\)")


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
