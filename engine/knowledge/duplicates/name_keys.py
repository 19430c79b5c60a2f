"""What two names share: keys without spelling (hyphens, accents, articles, plurals), and abbreviations of a text."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from engine.text.word_lists import word_set

if TYPE_CHECKING:
    from collections.abc import Sequence


MIN_JOINED_LETTERS = 5  # of names that differ in blanks or periods: "us" is not "u.s."
MIN_ACCENTED_LETTERS = 6
HONORIFICS = word_set("mr mrs ms mx dr prof professor sir dame")
_TOKEN = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")
_APOSTROPHE = re.compile(r"(?<=\w)['’`](?=\w)|(?<=s)['’](?=\s|$)")
_LATIN_MARKS = re.compile("(?<=[a-z])[\u0300-\u036f]+")
_IGNORED = frozenset("-‐‑‒–—.,'’`\"“”")
_ES = ("ches", "shes", "sses", "xes", "zes")
MIN_LETTERS, MAX_LETTERS = 2, 10
_DEFINITION = re.compile(r"([^()\[\]{}.;:!?]{3,200})\(\s*([A-Z][A-Za-z&.-]{1,14})\s*[);,]")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_UNCOUNTED = word_set("a an and at by de del der des du for from in la le of on or the to und van von with y")


@dataclass(frozen=True, slots=True)
class Spelling:
    """A canonical name in parts.

    `core`: letters and digits in order, without what is ignored. `plural_core`: the same with its last word in the
    singular. `last_word`: as in the name. `accentless`: whether accents were removed; `article`, `honorific`,
    `abbreviation`: what was removed, "" for nothing.
    """

    name: str
    core: str
    plural_core: str
    last_word: str
    accentless: bool
    article: str
    honorific: str
    abbreviation: str


@lru_cache(maxsize=8192)
def parse_spelling(name: str) -> Spelling:
    """The parts of a canonical name."""
    rest, abbreviation = _split_abbreviation(name)
    plain = _LATIN_MARKS.sub("", unicodedata.normalize("NFKD", rest))
    accentless = plain != unicodedata.normalize("NFKD", rest)
    plain = unicodedata.normalize("NFKC", _APOSTROPHE.sub("", plain))
    tokens = _tokenize(plain.replace("&", " and "))
    article = honorific = ""
    if len(tokens) > 2 and tokens[0] == "the":
        article, tokens = tokens[0], tokens[1:]
    if tokens and tokens[0] in HONORIFICS and _count_words(tokens) > 2:
        honorific, tokens = tokens[0], tokens[1:]
    last = tokens[-1] if tokens else ""
    return Spelling(
        name,
        _join(tokens),
        _join([*tokens[:-1], _to_singular(last)]),
        last,
        accentless,
        article,
        honorific,
        abbreviation,
    )


def spelling_key(name: str) -> str:
    """The key of a canonical name that it shares with every name that may be another spelling of it."""
    return parse_spelling(name).plural_core or name


def _split_abbreviation(name: str) -> tuple[str, str]:
    """The name, and the abbreviation of all of it in parentheses at its end, if it has one."""
    rest, _, tail = name.rpartition("(")
    long, short = rest.strip(), tail.removesuffix(")").strip()
    if long and name.endswith(")") and len(short.split()) == 1 and is_abbreviation(short.upper(), long):
        return long, short
    return name, ""


def _tokenize(text: str) -> list[str]:
    """Words, numbers and signs that mean something: "c++", "#general", "-5" and "1.5" keep their signs."""
    found = list(_TOKEN.finditer(text))
    tokens: list[str] = []
    for place, token in enumerate(found):
        if token[0] not in _IGNORED or _is_meant(text, token, found[place + 1 : place + 2]):
            tokens.append(token[0])
    return tokens


def _is_meant(text: str, sign: re.Match[str], following: list[re.Match[str]]) -> bool:
    """Whether an ignorable sign distinguishes names here: at the start of a word, or between two digits."""
    if not following or following[0].start() != sign.end():
        return False
    before = text[sign.start() - 1] if sign.start() else " "
    if before.isdigit() and following[0][0].isdigit():
        return True
    return before.isspace() and sign[0] in ".-–" and (following[0][0].isdigit() or sign[0] == ".")


def _join(tokens: list[str]) -> str:
    """The tokens without blanks, except between two numbers."""
    parts: list[str] = []
    for token in tokens:
        if parts and parts[-1][-1].isdigit() and token[0].isdigit():
            parts.append(" ")
        parts.append(token)
    return "".join(parts)


def _count_words(tokens: list[str]) -> int:
    return sum(len(token) > 1 and token.isalpha() for token in tokens)


def _to_singular(word: str) -> str:
    """An English plural as its singular; other words as they are."""
    if len(word) < 4 or not word.isascii() or not word.isalpha() or not word.endswith("s"):
        return word
    if word.endswith(("ss", "us", "is", "ics", "ous")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(_ES) else word[:-1]


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
