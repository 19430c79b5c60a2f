"""Forms of questions that leave out their subject, or only exchange a number. Pure."""

from __future__ import annotations

import re

from engine.text.word_lists import word_set

# A verb without a subject after a question word: "¿a qué hora abre?", "que horas abre?", "quanto custa?".
_WITHOUT_SUBJECT = re.compile(
    r"\A\W*(?:(?:y|e|pero|mas|entonces|então)\s+)?(?:(?:a|de|en|em|con|com|desde|hasta|até|para|por)\s+)?"
    r"(?:qué|que|cuál|cual|qual|cuánto|cuanto|cuánta|quanto|quanta|cuándo|cuando|quando|dónde|donde|onde|cómo|como"
    r"|quién|quien|quem)(?:\s+(?!el\b|la\b|los\b|las\b|o\b|a\b|os\b|as\b|un\b|una\b|um\b|uma\b|es\b|é\b|lo\b)"
    r"[^\W\dA-ZÀ-Þ]\w*){1,2}\W*\Z"
)
# An unstressed object before the verb: "¿quién lo dirige?", "qui le dirige ?".
_OBJECT = re.compile(
    r"\b(?:quién|quien|cuándo|cuando|dónde|donde|cómo|como|quem|qui|quand|où|comment|pourquoi|por qué) "
    r"(?:lo|la|los|las|le|les|o|a)(?= \w+\W*\Z)",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\A\W*(?:(?:and|but|or|und|aber|y|et|e|what about|how about|was ist mit)\s+)*"
    r"(?:(?:number|no\.?|nr\.?|nummer|número|numéro|n°|the)\s*)?#?\d[\w.-]{0,8}\W*\Z",
    re.IGNORECASE,
)
# What stands for the noun of the question before: "celui de Brest", "the one in Lyon".
_NOUN = re.compile(
    r"\A\W*(?:celui|celle|ceux|celles|(?:the )?ones?|that|those|derjenige|diejenige|aquel|aquella|aquele|aquela)"
    r" (?:de|du|des|d['’]|à|in|of|at|from|for|von|aus|da|do|em)\b",
    re.IGNORECASE,
)
_THING_PRONOUN = re.compile(r"\b(?:it|its)\b", re.IGNORECASE)
_OWNERS = word_set("de del du des da do das dos von vom der of")


def lacks_subject(question: str) -> bool:
    """Whether a question has a verb, and nothing that could be its subject."""
    return bool(_WITHOUT_SUBJECT.match(question))


def has_object_pronoun(question: str) -> bool:
    """Whether an unstressed pronoun stands for what the question is about."""
    return bool(_OBJECT.search(question))


def exchanges_number(question: str) -> bool:
    """Whether a question names another number, and nothing else: "and number 7?"."""
    return bool(_NUMBER.match(question))


def stands_for_noun(question: str) -> bool:
    """Whether a question begins with a word for the noun of the question before."""
    return bool(_NOUN.match(question))


def means_thing(question: str) -> bool:
    """Whether a pronoun cannot mean a person, or stands for what the question before was about."""
    return bool(_THING_PRONOUN.search(question)) or has_object_pronoun(question)


def drop_owners(words: list[str]) -> list[str]:
    """The words of a noun phrase without "of"; of "price of the shelter of Teruel", what owns the first word."""
    parts = [list[str]()]
    for word in words:
        if word.casefold() in _OWNERS:
            parts.append([])
        else:
            parts[-1].append(word)
    filled = [part for part in parts if part]
    return [word for part in (filled[1:] if len(filled) > 2 else filled) for word in part]
