"""Replace a pronoun by the person whom it means. Pure."""

from __future__ import annotations

import re

from engine.llm.offline.words import split_words
from engine.text.word_lists import STOP_WORDS

MAX_WORD_LENGTH = 80

_PERSON_PRONOUNS = re.compile(r"\b(?:he|she|him|his|her|hers)\b", re.IGNORECASE)


def has_person_pronoun(question: str) -> bool:
    """Whether a question names somebody by a pronoun alone."""
    return bool(_PERSON_PRONOUNS.search(question))


def replace_pronoun(question: str, person: str) -> str:
    """The question with the person's name for the pronoun; "her" and "his" before a noun become possessive."""

    def instead(match: re.Match[str]) -> str:
        following = split_words(question[match.end() : match.end() + MAX_WORD_LENGTH])[:1]
        has_noun = bool(following) and following[0].lower() not in STOP_WORDS
        owns = match[0].lower() == "his" or (match[0].lower() == "her" and has_noun)
        return f"{person}'s" if owns else person

    return _PERSON_PRONOUNS.sub(instead, question)
