"""Compare names of persons: initials, middle names, and the family name first. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from engine.knowledge.duplicates.name_keys import HONORIFICS

MIN_FAMILY_LETTERS = 2
MIN_WORDS = 2
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*\.?")


@lru_cache(maxsize=4096)
def split_person_name(name: str) -> tuple[str, ...]:
    """The words of a canonical name, the family name last: "doe, j. t." has j, t, doe; () if it has other signs.

    Without titles; "doe j. t." is the same, and an abbreviation of several letters keeps its period: "th. doe".
    """
    family, comma, given = name.partition(",")
    ordered = f"{given} {family}" if comma else name
    if not all(character.isalpha() or character in " .'’-" for character in ordered):
        return ()
    words = _WORD.findall(ordered)
    while len(words) > MIN_WORDS and words[0].removesuffix(".") in HONORIFICS:
        del words[0]
    words = [
        word.removesuffix(".") if _letters(word) == 1 or place == len(words) - 1 else word
        for place, word in enumerate(words)
    ]
    if len(words) >= MIN_WORDS and len(words[0]) > 1 and all(len(word) == 1 for word in words[1:]):
        words = [*words[1:], words[0]]
    return tuple(words)


def _letters(word: str) -> int:
    return len(word.removesuffix("."))


def has_initials_of(a: str, b: str) -> bool:
    """Whether they differ only in initials: "J. Doe", "John Doe", "John T. Doe" and "Doe, John"."""
    return _matches(a, b, may_omit_words=False)


def omits_middle_name(a: str, b: str) -> bool:
    """Whether one has middle names, or initials, that the other leaves out: "John Doe", "John Thomas Doe"."""
    return _matches(a, b, may_omit_words=True)


def has_other_initial(a: str, b: str) -> bool:
    """Whether they are alike but for a single letter: "John T. Doe" and "John B. Doe", "hepatitis A" and "B"."""
    x, y = split_person_name(a), split_person_name(b)
    if len(x) != len(y) or len(x) < 2:
        return False
    return any(len(one) == len(other) == 1 and one != other for one, other in zip(x, y, strict=True))


def _matches(a: str, b: str, *, may_omit_words: bool) -> bool:
    short, long = sorted((split_person_name(a), split_person_name(b)), key=len)
    if (
        len(short) < 2
        or short[-1] != long[-1]
        or not _is_same_or_initial(short[0], long[0])
        or len(short[-1]) < MIN_FAMILY_LETTERS
    ):
        return False
    omitted = _find_omitted(short[:-1], long[:-1])
    return omitted is not None and (may_omit_words or all(len(word) == 1 for word in omitted))


def _find_omitted(short: tuple[str, ...], long: tuple[str, ...]) -> list[str] | None:
    """The given names that the short list leaves out; None if one of its names is not in the other, in order."""
    places = [0]
    for word in short:
        place = next((at for at in range(places[-1], len(long)) if _is_same_or_initial(word, long[at])), None)
        if place is None:
            return None
        places.append(place + 1)
    return [word for before, after in pairwise(places) for word in long[before : after - 1]] + [*long[places[-1] :]]


def _is_same_or_initial(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return one == other or ((len(short) == 1 or short.endswith(".")) and long.startswith(short.removesuffix(".")))
