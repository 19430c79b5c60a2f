"""Rewrite follow-up questions to stand alone, and extract the keywords of a question, by rules. Pure."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from engine.llm.offline.entities import ExcerptFacts, find_entities, index_people
from engine.llm.offline.sentences import split_sentences
from engine.llm.offline.words import content_words, is_generic, split_words, stem
from engine.models import SearchQuery
from engine.text.message_line import MESSAGE_TIME
from engine.text.names import normalize_name
from engine.text.word_lists import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.models import ChatTurn

_PERSON_PRONOUNS = re.compile(r"\b(?:he|she|him|his|her|hers)\b", re.IGNORECASE)
# Words that refer to something said before: "there" not in "is there", "that" not as a conjunction.
_REFERENCES = re.compile(
    r"\b(?:he|she|him|his|her|hers|it|its|they|them|their|this|these|those|one|ones|same)\b"
    r"|(?<!is )(?<!are )(?<!was )(?<!were )(?<!will )(?<!has )(?<!have )(?<!be )(?<!been )\bthere\b"
    r"(?! (?:is|are|was|were|will|has)\b)"
    r"|\b(?:is|was|of|about|for|with|after|before|do|does|did) that\b|\bthat\W*$",
    re.IGNORECASE,
)
_CONTINUATION = re.compile(r"\A\s*+(?:and|but|or|also|what about|how about|then|why|how so|more|else)\b", re.IGNORECASE)
_MIN_CONTENT_WORDS = 2  # of a question that stands alone …
_MIN_CONTINUATION_WORDS = 4  # … and of one that begins with "and", "then", "what about"
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
    """Whether it refers to something that it does not name itself, has few words, or continues with few: "and …"."""
    if refers := _REFERENCES.search(question):
        return not any(found.start < refers.start() for found in find_entities(question, ExcerptFacts()))
    telling = [word for word in content_words(question) if not is_generic(word)]
    fewest = _MIN_CONTINUATION_WORDS if _CONTINUATION.match(question) else _MIN_CONTENT_WORDS
    return len(telling) < fewest


def _complete_question(question: str, history: Sequence[ChatTurn]) -> str:
    last = {turn.role: turn.text for turn in history}
    last_question = last.get("user", "")
    people, things = _people_and_things(last_question, last.get("assistant", ""))
    if _PERSON_PRONOUNS.search(question) and people:
        return _replace_pronoun(question, people[0])
    words = [word for word in content_words(last_question) if not is_generic(word)]
    own = {stem(word) for word in split_words(question)}
    hints: list[str] = []
    for part in [*people[:1], *things[:_MAX_CARRIED], *words[:_MAX_CARRIED]]:
        if not own.issuperset(stems := {stem(word) for word in split_words(part)}):
            hints.append(part)
            own |= stems
    return f"{question} ({', '.join(hints)})" if hints else question


def _people_and_things(question: str, answer: str) -> tuple[list[str], list[str]]:
    """People and things, those most mentioned in question and answer first; ties in order of appearance."""
    speakers = [match[1] for match in _CHAT_ATTRIBUTION.finditer(answer)]
    facts = ExcerptFacts(index_people(speakers))
    texts = _QUOTED.sub(" ", _CHAT_ATTRIBUTION.sub(r"\1. ", answer)), question
    found = [name for text in texts for sentence in split_sentences(text) for name in find_entities(sentence, facts)]
    people = (name.name for name in found if name.type == "person" or _can_be_person(name.name, name.type))
    return _by_frequency(people), _by_frequency(name.name for name in found if name.type != "person")


def _can_be_person(name: str, kind: str) -> bool:
    """Whether it is two or three capitalized words with no sign of another type."""
    parts = name.split()
    return kind == "concept" and len(parts) in {2, 3} and all(part[:1].isupper() and part.isalpha() for part in parts)


def _by_frequency(names: Iterable[str]) -> list[str]:
    names = list(names)
    first = {normalize_name(name): name for name in reversed(names)}
    return [first[key] for key, _ in Counter(map(normalize_name, names)).most_common()]


def _replace_pronoun(question: str, person: str) -> str:
    """The question with the person's name for the pronoun; "her" and "his" before a noun become possessive."""

    def instead(match: re.Match[str]) -> str:
        following = split_words(question[match.end() : match.end() + MAX_WORD_LENGTH])[:1]
        has_noun = bool(following) and following[0].lower() not in STOP_WORDS
        owns = match[0].lower() == "his" or (match[0].lower() == "her" and has_noun)
        return f"{person}'s" if owns else person

    return _PERSON_PRONOUNS.sub(instead, question)
