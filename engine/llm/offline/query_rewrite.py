"""Rewrite follow-up questions to stand alone, and extract the keywords of a question, by rules. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.llm.offline.entities import ExcerptFacts, find_entities, index_people
from engine.llm.offline.text.sentences import split_sentences
from engine.llm.offline.text.words import content_words, is_generic, split_words, stem
from engine.models import SearchQuery
from engine.text.message_line import MESSAGE_TIME
from engine.text.names import normalize_name
from engine.text.word_lists import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.models import ChatTurn

_PERSON_PRONOUNS = re.compile(r"\b(?:he|she|him|his|her|hers)\b", re.IGNORECASE)
_THING_PRONOUNS = re.compile(r"\b(?:it|its|they|them|their|this|these|those|one|ones|same)\b", re.IGNORECASE)
_THERE = re.compile(r"\bthere\b", re.IGNORECASE)
_EXISTENTIAL_THERE = re.compile(
    r"\b(?:is|are|was|were|will|has|have|be|been)\s+there\b|\bthere\s+(?:is|are|was|were|will|has)\b", re.IGNORECASE
)
# "that" as a pronoun, not as a conjunction.
_THAT_REFERENCE = re.compile(
    r"\b(?:is|was|of|about|for|with|after|before|do|does|did) that\b|\bthat\W*$", re.IGNORECASE
)
_CONTINUATION = re.compile(r"\A\s*+(?:and|but|or|also|what about|how about|then|why|how so|more|else)\b", re.IGNORECASE)
_MIN_CONTENT_WORDS = 2
MAX_WORD_LENGTH = 80
_MAX_CARRIED = 3
_RARE_WORD_LENGTH = 8
_QUOTED = re.compile(r"\[\d{1,9}\]|[“”]")
_CHAT_ATTRIBUTION = re.compile(
    rf"^[ \t]*+[-*]?[ \t]*+([^\W\d_][^:(“\n]{{1,60}}?) \({MESSAGE_TIME}(?: UTC)?\):", re.MULTILINE
)


def rewrite_query(text: str, history: Sequence[ChatTurn]) -> SearchQuery:
    """The question, completed from the conversation if it is a follow-up.

    A personal pronoun is replaced by the person whom the last answer and question mention most; other gaps are filled
    with names and words of the last question and answer, in brackets at the end.
    """
    question = " ".join(text.split())
    if history and _is_follow_up(question):
        question = _complete_question(question, history)
    return SearchQuery(question, *extract_keywords(question))


def extract_keywords(question: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """High: words for themes. Low: names, ids, and words so long that they are rare. Both are empty or neither."""
    named = [name.name for name in find_entities(question, ExcerptFacts())]
    inside = {stem(word) for name in named for word in split_words(name)}
    rest = [word for word in content_words(question) if stem(word) not in inside]
    telling = [word for word in rest if not is_generic(word)] or rest
    rare = [word for word in telling if len(word) >= _RARE_WORD_LENGTH or any(map(str.isdigit, word))]
    low = tuple(dict.fromkeys([*named, *rare]))
    high = tuple(word for word in telling if word not in rare)
    return high or low, low or high


def _is_follow_up(question: str) -> bool:
    """Whether the question depends on the conversation."""
    telling = [word for word in content_words(question) if not is_generic(word)]
    refers = _PERSON_PRONOUNS.search(question) or _THING_PRONOUNS.search(question) or _THAT_REFERENCE.search(question)
    if refers is None and not _EXISTENTIAL_THERE.search(question):
        refers = _THERE.search(question)
    if refers and _has_own_antecedent(question, refers):
        return False
    return bool(refers or len(telling) < _MIN_CONTENT_WORDS or _CONTINUATION.match(question))


def _has_own_antecedent(question: str, refers: re.Match[str]) -> bool:
    """Whether the pronoun can refer to a name in the question itself."""
    return any(found.start < refers.start() for found in find_entities(question, ExcerptFacts()))


def _complete_question(question: str, history: Sequence[ChatTurn]) -> str:
    answer = next((turn.text for turn in reversed(history) if turn.role == "assistant"), "")
    last_question = next((turn.text for turn in reversed(history) if turn.role == "user"), "")
    people, things = _people_and_things(last_question, answer)
    if _PERSON_PRONOUNS.search(question) and people:
        return _replace_pronoun(question, people[0])
    own = {stem(word) for word in split_words(question)}
    words = [word for word in content_words(last_question) if not is_generic(word)]
    hints: list[str] = []
    for part in [*people[:1], *things[:_MAX_CARRIED], *words[:_MAX_CARRIED]]:
        stems = {stem(word) for word in split_words(part)}
        if not own.issuperset(stems):
            hints.append(part)
            own |= stems
    return f"{question} ({', '.join(hints)})" if hints else question


def _people_and_things(question: str, answer: str) -> tuple[list[str], list[str]]:
    """People and things, those most mentioned in question and answer first; ties in order of appearance."""
    speakers = [match[1] for match in _CHAT_ATTRIBUTION.finditer(answer)]
    plain = _QUOTED.sub(" ", _CHAT_ATTRIBUTION.sub(r"\1. ", answer))
    facts = ExcerptFacts(index_people(speakers))
    found = [
        name
        for text in (answer and plain, question)
        for sentence in split_sentences(text)
        for name in find_entities(sentence, facts)
    ]
    people = _by_frequency(name.name for name in found if name.type == "person" or _can_be_person(name.name, name.type))
    things = _by_frequency(name.name for name in found if name.type != "person")
    return people, things


def _can_be_person(name: str, kind: str) -> bool:
    """Whether it is two or three capitalized words with no sign of another type."""
    parts = name.split()
    return kind == "concept" and len(parts) in {2, 3} and all(part[:1].isupper() and part.isalpha() for part in parts)


def _by_frequency(found: Iterable[str]) -> list[str]:
    counted: dict[str, list[str]] = {}
    for name in found:
        counted.setdefault(normalize_name(name), []).append(name)
    return [group[0] for group in sorted(counted.values(), key=len, reverse=True)]


def _replace_pronoun(question: str, person: str) -> str:
    """The question with the person's name for the pronoun; "her" and "his" before a noun become possessive."""

    def instead(match: re.Match[str]) -> str:
        following = split_words(question[match.end() : match.end() + MAX_WORD_LENGTH])[:1]
        owns = match[0].lower() == "his" or (
            match[0].lower() == "her" and following and following[0].lower() not in STOP_WORDS
        )
        return f"{person}'s" if owns else person

    return _PERSON_PRONOUNS.sub(instead, question)
