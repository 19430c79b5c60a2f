"""Runs of capitalized words: what one is, where it is several names, and what is no name. Pure."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from engine.llm.offline.names.types import ENDINGS, TITLES
from engine.llm.offline.names.vocabulary import GIVEN_NAMES, calendar_words, is_currency, looks_common, place_names
from engine.llm.offline.words import UPPER, is_common
from engine.text.patterns import compile_late
from engine.text.word_lists import STOP_WORDS, word_set

if TYPE_CHECKING:
    from collections.abc import Sequence

_CAPITALIZED = rf"(?:{UPPER}(?:[\w’'&.]|-(?!-))*\w|{UPPER})"
_INITIALS = rf"(?:{UPPER}\.)+(?= {UPPER}\w)"
_PART = rf"(?:{_INITIALS}|(?:St|Ste|Mt|Ft)\.(?= )|{_CAPITALIZED})"
_PARTICLES = (
    "of|of the|de|de la|de las|de los|del|della|der|den|van|van der|von|zu|la|le|du|da|do|dos|af|av|bin|ibn|el|al"
)
CAPITALIZED_RUN = compile_late(
    rf"(?<![\w@#/.])(?:{TITLES}\.? )?{_PART}"
    rf"(?: (?:(?:{_PARTICLES}|for|for the|and|&) )?(?:{TITLES}\. )?{_PART}| \d{{1,4}}(?![\w:,.%-]*[\w%]))*",
    re.UNICODE,
)
_TOKEN = compile_late(r"\S+")
_INITIAL = compile_late(rf"{UPPER}\.")
_ROMAN = compile_late(r"[IVXLC]{1,7}")
_AFTER_AUTHOR = compile_late(rf" {UPPER}{{1,3}}, $")
_TITLE = compile_late(rf"{TITLES}\.?")
_JOINTS = word_set("for and &")
_TOPICS_AFTER = word_set("of for")
_MARKS = ".,;:"
# Words before a number that name a place in a text.
_REFERENCES = word_set(
    "figure figures fig table page pages section chapter appendix step line question phase part note"
)
_SEASONS = word_set("spring summer autumn winter")
_NO_NAMES = word_set("inc ltd co jr sr bros st mt ft rev al am pm bc ad phd")
# Units as they are written in capitals, after a number.
_UNITS = word_set(
    "b kb mb gb tb pb kib mib gib tib hz khz mhz ghz v kv w kw mw gw wh kwh mwh gwh twh pa kpa mpa db rpm"
)
# Last words of places that lie "of" another: "Osh Province of Kyrgyzstan".
_DIVISIONS = word_set(
    "district province oblast krai county island islands river lake shore region village town city range valley bay"
)
_MIN_OF_WORDS = 2  # words before "of" in a name that ends there
# Bodies, offices and works that are named after topics: "Ministry of Education and Science", "Council for Science".
_TOPICAL = word_set(
    "agency alliance association bureau center centre college commission committee conference council department "
    "faculty forum foundation fund handbook institute journal laboratory minister ministry office organisation "
    "organization programme program project school secretary society union"
)


def split_run(run: str, before: str = "") -> list[tuple[str, int]]:
    """The names of a run, each with its place: cut at dates and references, and after a place "of" another.

    `before` is the text before it: after a number its unit goes, after a cited author it is cut at an initial, too.
    """
    is_cited = bool(_AFTER_AUTHOR.search(before))
    parts: list[tuple[str, int]] = []
    tokens = list(_TOKEN.finditer(run))
    first = _skip_unit([token[0] for token in tokens], before)
    for at, token in enumerate(tokens):
        if at < first:
            continue
        following = tokens[at + 1][0] if at + 1 < len(tokens) else ""
        last = tokens[at - 1][0] if at > first else ""
        is_numbered = following.isdigit() or bool(_ROMAN.fullmatch(following))
        if _is_dated(token[0], last, following) or (_fold(token[0]) in _REFERENCES and is_numbered):
            end = at - 1 if last.isdigit() else at
            parts += _join(run, tokens[first:end])
            first = at + 1 + is_numbered
        elif _INITIAL.fullmatch(token[0]) and (is_cited or _begins_sentence(_fold(following))):
            parts += _join(run, tokens[first : at + 1])
            first = at + 1
        elif _ends_at(token[0], tokens[first:at], tokens[at + 1 :]):
            parts += _join(run, tokens[first:at])
            first = at + 1 + (following == "the")
    return parts + _join(run, tokens[first:])


def _ends_at(word: str, before: Sequence[re.Match[str]], after: Sequence[re.Match[str]]) -> bool:
    """Whether the words before end a name: a place that lies "of" another, or one of two that are joined."""
    if word == "of":
        return len(before) >= _MIN_OF_WORDS and _fold(before[-1][0]) in _DIVISIONS
    return word in _JOINTS and not _is_joined(before, word, after)


def _is_joined(before: Sequence[re.Match[str]], joint: str, after: Sequence[re.Match[str]]) -> bool:
    """Whether a name goes on after "for", "and" or "&": that of a body and its topics, or of a company."""
    left = [_fold(word[0]) for word in before]
    right = [_fold(word[0]) for word in takewhile(lambda word: word[0] not in _JOINTS, after)]
    if not left or not right or _is_known(left) or _is_known(right):
        return False
    if joint == "&":
        return left[-1] not in ENDINGS
    topics = [at for at, word in enumerate(left) if word in _TOPICS_AFTER]
    body = left[: topics[0]] if joint == "and" and topics else left
    return (joint == "for" or bool(topics)) and not _TOPICAL.isdisjoint(body) and right[-1] not in ENDINGS


def _is_known(words: Sequence[str]) -> bool:
    """Whether they are a place, or begin with a given name."""
    return words[0] in GIVEN_NAMES or " ".join(words) in place_names()


def is_no_name(name: str) -> bool:
    """Whether it is a day, month, single letter, title, currency or bare number, or a year after a month."""
    words = [word.casefold().strip(".") for word in name.split()]
    calendar = calendar_words()
    if len(name) == 1 or all(word in calendar or word.isdigit() or _is_function_word(word, name) for word in words):
        return True
    return len(words) == 1 and (words[0] in _NO_NAMES or bool(_TITLE.fullmatch(name)) or is_currency(name))


def _is_function_word(word: str, name: str) -> bool:
    """Whether it is a function word, and no abbreviation of its letters: "WHO"."""
    return word in STOP_WORDS and not (len(word) > 1 and word.upper() == name)


def _skip_unit(words: Sequence[str], before: str) -> int:
    """The number of words that a unit takes after a number: "GB", "GB of"."""
    is_unit = words[0].casefold() in _UNITS and before.rstrip()[-1:].isdigit()
    return 1 + (len(words) > 1 and words[1].islower()) if is_unit else 0


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
