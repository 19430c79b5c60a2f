"""Find the word sequences of a question that may be names or titles. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.text.names import normalize_name
from engine.text.word_lists import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

MAX_WORDS = 12  # of a name or title
MAX_QUESTION_WORDS = 120  # of a question; names after them are not looked for
_WORD = re.compile(r"\S+")
_MARKS = ".,;:!?()[]{}\"“”„‘’'«»*_`"
_POSSESSIVE = re.compile(r"['’]s$|(?<=s)['’]$")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}$")
_FILE_NAME_BLANKS = re.compile(r"[-_]+")


@dataclass(frozen=True, slots=True)
class NameSpan:
    """A sequence of words, from `start` to before `end`, and its canonical name."""

    start: int
    end: int
    name: str


def find_name_spans(text: str) -> list[NameSpan]:
    """The word sequences of a text that may be names; a single word only if it is capitalized or has a digit."""
    words = [match.span() for match in _WORD.finditer(text)][:MAX_QUESTION_WORDS]
    found = dict[NameSpan, None]()
    for start, (begin, _) in enumerate(words):
        for end in range(start + 1, min(start + MAX_WORDS, len(words)) + 1):
            for form in _forms(text[begin : words[end - 1][1]]):
                name = normalize_name(form)
                if name and (end > start + 1 or is_name_like(form)):
                    found[NameSpan(start, end, name)] = None
    return list(found)


def longest_spans(spans: list[NameSpan], known: Container[str]) -> list[NameSpan]:
    """The spans with known names that are not part of a longer one."""
    matching = [span for span in spans if span.name in known]
    return [span for span in matching if not any(_contains(other, span) for other in matching)]


def title_key(title: str) -> str:
    """The canonical form of a title: without a file extension or a qualifier in parentheses, `-` and `_` as blanks."""
    stem = _EXTENSION.sub("", title.strip())
    if stem != title.strip():
        stem = _FILE_NAME_BLANKS.sub(" ", stem)
    return normalize_name(_remove_qualifier(stem) or stem)


def _remove_qualifier(title: str) -> str:
    """The title without a last part in parentheses."""
    start = title.rfind("(")
    return title[:start].rstrip() if start >= 0 and title.find(")", start) == len(title) - 1 else title


def _forms(words: str) -> Iterator[str]:
    bare = words.strip(_MARKS)
    yield bare
    if (stem := _POSSESSIVE.sub("", bare)) != bare:
        yield stem


def is_name_like(word: str) -> bool:
    """Whether a single word may be a name: it is capitalized or has a digit, and is no function word."""
    return not word.islower() and any(map(str.isalnum, word)) and word.casefold() not in STOP_WORDS


def _contains(outer: NameSpan, inner: NameSpan) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end and outer.end - outer.start > inner.end - inner.start
