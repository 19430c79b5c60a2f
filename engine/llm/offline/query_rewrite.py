"""Follow-up questions made to stand alone by rules, and the keywords of a question. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.llm.offline.entities import Known, names, people_of
from engine.llm.offline.text.sentences import sentences
from engine.llm.offline.text.words import is_generic, salient, stem, tokens
from engine.models import Condensed
from engine.text.names import canonical
from engine.text.word_lists import STOP

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.models import Turn

_PERSONS = re.compile(r"\b(?:he|she|him|his|her|hers)\b", re.IGNORECASE)
_THINGS = re.compile(r"\b(?:it|its|they|them|their|this|these|those|one|ones|same)\b", re.IGNORECASE)
_THERE = re.compile(r"\bthere\b", re.IGNORECASE)
_EXISTS = re.compile(
    r"\b(?:is|are|was|were|will|has|have|be|been)\s+there\b|\bthere\s+(?:is|are|was|were|will|has)\b", re.IGNORECASE
)
# "that" as what is spoken of, not as what joins two clauses.
_POINTS = re.compile(r"\b(?:is|was|of|about|for|with|after|before|do|does|did) that\b|\bthat\W*$", re.IGNORECASE)
_GOES_ON = re.compile(r"\A\s*+(?:and|but|or|also|what about|how about|then|why|how so|more|else)\b", re.IGNORECASE)
_SHORT = 2
LONGEST_WORD = 80
_CARRIED = 3
_RARE = 8
_QUOTED = re.compile(r"\[\d{1,9}\]|[“”]")
_SPOKEN = re.compile(
    r"^[ \t]*+[-*]?[ \t]*+([^\W\d_][^:(“\n]{1,60}?) \(\d{4}-\d\d-\d\d \d\d:\d\d(?: UTC)?\):", re.MULTILINE
)


def condense(text: str, history: Sequence[Turn]) -> Condensed:
    """The question as it stands, or with what it leaves unsaid taken from the conversation.

    A pronoun for a person is replaced by the person whom the last answer and question speak of most; other gaps are
    closed by names and words of the last question and answer, in brackets at the end.
    """
    question = " ".join(text.split())
    if history and _leans(question):
        question = _completed(question, history)
    return Condensed(question, *keywords(question))


def keywords(question: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """High: the words for themes. Low: names, ids, and words so long that they are rare. Neither is empty alone."""
    named = [name.name for name in names(question, Known())]
    inside = {stem(word) for name in named for word in tokens(name)}
    rest = [word for word in salient(question) if stem(word) not in inside]
    telling = [word for word in rest if not is_generic(word)] or rest
    rare = [word for word in telling if len(word) >= _RARE or any(map(str.isdigit, word))]
    low = tuple(dict.fromkeys([*named, *rare]))
    high = tuple(word for word in telling if word not in rare)
    return high or low, low or high


def _leans(question: str) -> bool:
    """Whether only the conversation tells what it is about."""
    telling = [word for word in salient(question) if not is_generic(word)]
    refers = _PERSONS.search(question) or _THINGS.search(question) or _POINTS.search(question)
    if refers is None and not _EXISTS.search(question):
        refers = _THERE.search(question)
    if refers and _named_before(question, refers):
        return False
    return bool(refers or len(telling) < _SHORT or _GOES_ON.match(question))


def _named_before(question: str, refers: re.Match[str]) -> bool:
    """Whether the pronoun can mean a name of the question itself."""
    return any(found.start < refers.start() for found in names(question, Known()))


def _completed(question: str, history: Sequence[Turn]) -> str:
    answer = next((turn.text for turn in reversed(history) if turn.role == "assistant"), "")
    asked = next((turn.text for turn in reversed(history) if turn.role == "user"), "")
    people, things = _spoken_of(asked, answer)
    if _PERSONS.search(question) and people:
        return _put(question, people[0])
    own = {stem(word) for word in tokens(question)}
    words = [word for word in salient(asked) if not is_generic(word)]
    hints: list[str] = []
    for part in [*people[:1], *things[:_CARRIED], *words[:_CARRIED]]:
        said = {stem(word) for word in tokens(part)}
        if not own.issuperset(said):
            hints.append(part)
            own |= said
    return f"{question} ({', '.join(hints)})" if hints else question


def _spoken_of(asked: str, answer: str) -> tuple[list[str], list[str]]:
    """People and things, those first of which the question and the answer speak most; ties as they come."""
    speakers = [match[1] for match in _SPOKEN.finditer(answer)]
    plain = _QUOTED.sub(" ", _SPOKEN.sub(r"\1. ", answer))
    known = Known(people_of(speakers))
    found = [
        name for text in (answer and plain, asked) for sentence in sentences(text) for name in names(sentence, known)
    ]
    people = _most(name.name for name in found if name.type == "person" or _may_be_person(name.name, name.type))
    things = _most(name.name for name in found if name.type != "person")
    return people, things


def _may_be_person(name: str, kind: str) -> bool:
    """Two or three capitalised words of which nothing says that they are something else."""
    parts = name.split()
    return kind == "concept" and len(parts) in {2, 3} and all(part[:1].isupper() and part.isalpha() for part in parts)


def _most(found: Iterable[str]) -> list[str]:
    counted: dict[str, list[str]] = {}
    for name in found:
        counted.setdefault(canonical(name), []).append(name)
    return [group[0] for group in sorted(counted.values(), key=len, reverse=True)]


def _put(question: str, person: str) -> str:
    """The question with the person's name for the pronoun; "her" and "his" before a noun become possessive."""

    def instead(match: re.Match[str]) -> str:
        following = tokens(question[match.end() : match.end() + LONGEST_WORD])[:1]
        owns = match[0].lower() == "his" or (
            match[0].lower() == "her" and following and following[0].lower() not in STOP
        )
        return f"{person}'s" if owns else person

    return _PERSONS.sub(instead, question)
