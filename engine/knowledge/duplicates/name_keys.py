"""Reduce a name to what does not depend on its spelling: hyphens, periods, accents, articles, honorifics, plurals."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from engine.knowledge.duplicates.abbreviations import is_abbreviation
from engine.text.word_lists import word_set

MIN_JOINED_LETTERS = 5  # of names that differ in blanks or periods: "us" is not "u.s."
MIN_ACCENTED_LETTERS = 6
HONORIFICS = word_set("mr mrs ms mx dr prof professor sir dame")
_TOKEN = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")
_APOSTROPHE = re.compile(r"(?<=\w)['’`](?=\w)|(?<=s)['’](?=\s|$)")
_LATIN_MARKS = re.compile("(?<=[a-z])[\u0300-\u036f]+")
_IGNORED = frozenset("-‐‑‒–—.,'’`\"“”")
_ES = ("ches", "shes", "sses", "xes", "zes")


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
