"""Split words, stem them, and tell content words from function words. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from engine.text.languages.unspaced import RUN, has_function_alone, has_unspaced, list_pairs
from engine.text.time_spans import MONTHS
from engine.text.word_lists import COMMON_WORDS, GENERIC_WORDS, IRREGULAR_FORMS, STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Collection

CHARACTERS_PER_WORD = 2  # of a script without spaces, about
_TOKEN = re.compile(r"[#@]\w[\w.-]*|[€$£]?\w+(?:[-.,:/'’_]\w+)*%?")

# A capital letter in patterns: Latin, Greek, Cyrillic and Armenian script; other scripts have none.
UPPER = f"[{''.join(chr(code) for code in range(0x590) if chr(code).isupper())}]"

# Stem that represents any price in a text.
MONEY = "€"
_PRICE = re.compile(
    r"[€$£¥]|\b(?:euros?|cents?|dollars?|pounds?|pence|francs?|crowns?|free|reais|centavos?|céntimos?|centimes?)\b|[円元]",
    re.IGNORECASE,
)
_ENDINGS = ("ings", "ing", "edly", "ed", "s", "ly")
_SIBILANT_ENDINGS = ("sses", "xes", "zes", "ches", "shes")
# Endings of words derived from others, the longest first, what the base has instead, and its least length.
_DERIVATIONS = (
    ("ization", "iz", 4), ("isation", "is", 4), ("ation", "", 4), ("ition", "", 4), ("sion", "d", 4), ("ment", "", 4),
    ("ance", "", 4), ("anc", "", 4), ("ence", "", 4), ("enc", "", 4), ("able", "", 4), ("abl", "", 4), ("ible", "", 4),
    ("ibl", "", 4), ("ness", "", 4), ("ship", "", 4), ("ion", "", 4), ("ive", "", 5), ("iv", "", 5), ("ure", "", 5),
    ("ery", "", 5), ("er", "", 5), ("or", "", 5), ("al", "", 5),
)  # fmt: skip
MIN_FAMILY_LENGTH = 4
MAX_KEPT_LENGTH = 600  # characters of a text whose stems are kept: whole sources would fill the memory
_STATE = re.compile(
    r"\b(?:is|was|are|were|be|been|being|goes?|went|gone)\s+(down|up|off|out|away)\b"
    r"|\b(down|up|off|out|away)\s*\?"
)
# "I've", "it's", "don't": what stands before the ending, without the n of "not".
_CONTRACTION = re.compile(r"\A(\w{1,40}?)(?:['’](?:s|ve|m|re|ll|d)|n?['’]t)\Z")
# A day and a month in digits: "4.3.", "24/03/2026", "2026-03-24"; a slash alone may divide.
_DATE = re.compile(
    r"(?<![\d.,])(\d{1,2})\. ?(\d{1,2})\.(?=\d{4}(?!\d)|[:,)]| [a-zäöü])|(?<![\d/])(\d{1,2})/(\d\d)/\d{4}(?![\d/])"
    r"|(?<![\d-])\d{4}-(\d\d)-(\d\d)(?![\d-])"
)
LAST_DAY = 31
_VOWEL = re.compile("[aeiouyäöüéèà]")
_SHORT_SYLLABLE = re.compile("[^aeiouäöü][aeiouäöü][^aeiouäöüwxy]")


def split_words(text: str) -> list[str]:
    """The words of a text unchanged; ids, times, prices, #channels and @people stay whole.

    Pairs of neighbors follow for scripts without spaces.
    """
    if not has_unspaced(text):
        return _TOKEN.findall(text)
    return [*_TOKEN.findall(RUN.sub(" ", text)), *list_pairs(text)]


def count_words(text: str) -> int:
    """The number of words of a text; of scripts without spaces about as many as there would be with them."""
    if not has_unspaced(text):
        return len(text.split())
    letters = sum(len(run) for run in RUN.findall(text))
    others = RUN.sub(" ", text).split()
    return -(-letters // CHARACTERS_PER_WORD) + sum(any(map(str.isalnum, word)) for word in others)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The common stem of a word's forms: lower case, without the most common endings; irregular verbs by their base."""
    bare = word.casefold().removesuffix("'s").removesuffix("’s").lstrip("@#")
    bare = IRREGULAR_FORMS.get(bare, bare)
    if not bare.isalpha() or len(bare) < 4:
        return bare
    base = _strip_ending(bare)
    return base.rstrip("e") if len(base) > 4 else base


def content_words(text: str) -> list[str]:
    """The content words of a text unchanged, one per stem; "down" and the like too where something is down."""
    kept: dict[str, str] = {}
    for word in split_words(text):
        if not is_stop_word(word):
            kept.setdefault(stem(word), word)
    for word in _list_particles(text):
        kept.setdefault(word, word)
    return list(kept.values())


def content_stems(text: str) -> frozenset[str]:
    """The stems of the content words; of sentences they are kept, as several steps of one answer ask for them."""
    return _read_stems(text) if len(text) > MAX_KEPT_LENGTH else _keep_stems(text)


def date_stems(text: str) -> frozenset[str]:
    """The stems of the days and months that a text gives in digits: 4 and March, in each language, of "4.3."."""
    found = set[str]()
    for day, month, other_day, other_month, iso_month, iso_day in _DATE.findall(text):
        found |= _name_day(int(day or other_day or iso_day), int(month or other_month or iso_month))
    return frozenset(found)


def _name_day(day: int, month: int) -> frozenset[str]:
    names = _MONTH_STEMS.get(month - 1, frozenset())
    return names | {str(day)} if names and 0 < day <= LAST_DAY else frozenset()


def _read_stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, content_words(text)))


_keep_stems = lru_cache(maxsize=4096)(_read_stems)


@lru_cache(maxsize=65536)
def word_family(key: str) -> str:
    """What a stem shares with those derived from the same word: supplier and supply, decision and decide."""
    for ending, restored, least in _DERIVATIONS:
        rest = key.removesuffix(ending)
        if rest != key and len(rest) >= least:
            return f"{rest}{restored}".rstrip("eiy")
    bare = key.rstrip("eiy")
    return bare if len(bare) >= MIN_FAMILY_LENGTH else key


def _list_particles(text: str) -> list[str]:
    """The particles that say in which state something is: "is down", and at the end of a question."""
    return [found[1] or found[2] for found in _STATE.finditer(text.lower())]


def has_parts(word: str, stems: Collection[str]) -> bool:
    """Whether the stems have all parts of a word with hyphens: open and air of "open-air"; True for other words."""
    parts = [part for part in word.split("-") if len(part) > 2 and not is_stop_word(part)]
    return "-" not in word or stem(word) in stems or all(stem(part) in stems for part in parts)


@lru_cache(maxsize=65536)
def is_stop_word(word: str) -> bool:
    """Whether it is a function word."""
    folded = word.casefold()
    if found := _CONTRACTION.fullmatch(folded):
        folded = folded if folded in STOP_WORDS else found[1]
    return folded in STOP_WORDS or has_function_alone(word)


def is_generic(word: str) -> bool:
    """Whether it says little about the topic of a question."""
    return stem(word) in _GENERIC_STEMS


def is_common(word: str) -> bool:
    """Whether the word may begin a sentence without being a name."""
    folded = word.casefold()
    return folded in STOP_WORDS or folded in COMMON_WORDS or is_generic(word) or folded.endswith(("ing", "ly"))


def has_price(text: str) -> bool:
    """Whether the text has an amount of money, or says that something is free."""
    return bool(_PRICE.search(text))


def _strip_ending(word: str) -> str:
    """The word without its ending, with the base restored: fitted, fit; moving, move; boxes, box."""
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(_SIBILANT_ENDINGS):
        return word[:-2]
    if word.endswith(("ss", "us")):
        return word
    for ending in _ENDINGS:
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 and _VOWEL.search(rest):
            return rest if ending in {"s", "ly"} else _restore_base(rest)
    return word


def _restore_base(rest: str) -> str:
    """fitt, fit; mov, move; but fall, box."""
    if len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "lsz" and not _VOWEL.match(rest[-1]):
        return rest[:-1]
    return f"{rest}e" if _SHORT_SYLLABLE.fullmatch(rest) else rest


_GENERIC_STEMS = frozenset(stem(word) for word in GENERIC_WORDS)
_MONTH_STEMS = {
    number: frozenset(stem(name) for name, at in MONTHS.items() if at == number) for number in set(MONTHS.values())
}
