"""Names that are marked as such: @people, #channels, ids, code, quoted titles, terms with their abbreviation. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.llm.offline.names.types import CONCEPT, LOCATION, PERSON, NamedEntity, guess_type
from engine.llm.offline.words import UPPER
from engine.text.word_lists import STOP_WORDS, word_set

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_IDENTIFIER = re.compile(
    r"(?<![\w@#/.-])(?:[A-Za-z]+(?:_[A-Za-z0-9]+)+(?:\(\))?|v?\d+\.\d+\.\d+(?:[-.+]\w+)*|v\d+(?:\.\d+)+"
    r"|[a-z]+(?:[A-Z][a-z0-9]+)+|(?!Ma?c[A-Z])(?:[A-Z][a-z0-9]+){2,}|[A-Z][A-Za-z]*-\d+[A-Za-z]?|\d+-[A-Z]\b"
    r"|[A-Z]{2,}\d+\w*)(?![\w/])"
)
_NUMBERED = re.compile(rf"\d+(?:\.\d+)+\.? {UPPER}")  # a heading with its number
_MENTIONED = re.compile(r"(?<![\w.@])@(\w[\w.-]*\w|\w)")
_CHANNEL = re.compile(r"(?<![\w&/#])(?<!\]\()#([^\W\d_][\w-]*)")
_QUOTED = re.compile(rf"(?:[\"“]|``)({UPPER}[^\"“”`\n]{{2,60}})(?:[\"”]|'')")
_ABBREVIATION = re.compile(rf"\(({UPPER}[A-Za-z0-9&-]{{1,9}}?)s?[,;)]")
# Words that titles write small.
_SMALL_WORDS = word_set("a an the of and or in on at to for from with by as but n")
_WORD = re.compile(r"\S+")
CODE = "data"
_MIN_CAPITALS = 2
_MAX_SPARE_WORDS = 5  # of a term, beyond one for each letter of its abbreviation
_MAX_TERM_LENGTH = 120


def find_marked(sentence: str) -> list[NamedEntity]:
    """@people, #channels, ids and identifiers of code, quoted titles, and terms whose abbreviation follows."""
    people = [NamedEntity(match[0], PERSON, match.start()) for match in _MENTIONED.finditer(sentence)]
    channels = [NamedEntity(match[0], LOCATION, match.start()) for match in _CHANNEL.finditer(sentence)]
    ids = [
        NamedEntity(match[0], "artifact" if "-" in match[0] else CODE, match.start())
        for match in _IDENTIFIER.finditer(sentence)
        if match.start() or not _NUMBERED.match(sentence)
    ]
    return [*people, *channels, *ids, *_find_titles(sentence), *_find_terms(sentence)]


def _find_titles(sentence: str) -> Iterator[NamedEntity]:
    """Quotations of two and more words that are capitalized but for small words between them."""
    for match in _QUOTED.finditer(sentence):
        title = match[1].rstrip(" ,")
        words = title.split()
        capitalized = [word for word in words if word[:1].isupper()]
        others = {word.casefold() for word in words if word[:1].islower()}
        is_title = len(capitalized) > 1 and others <= _SMALL_WORDS and not words[-1].islower()
        if is_title and title[-1] not in ".!?" and not STOP_WORDS.issuperset(map(str.casefold, words)):
            type_ = guess_type(title, title, "", "", ())
            yield NamedEntity(title, "content" if type_ == CONCEPT else type_, match.start(1))


def _find_terms(sentence: str) -> Iterator[NamedEntity]:
    """Terms of several words whose first letters the abbreviation after them has."""
    for match in _ABBREVIATION.finditer(sentence):
        letters = [letter for letter in match[1].casefold() if letter.isalnum()]
        before = list(_WORD.finditer(sentence, max(0, match.start() - _MAX_TERM_LENGTH), match.start()))
        start = _find_term_start(before, letters) if sum(map(str.isupper, match[1])) >= _MIN_CAPITALS else None
        if start is not None:
            term = sentence[start : match.start()].rstrip(" ")
            yield NamedEntity(term, guess_type(term, term, "", "", ()), start)


def _find_term_start(words: Sequence[re.Match[str]], letters: Sequence[str]) -> int | None:
    """Where the shortest term begins that has the letters in order: the first begins it, its last word has the last."""
    missing = list(letters)
    for count, word in enumerate(reversed(words), 1):
        text = word[0].casefold()
        if text.endswith((",", ".", ";", ":", ")")) or count > len(letters) + _MAX_SPARE_WORDS:
            return None
        for at in range(len(text) - 1, -1, -1):
            if missing and text[at] == missing[-1] and (len(missing) > 1 or not text[at - 1 : at].isalnum()):
                missing.pop()
        if len(missing) == len(letters):
            return None
        if not missing:
            return word.start() if count > 1 and text[0] == letters[0] and text not in STOP_WORDS else None
    return None
