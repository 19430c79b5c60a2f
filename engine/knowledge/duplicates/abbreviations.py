"""Find abbreviations that a text defines, such as "World Health Organization (WHO)". Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from engine.text.word_lists import word_set

if TYPE_CHECKING:
    from collections.abc import Sequence

MIN_LETTERS, MAX_LETTERS = 2, 10
_DEFINITION = re.compile(r"([^()\[\]{}.;:!?]{3,200})\(\s*([A-Z][A-Za-z&.-]{1,14})\s*[);,]")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_UNCOUNTED = word_set("a an and at by de del der des du for from in la le of on or the to und van von with y")


class Definition(NamedTuple):
    """An abbreviation and its long form, as written."""

    short: str
    long: str


def find_definitions(text: str) -> list[Definition]:
    """The abbreviations in parentheses after their long form, each once, in order of the text.

    Stricter than Schwartz & Hearst (2003): each letter is the initial of a word of its own, and only prepositions,
    articles, conjunctions and second parts of hyphenated words may be passed over.
    """
    found = [Definition(match[2], expand(match[1], match[2])) for match in _DEFINITION.finditer(text)]
    return [abbreviation for abbreviation in dict.fromkeys(found) if abbreviation.long]


def is_abbreviation(short: str, long: str) -> bool:
    """Whether the letters of `short` are the initials of all of `long`."""
    return bool(long) and expand(long, short) == " ".join(long.split())


def expand(before: str, short: str) -> str:
    """The last words of `before` whose initials spell the abbreviation; "" if there are none."""
    letters = [letter for letter in short if letter.isalnum()]
    if letters[-1:] == ["s"] and all(letter.isupper() for letter in letters[:-1]):
        letters.pop()  # "VOCs": several variants of concern
    if not MIN_LETTERS <= len(letters) <= MAX_LETTERS or sum(map(str.isupper, letters)) < MIN_LETTERS:
        return ""
    words = list(_WORD.finditer(before))
    skippable = [word[0].casefold() in _UNCOUNTED or before[: word.start()].endswith(("-", "‐", "‑")) for word in words]
    start = _match_initials([word[0].casefold() for word in words], skippable, "".join(letters).casefold())
    return "" if start is None else " ".join(before[words[start].start() :].split())


def _match_initials(words: Sequence[str], skippable: Sequence[bool], letters: str) -> int | None:
    """The index of the first word of the shortest run of last words with these initials."""
    place = len(words)
    for letter in reversed(letters):
        place -= 1
        while place >= 0 and not words[place].startswith(letter) and skippable[place]:
            place -= 1
        if place < 0 or not words[place].startswith(letter):
            return None
    return place
