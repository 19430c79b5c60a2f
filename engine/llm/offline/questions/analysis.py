"""Analyze a question: its clauses, and the type of answer that each one needs. Pure."""

from __future__ import annotations

import re
from typing import Literal

from engine.llm.offline.attendance import asks_for_absent, says_absent
from engine.llm.offline.language_rules import find_pattern, load_words
from engine.llm.offline.words import MONEY, UPPER, has_price, is_stop_word, split_words, stem
from engine.text.languages.unspaced import has_unspaced
from engine.text.patterns import compile_late
from engine.text.time_spans import MONTHS, WEEKDAYS
from engine.text.word_lists import CALENDAR_WORDS, SYNONYMS, word_set

AnswerType = Literal["price", "quantity", "time", "absence", "person", "reason", "any"]

_QUESTION_WORD = r"(?:on|in|at|to|from|until|by|for|since|with)?\s*\b(?:who|whom|whose|what|which|when|where|why|how)\b"
_CLAUSE_BREAK = compile_late(
    rf"(?:(?<!\s)\s*+[,;]\s*+|(?<!\s)\s++)(?:and|but|or)\s++(?={_QUESTION_WORD})|(?<=\?)\s++(?!\(|\Z)", re.IGNORECASE
)
_PARENTHESES = compile_late(r"[()?]")
_HINTS = compile_late(r"\(([^()]*)\)[\s?.!]*$")
_YES_OR_NO = compile_late(
    r"\A\W{0,3}+(?:and |but |so )?(?:is|are|was|were|does|do|did|can|could|may|must|has|have|will|should)\b",
    re.IGNORECASE,
)
_MIN_CLAUSE_WORDS = 2

_MEASURE = (
    r"\b(?:how\s+|(?=weigh))(long|tall|high|deep|wide|thick|far|old|heavy|hot|warm|cold|fast|often|big|large|weigh)\b"
)
_DEGREE = compile_late(_MEASURE, re.IGNORECASE)
_COUNTED = compile_late(r"\bhow\s+many\s+(\w+(?:\s+\w+)?)", re.IGNORECASE)
# "In which room sits the person who …".
_RELATIVE_WHO = compile_late(
    r"\W{0,9}(?:(?:in|at|on|from|until|since|to|by) )?(?:which|what|where|when|how)\b", re.IGNORECASE
)
_MUCH_OF = (
    r"how\s+much\s+(?!(?:is|are|was|were|does|do|did|will|would|can|could|should|has|have|had|money|for|per|to|we|i|you|it"
    r"|they|the|a|an|more|less|longer|of)\b)[a-z]"
)
_ANSWER_TYPES: tuple[tuple[AnswerType, re.Pattern[str]], ...] = (
    ("quantity", compile_late(rf"\bhow\s+many\b|\b{_MUCH_OF}|{_MEASURE}", re.IGNORECASE)),
    (
        "price",
        compile_late(r"\bhow\s+(?:much|expensive)\b|\b(?:prices?|costs?|fees?|fines?|fare|charge)\b", re.IGNORECASE),
    ),
    (
        "time",
        compile_late(
            r"\A(?!\W{0,9}(?:(?:and|but|so) )?(?:where|whom?|why|how)\b).*\bwhen\b"  # "where do we meet when it burns"
            r"|\b(?:what|which)\s+(?:time|day|date|hour|month|year)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "reason",
        compile_late(
            r"\b(?:why|reasons?|how come|warum|wieso|weshalb|por qué|pourquoi|por que)\b|なぜ|どうして|为什么|為什麼",
            re.IGNORECASE,
        ),
    ),
    ("person", compile_late(r"\b(?:who(?:m|se)?|wer|wen|wem|wessen|quién(?:es)?)\b", re.IGNORECASE)),
)
_LIST_REQUEST = compile_late(
    r"\A\W{0,3}(?:please )?(?:can you |could you )?(?:list|enumerate|name (?:all|the|every|me)"
    r"|(?:show|give|tell) me (?:all|the list|every))\b"
    r"|\bwhat (?:all )?(?:was|were|did .{1,40}) (?:decided?|agreed?|resolved?|approved?)\b|\bsteps?\b|\bchecklist\b"
    r"|\bhow (?:do|does|can|could|should|must|to)\b|\bwhat (?:must|do|should|needs?) .{1,60}\b(?:before|after|when)\b"
    r"|\bwhat (?:must|should|needs?|has|have) (?:to )?be done\b"
    r"|\b(?:liste|zähle .{1,60} auf|nenne (?:alle|die)|welche schritte|enumera|haz una lista|cuáles son|quels sont"
    r"|quelles sont|quais são)\b|一覧|列出|有哪些",
    re.IGNORECASE,
)
_PLURAL = compile_late(
    r"\b(?:which|what(?: are)?(?: the| all the| our| my| your)?|who are the)\s+(?:\w+\s+){0,2}?(\w+s)\b", re.IGNORECASE
)
_HOW = compile_late(
    r"\bhow (?:do|does|can|could|should|must|to|are|is)\b|\bwie (?:kann|geht|muss|mache|bekomme|komme)\b"
    r"|\bcómo (?:se|puedo|hago)\b|\bcomment (?:faire|puis|est-ce)\b|\bcomo (?:faço|posso|se)\b|どうやって|怎么|怎麼",
    re.IGNORECASE,
)
_LIST_NOUNS = frozenset(
    map(
        stem,
        word_set(
            "list enumerate steps step items item points point things all every show give checklist liste schritte"
        ),
    )
)
_NUMBER_WORDS = word_set(
    """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million half double twice
    """
)
_TIME_STEMS = frozenset(
    map(stem, CALENDAR_WORDS | word_set("noon midnight morning evening night today tomorrow yesterday week weekday"))
)
# Units of a quality ("how long"), and the words by which other words of a question are answered.
_MEASURES = {
    quality: word_set(units)
    for qualities, units in (
        ("long", "second minute hour day night week month year metre meter foot kilometre mile cm mm km"),
        ("far", "metre kilometre mile minute hour km distance"),
        ("deep", "metre meter foot cm fathom depth"),
        ("wide", "metre meter foot cm mm width"),
        ("thick", "millimetre centimetre metre mm cm inch"),
        ("old", "year age aged born birthday built launched since"),
        ("heavy weigh", "gram kilogram kilo tonne ton pound weigh weight kg"),
        ("fast", "knot kilometre mile km speed kw mbit minute hour"),
        ("often", "day week month year every"),
        ("tall high", "metre meter foot cm storey high tall height euro dollar pound franc percent"),
        ("hot warm cold", "degree celsius fahrenheit temperature"),
        ("big large", "metre meter foot square litre people member"),
        ("expire lapse valid", "until"),
        ("happen decide", "resolve decide agree grant approve adopt reject elect"),
    )
    for quality in qualities.split()
}
_ANSWERS_BY_STEM = {stem(word): frozenset(map(stem, units)) for word, units in _MEASURES.items()}
_UNITS = frozenset().union(*(_ANSWERS_BY_STEM.values()))
_HOUR = stem("hour")  # a time span in hours may also be given as a day or a time: "until midnight"
_SYNONYMS = {key: frozenset(stems) - {key} for group in SYNONYMS for stems in [set(map(stem, group))] for key in stems}
_ANSWER_CUES: dict[AnswerType, re.Pattern[str]] = {
    "person": compile_late(
        rf"(?<=[^\W_] ){UPPER}[^\W_]++|\b(?:I|my|me)\b"
        r"|\b(?:people|persons?|everyone|everybody|anyone|those|staff|members) (?:who|with|without|in|from|of) "
    ),
    "reason": compile_late(
        r"\b(?:because|since|so that|due to|owing to|therefore|in order to|reason|caused?|weil|damit|deshalb|wegen"
        r"|porque|ya que|por eso|parce que|puisque|à cause)\b"
        r"|\bas (?:it|they|we|he|she|the|its|their|our|his|her|nobody|no|nothing|there|this|these|some"
        r"|most|many)\b|から|ため|因为|因為",
        re.IGNORECASE,
    ),
}


_OTHER_CUES = {"person": "self", "reason": "cause"}
_NUMERAL = compile_late(r"\d|[〇一二三四五六七八九十百千万萬億亿两]")
_UNSPACED_TIME = compile_late(
    r"[〇一二三四五六七八九十\d][月日号時时点年]|[月火水木金土日]曜|[周週][一二三四五六日天]|星期|来週|来月|来年|今[日週月年天]"
    r"|明[日天年]|昨[日天]|[下上][周週个]|毎[日週月朝晩]|每[天周月年]"
)
_TIME_WORDS = load_words("times") | frozenset((*WEEKDAYS, *MONTHS)) - {"mar", "may", "sat", "sun", "march", "fri"}
_TIME_PREPOSITIONS = word_set(
    """
    at from until till by before after since on in to past um ab bis vor nach seit am im las les el le à a às des depuis
    desde hasta até avant après
    """
)
_FREQUENCY = compile_late(
    r"\b(?:(?:every|each) (?:\w+ )?(?:hour|day|night|week|month|quarter|year|morning|evening|\w+day|shift)s?|hourly"
    r"|daily|nightly|weekly|monthly|quarterly|yearly|annually|täglich|wöchentlich|monatlich|jährlich|jede[nrs]? \w+"
    r"|cada (?:día|semana|mes|año)|chaque (?:jour|semaine|mois|année)|tou(?:s|tes) les \w+|todos os dias|toda semana)\b"
    r"|毎[日週月年朝晩]",
    re.IGNORECASE,
)
_CLOCK = compile_late(
    r"\b\d{1,2}:\d\d\b|\b(?:19|20)\d\d\b|\b\d{1,2}(?:st|nd|rd|th)\b|\b\d{1,2} ?(?:am|pm|uhr|h)\b|\d[日月年時时点]",
    re.IGNORECASE,
)


def has_day(text: str) -> bool:
    """Whether a text of a script without spaces has a time: 四月末, 下周."""
    return has_unspaced(text) and _UNSPACED_TIME.search(text) is not None


def is_number(word: str) -> bool:
    """Whether it is a number, in digits or as a word."""
    folded = word.casefold()
    return folded in _NUMBER_WORDS or folded in load_words("numbers") or bool(_NUMERAL.search(word))


def is_unit(word: str) -> bool:
    """Whether it is a unit of time, length, weight or another measure, but not of money."""
    return stem(word) in _UNITS and not has_price(word)


def split_clauses(question: str) -> list[str]:
    """The clauses of a question; a clause of one word gets the first clause as a hint in brackets."""
    clauses: list[str] = []
    for clause in filter(None, map(str.strip, _CLAUSE_BREAK.split(question))):
        bare = len([word for word in split_words(clause) if not is_stop_word(word)])
        if clauses and not bare:
            clauses[-1] = f"{clauses[-1]} {clause}"
        elif clauses and bare < _MIN_CLAUSE_WORDS:
            clauses.append(f"{clause} ({_PARENTHESES.sub(' ', clauses[0])})")
        else:
            clauses.append(clause)
    return clauses


def split_hint(clause: str) -> tuple[str, str]:
    """The clause without the hint in brackets at its end, and the hint."""
    found = _HINTS.search(clause)
    return (clause[: found.start()], found[1]) if found else (clause, "")


def wants_list(clause: str) -> bool:
    """Whether it asks for several things, or for the steps of something."""
    found = _PLURAL.search(clause)
    is_plural = found is not None and found[1].endswith("s") and not found[1].endswith(("ss", "us", "is"))
    return is_plural or bool(_LIST_REQUEST.search(clause))


def asks_how(clause: str) -> bool:
    """Whether it asks how something is done."""
    return bool(_HOW.search(clause))


def is_list_noun(word: str) -> bool:
    """Whether it only says that a list is wanted."""
    return stem(word) in _LIST_NOUNS


def answer_type(clause: str) -> AnswerType:
    """The type of answer that a clause needs; a "who" after another question word only describes somebody."""
    if asks_for_absent(clause):
        return "absence"
    other = _RELATIVE_WHO.match(clause) is not None
    found = (
        name
        for name, pattern in _ANSWER_TYPES
        if (pattern.search(clause) or find_pattern(name).search(clause)) and not (other and name == "person")
    )
    return next(found, "any")


def is_yes_or_no(clause: str) -> bool:
    """Whether it asks for yes or no."""
    return bool(_YES_OR_NO.match(clause))


def counted_stems(clause: str) -> frozenset[str]:
    """The stems of what is counted or measured, or of what "who" asks about, which is no answer itself."""
    units = [" ".join(_MEASURES[word.lower()]) for word in _DEGREE.findall(clause) if word.lower() != "often"]
    about = [clause] if answer_type(clause) in {"person", "absence"} else _COUNTED.findall(clause) or units
    counted = {stem(word) for found in about for word in split_words(found) if not is_stop_word(word)}
    return frozenset(counted.union(*map(synonym_stems, counted)))


def measured_stems(clause: str) -> dict[str, frozenset[str]]:
    """Words that other words answer, with these, by stems: "old" by years, "cost" by money, "expire" by until."""
    measured = {stem(word) for word in _DEGREE.findall(clause)}
    words = {stem(word) for word in split_words(clause)}
    other = words & {stem(word) for word in ("expire", "lapse", "valid", "happen", "decide")}
    found = {word: _ANSWERS_BY_STEM[word] for word in measured | other}
    prices = words & {stem(word) for word in ("cost", "price", "fee", "fare", "charge", "pay")}
    return found | dict.fromkeys(prices, frozenset({MONEY}))


def synonym_stems(key: str) -> frozenset[str]:
    """The stems of the words that mean the same as a word, given by its stem."""
    return _SYNONYMS.get(key, frozenset())


def has_answer_type(text: str, kind: AnswerType, of: frozenset[str] = frozenset()) -> bool | None:
    """Whether a text has the answer type, a number or another person `of` these; None if that cannot be decided."""
    words = split_words(text.casefold())
    numbers = list(map(is_number, words))
    timed = not _TIME_STEMS.isdisjoint(map(stem, words)) or not _TIME_WORDS.isdisjoint(words) or has_day(text)
    is_said = kind in _ANSWER_CUES and find_pattern(_OTHER_CUES[kind]).search(text) is not None
    if is_said or kind == "absence":
        return is_said or says_absent(text)
    if kind in _ANSWER_CUES:
        excluded = of | _TIME_STEMS if kind == "person" else frozenset()
        return not excluded.issuperset(map(stem, _ANSWER_CUES[kind].findall(text))) or None
    if kind == "price":
        return has_price(text) or (None if any(numbers) else False)
    if kind == "quantity" and of and (any(numbers) or timed):
        near = (words[max(0, at - 2) : at + 3] for at, is_number in enumerate(numbers) if is_number)
        fits = any(not of.isdisjoint(map(stem, phrase)) for phrase in near) or (timed and _HOUR in of)
        return fits or (False if of <= _UNITS else None)
    if kind == "time":
        at_time = any(numbers[at] and words[at - 1] in _TIME_PREPOSITIONS for at in range(1, len(words)))
        return timed or at_time or bool(_CLOCK.search(text)) or (None if any(numbers) else False)
    is_counted = any(numbers) or not _TIME_WORDS.isdisjoint(words) or bool(_FREQUENCY.search(text))
    return is_counted if kind == "quantity" else None
