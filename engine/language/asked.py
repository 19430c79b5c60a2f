"""A question taken apart: its clauses, what kind of thing it wants, and who is called what by its sources. Pure."""

from __future__ import annotations

import re
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Literal

from engine.language.lexicon import CALENDAR, word_set
from engine.language.sentences import LONGEST
from engine.language.words import MONEY, UPPER, is_common, is_generic, is_stop, stem, tells_price, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.language.quotable import Quotable

Kind = Literal["price", "quantity", "time", "any"]

_ASKING = r"(?:on|in|at|to|from|until|by|for|since|with)?\s*\b(?:who|whom|whose|what|which|when|where|why|how)\b"
_CLAUSES = re.compile(
    rf"(?:(?<!\s)\s*+[,;]\s*+|(?<!\s)\s++)(?:and|but|or)\s++(?={_ASKING})|(?<=\?)\s++(?!\(|\Z)", re.IGNORECASE
)
_ENOUGH = 2
LONGEST_ROLE = 40
MOST_ROLES = 30  # words of a question that may be what somebody is called by

_MEASURE = r"\bhow\s+(long|tall|high|deep|wide|thick|far|old|heavy|hot|warm|cold|fast|often|big|large)\b"
_DEGREE = re.compile(_MEASURE, re.IGNORECASE)
_FOCUS = re.compile(
    r"\b(?:(?:what|who|where|when) (?:is|are|was|were) (?:the|an?)|(?:is|are|was|were) there(?: an?| any)?"
    r"|which|what|whose) ((?:\w+ ){0,2}\w+)",
    re.IGNORECASE,
)
_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("price", re.compile(r"\bhow\s+(?:much|expensive)\b|\b(?:prices?|costs?|fees?|fare|charge)\b", re.IGNORECASE)),
    ("quantity", re.compile(rf"\bhow\s+many\b|{_MEASURE}", re.IGNORECASE)),
    ("time", re.compile(r"\bwhen\b|\b(?:what|which)\s+(?:time|day|date|hour|month|year)\b", re.IGNORECASE)),
)
_NUMBER_WORDS = word_set(
    """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million half double twice
    """
)
# What a quality is measured in, and what a price is told by.
_HEIGHT = "metre meter foot cm storey high tall height"
_HEAT = "degree celsius fahrenheit temperature"
_SIZE = "metre meter foot square litre people member"
_MEASURES = {
    "long": "second minute hour day night week month year metre meter foot kilometre mile cm mm km",
    "far": "metre kilometre mile minute hour km distance",
    "deep": "metre meter foot cm fathom depth",
    "wide": "metre meter foot cm mm width",
    "thick": "millimetre centimetre metre mm cm inch",
    "old": "year age aged born birthday",
    "heavy": "gram kilogram kilo tonne ton pound weigh weight kg",
    "fast": "knot hour minute second speed",
    "often": "day week month year every",
    **dict.fromkeys(("tall", "high"), _HEIGHT),
    **dict.fromkeys(("hot", "warm", "cold"), _HEAT),
    **dict.fromkeys(("big", "large"), _SIZE),
}
_PRICED = frozenset(map(stem, ["cost", "price", "fee", "fare", "charge", "pay"]))
_TIME_WORDS = word_set(
    """
    noon midnight morning evening night today tomorrow yesterday tonight week weekday
    """
)
_TIME_STEMS = frozenset(map(stem, CALENDAR | _TIME_WORDS))

_NAME = rf"{UPPER}[^\W_]*(?:[ -]{UPPER}[^\W_]*){{0,2}}"
_ARTICLES = r"(?:the |a |an |our |his |her |their |is the |is our |is a |as )?"


def clauses(question: str) -> list[str]:
    """The questions that a question consists of; one too short to be searched for goes with the one before it."""
    found: list[str] = []
    for clause in filter(None, map(str.strip, _CLAUSES.split(question))):
        bare = [word for word in tokens(clause) if not is_stop(word)]
        if found and len(bare) < _ENOUGH:
            found[-1] = f"{found[-1]} {clause}"
        else:
            found.append(clause)
    return found


def kind(question: str) -> Kind:
    """What kind of thing would answer it."""
    return next((name for name, pattern in _KINDS if pattern.search(question)), "any")


def has_kind(text: str, wanted: Kind) -> bool | None:
    """Whether a text has that kind of thing in it; None if that is not to be told."""
    words = tokens(text.casefold())
    counted = any(map(str.isdigit, text)) or not _NUMBER_WORDS.isdisjoint(words)
    if wanted == "price":
        return tells_price(text) or (None if any(map(str.isdigit, text)) else False)
    if wanted == "quantity":
        return counted
    if wanted == "time":
        return counted or not _TIME_STEMS.isdisjoint(map(stem, words))
    return None


def qualities(question: str) -> dict[str, frozenset[str]]:
    """What is to be measured, with the stems of what it is measured in: "how old" in years; a price in money ("€")."""
    found = {stem(word): frozenset(map(stem, _MEASURES[word.lower()].split())) for word in _DEGREE.findall(question)}
    if kind(question) == "price":
        found |= {stem(word): frozenset({MONEY}) for word in tokens(question) if stem(word) in _PRICED}
    return found


def focus(question: str) -> frozenset[str]:
    """The stems of the very things that are asked for: "Which team", "What is the password", "How heavy"."""
    sought = set(qualities(question))
    for match in _FOCUS.finditer(" ".join(question.split())):
        phrase = takewhile(lambda word: not is_stop(word), tokens(match[1]))
        sought.update([stem(word) for word in phrase if not is_generic(word)][:1])
    return frozenset(sought)


def aliases(words: Iterable[str], quotables: Sequence[Quotable]) -> dict[str, frozenset[str]]:
    """For the stem of each lower-case word of a question: the stems of the names that somewhere are said to be that.

    "the harbour master, Ada Byron", "Skipper: Ada Byron", "Ada Byron (chair)".
    """
    found: dict[str, frozenset[str]] = {}
    roles = islice((word for word in words if _may_be_role(word)), MOST_ROLES)
    patterns = [(stem(word), _role(word)) for word in roles]
    for quotable in quotables:
        for key, pattern in patterns:
            if key in quotable.words and (said := pattern.search(quotable.text[:LONGEST])):
                name = next(filter(None, said.groups()))
                found[key] = found.get(key, frozenset()) | frozenset(map(stem, tokens(name)))
    return found


def _may_be_role(word: str) -> bool:
    return word.islower() and len(word) <= LONGEST_ROLE and not is_common(word)


def _role(word: str) -> re.Pattern[str]:
    role = rf"(?:\w+ )?(?i:{re.escape(word)})(?: \w+)?"
    return re.compile(rf"\b(?:{role}(?:,|:) ({_NAME})|({_NAME}),? ?\(?{_ARTICLES}{role}(?:[,.;)]|$))")
