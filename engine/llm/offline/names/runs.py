"""Runs of capitalized words: what one is, where it is several names, and what is no name. Pure."""

from __future__ import annotations

import re

from engine.llm.offline.names.types import TITLES
from engine.llm.offline.names.vocabulary import calendar_words, is_currency, looks_common
from engine.llm.offline.words import UPPER, is_common
from engine.text.word_lists import STOP_WORDS, word_set

_CAPITALIZED = rf"(?:{UPPER}(?:[\w’'&.]|-(?!-))*\w|{UPPER})"
_INITIALS = rf"(?:{UPPER}\.)+(?= {UPPER}\w)"
_PART = rf"(?:{_INITIALS}|(?:St|Ste|Mt|Ft)\.(?= )|{_CAPITALIZED})"
_PARTICLES = (
    "of|of the|de|de la|de las|de los|del|della|der|den|van|van der|von|zu|la|le|du|da|do|dos|af|av|bin|ibn|el|al"
)
CAPITALIZED_RUN = re.compile(
    rf"(?<![\w@#/.])(?:{TITLES}\.? )?{_PART}"
    rf"(?: (?:(?:{_PARTICLES}) |{TITLES}\. )?{_PART}| \d{{1,4}}(?![\w:,.%-]*[\w%]))*",
    re.UNICODE,
)
_TOKEN = re.compile(r"\S+")
_INITIAL = re.compile(rf"{UPPER}\.")
_TITLE = re.compile(rf"{TITLES}\.?")
_MARKS = ".,;:"
# Words before a number that name a place in a text.
_REFERENCES = word_set(
    "figure figures fig table page pages section chapter appendix step line question phase part note"
)
_SEASONS = word_set("spring summer autumn winter")
_NO_NAMES = word_set("inc ltd co jr sr bros st mt ft rev al am pm bc ad phd")
# Last words of places that lie "of" another: "Osh Province of Kyrgyzstan".
_DIVISIONS = word_set(
    "district province oblast krai county island islands river lake shore region village town city range valley bay"
)
_MIN_OF_WORDS = 2  # words before "of" in a name that ends there


def split_run(run: str) -> list[tuple[str, int]]:
    """The names of a run, each with its place: cut at dates and references, and after a place "of" another."""
    parts: list[tuple[str, int]] = []
    tokens = list(_TOKEN.finditer(run))
    first = 0
    for at, token in enumerate(tokens):
        if at < first:
            continue
        following = tokens[at + 1][0] if at + 1 < len(tokens) else ""
        before = tokens[at - 1][0] if at > first else ""
        if _is_dated(token[0], before, following) or (_fold(token[0]) in _REFERENCES and following.isdigit()):
            end = at - 1 if before.isdigit() else at
            parts += _join(run, tokens[first:end])
            first = at + 1 + following.isdigit()
        elif _INITIAL.fullmatch(token[0]) and _begins_sentence(_fold(following)):
            parts += _join(run, tokens[first : at + 1])
            first = at + 1
        elif token[0] == "of" and at - first >= _MIN_OF_WORDS and _fold(before) in _DIVISIONS:
            parts += _join(run, tokens[first:at])
            first = at + 1 + (following == "the")
    return parts + _join(run, tokens[first:])


def is_no_name(name: str) -> bool:
    """Whether it is a day, month, single letter, title, currency or bare number, or a year after a month."""
    words = [word.casefold().strip(".") for word in name.split()]
    calendar = calendar_words()
    if all(word in calendar or word in STOP_WORDS or word.isdigit() for word in words) or len(name) == 1:
        return True
    return len(words) == 1 and (words[0] in _NO_NAMES or bool(_TITLE.fullmatch(name)) or is_currency(name))


def _is_dated(token: str, before: str, following: str) -> bool:
    """Whether it is a month or a day of the week next to a number."""
    return _fold(token) in calendar_words() - _SEASONS and (before.isdigit() or following.isdigit())


def _begins_sentence(word: str) -> bool:
    """Whether a word after a single letter and a period is the first of a sentence rather than a part of the name."""
    return word in STOP_WORDS or is_common(word) or looks_common(word)


def _join(run: str, tokens: list[re.Match[str]]) -> list[tuple[str, int]]:
    """The part of a run with these words, if there are any."""
    return [(run[tokens[0].start() : tokens[-1].end()], tokens[0].start())] if tokens else []


def _fold(word: str) -> str:
    return word.casefold().strip(_MARKS)
