"""Analyze a question: its clauses, the type of answer it needs, and the roles that its sources define. Pure."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Literal

from engine.llm.offline.text.words import MONEY, UPPER, has_price, is_generic, is_stop_word, split_words, stem
from engine.text.word_lists import CALENDAR_WORDS, word_set

AnswerType = Literal["price", "quantity", "time", "person", "reason", "any"]

_QUESTION_WORD = r"(?:on|in|at|to|from|until|by|for|since|with)?\s*\b(?:who|whom|whose|what|which|when|where|why|how)\b"
_CLAUSE_BREAK = re.compile(
    rf"(?:(?<!\s)\s*+[,;]\s*+|(?<!\s)\s++)(?:and|but|or)\s++(?={_QUESTION_WORD})|(?<=\?)\s++(?!\(|\Z)", re.IGNORECASE
)
_PARENTHESES = re.compile(r"[()?]")
_MIN_CLAUSE_WORDS = 2

_MEASURE = (
    r"\b(?:how\s+|(?=weigh))(long|tall|high|deep|wide|thick|far|old|heavy|hot|warm|cold|fast|often|big|large|weigh)\b"
)
_DEGREE = re.compile(_MEASURE, re.IGNORECASE)
_FOCUS = re.compile(
    r"\b(?:(?:what|who|where|when|how much|what time) (?:is|are|was|were|do|does|did|will) (?:the|an?)"
    r"|(?:is|are|was|were) there(?: an?| any)?|which|what|whose) ((?:\w+ ){0,2}\w+)",
    re.IGNORECASE,
)
_ANSWER_TYPES: tuple[tuple[AnswerType, re.Pattern[str]], ...] = (
    ("quantity", re.compile(rf"\bhow\s+many\b|{_MEASURE}", re.IGNORECASE)),
    (
        "price",
        re.compile(r"\bhow\s+(?:much|expensive)\b|\b(?:prices?|costs?|fees?|fines?|fare|charge)\b", re.IGNORECASE),
    ),
    ("time", re.compile(r"\bwhen\b|\b(?:what|which)\s+(?:time|day|date|hour|month|year)\b", re.IGNORECASE)),
    ("reason", re.compile(r"\bwhy\b|\breasons?\b", re.IGNORECASE)),
    ("person", re.compile(r"\bwho(?:m|se)?\b", re.IGNORECASE)),
)
_COUNTED = re.compile(r"\bhow\s+many\s+(\w+(?:\s+\w+)?)", re.IGNORECASE)
_NUMBER_WORDS = word_set(
    """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million half double twice
    """
)
# Units of a quality, and signs of a price.
_HEIGHT = "metre meter foot cm storey high tall height"
_HEAT = "degree celsius fahrenheit temperature"
_SIZE = "metre meter foot square litre people member"
_MEASURES = {
    "long": "second minute hour day night week month year metre meter foot kilometre mile cm mm km",
    "far": "metre kilometre mile minute hour km distance",
    "deep": "metre meter foot cm fathom depth",
    "wide": "metre meter foot cm mm width",
    "thick": "millimetre centimetre metre mm cm inch",
    "old": "year age aged born birthday built launched since",
    **dict.fromkeys(("heavy", "weigh"), "gram kilogram kilo tonne ton pound weigh weight kg"),
    "fast": "knot kilometre mile km speed",
    "often": "day week month year every",
    **dict.fromkeys(("tall", "high"), _HEIGHT),
    **dict.fromkeys(("hot", "warm", "cold"), _HEAT),
    **dict.fromkeys(("big", "large"), _SIZE),
}
_HOUR = stem("hour")  # a time span in hours may also be given as a day or a time: "until midnight"
_UNITS = frozenset(stem(word) for units in _MEASURES.values() for word in units.split())
_EXPIRY_STEMS = frozenset(map(stem, ["expire", "expiry", "lapse", "valid"]))
_PRICE_STEMS = frozenset(map(stem, ["cost", "price", "fee", "fare", "charge", "pay"]))
_TIME_WORDS = word_set(
    """
    noon midnight morning evening night today tomorrow yesterday tonight week weekday
    """
)
_TIME_STEMS = frozenset(map(stem, CALENDAR_WORDS | _TIME_WORDS))

_ANSWER_CUES: dict[AnswerType, re.Pattern[str]] = {
    "person": re.compile(rf"(?<=[^\W_] ){UPPER}[^\W_]++|\b(?:I|my|me)\b"),
    "reason": re.compile(r"\b(?:because|since|so that|due to|therefore|in order to|reason)\b", re.IGNORECASE),
}


def split_clauses(question: str) -> list[str]:
    """The clauses of a question; a clause of one word uses the first clause as a hint."""
    clauses: list[str] = []
    for clause in filter(None, map(str.strip, _CLAUSE_BREAK.split(question))):
        bare = len([word for word in split_words(clause) if not is_stop_word(word)])
        if clauses and not bare:
            clauses[-1] = f"{clauses[-1]} {clause}"
        else:
            clauses.append(
                f"{clause} ({_PARENTHESES.sub(' ', clauses[0])})" if clauses and bare < _MIN_CLAUSE_WORDS else clause
            )
    return clauses


def answer_type(question: str) -> AnswerType:
    """The type of answer that the question needs."""
    return next((name for name, pattern in _ANSWER_TYPES if pattern.search(question)), "any")


def counted_stems(question: str) -> frozenset[str]:
    """The stems of what is counted or measured, or of what "who" asks about, which is no answer itself."""
    units = [_MEASURES[word.lower()] for word in _DEGREE.findall(question) if word.lower() != "often"]
    about = [question] if answer_type(question) == "person" else _COUNTED.findall(question) or units
    return frozenset(stem(word) for found in about for word in split_words(found) if not is_stop_word(word))


def has_answer_type(text: str, kind: AnswerType, of: frozenset[str] = frozenset()) -> bool | None:
    """Whether a text has the answer type, a number or another person `of` these; None if that cannot be decided."""
    words = split_words(text.casefold())
    numbers = [any(map(str.isdigit, word)) or word in _NUMBER_WORDS for word in words]
    timed = not _TIME_STEMS.isdisjoint(map(stem, words))
    if kind in _ANSWER_CUES:
        excluded = of | _TIME_STEMS if kind == "person" else frozenset()
        return not excluded.issuperset(map(stem, _ANSWER_CUES[kind].findall(text))) or None
    if kind == "price":
        return has_price(text) or (None if any(map(str.isdigit, text)) else False)
    if kind == "quantity" and of and (any(numbers) or timed):
        near = (words[max(0, at - 2) : at + 3] for at, is_number in enumerate(numbers) if is_number)
        fits = any(not of.isdisjoint(map(stem, each)) for each in near) or (timed and _HOUR in of)
        return fits or (False if of <= _UNITS else None)
    if kind == "time":
        return any(numbers) or timed
    return any(numbers) if kind == "quantity" else None


def quality_measures(question: str) -> dict[str, frozenset[str]]:
    """Measured qualities with the stems of their units: "how old" in years; a price in money ("€")."""
    found = {stem(word): frozenset(map(stem, _MEASURES[word.lower()].split())) for word in _DEGREE.findall(question)}
    if answer_type(question) == "price":
        found |= {stem(word): frozenset({MONEY}) for word in split_words(question) if stem(word) in _PRICE_STEMS}
    # Something that expires is valid "until" a date.
    return found | {stem(word): frozenset({"until"}) for word in split_words(question) if stem(word) in _EXPIRY_STEMS}


def focus_stems(question: str) -> frozenset[str]:
    """The stems of what is asked for: "Which team", "What is the password", "How heavy"."""
    stems = set(quality_measures(question))
    for match in _FOCUS.finditer(" ".join(question.split())):
        phrase = takewhile(lambda word: not is_stop_word(word), split_words(match[1]))
        stems.update([stem(word) for word in phrase if not is_generic(word)][:1])
    return frozenset(stems)
