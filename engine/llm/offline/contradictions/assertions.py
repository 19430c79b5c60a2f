"""Read what a statement says of a subject: an attribute with one value, in its author's own words. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from engine.llm.offline.contradictions import cues
from engine.llm.offline.contradictions.values import Slot, name_slot, value_slot
from engine.llm.offline.supersession import cues as change_cues
from engine.llm.offline.supersession.clauses import parse_text
from engine.llm.offline.supersession.values import CALENDAR_NAMES, find_values
from engine.llm.offline.words import count_words, is_common, is_stop_word, stem
from engine.text.patterns import compile_late

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.llm.offline.supersession.clauses import Clause
    from engine.llm.offline.supersession.values import Value

MAX_LENGTH = 240  # characters of a statement
MAX_WORDS = 18  # of a clause
MIN_SUBJECT_WORDS = 2  # that say what a value is of
MAX_AFTER = 4  # words after a value, which are its unit

_WORD = compile_late(r"[^\W_]+(?:[-.'’_/][^\W_]+)*")
_NAME = r"@?[A-ZÀ-Þ][\w'’.-]{0,30}(?: [A-ZÀ-Þ][\w'’.-]{1,30})?"
_MARKED = r"[`*_]{0,2}[\w./:+#@-]{1,80}?[`*_]{0,2}"
_HOLDS = compile_late(rf"\A(?P<slot>{_NAME}) (?:{cues.HOLDS}) \S")
_HELD = compile_late(rf"\b{cues.IS} (?:{cues.HELD}) (?:by|von|par|por) (?P<slot>{_NAME})\Z")
_ATTRIBUTE = compile_late(
    rf"\A(?=.{{0,80}}\b(?:{cues.ATTRIBUTES})\b)(?P<of>.{{3,80}}?)(?: {cues.IS}|:) "
    rf"(?:(?:the|der|die|das|le|la|el|o|a) )?(?P<slot>{_NAME}|{_MARKED})\Z",
    re.IGNORECASE,
)
_PLACE = compile_late(
    rf"\b(?:in|at|on|im|en|à|em|na|no)(?: the)? (?:{cues.PLACES}) (?P<slot>[A-ZÀ-Þ0-9][\w-]{{0,30}})\Z", re.IGNORECASE
)
# Is, or a word in the form of a verb, or a label: what programs print has none.
_VERB = compile_late(rf"\b(?:{cues.IS}|wird)\b|[:=]\s|\b[a-zà-ÿ]{{1,20}}(?:s|t|en|ed|e|a)\b|[はが]")
_RECURS = compile_late(r"\b(?:weekly|daily|wöchentlich\w?|hebdomadaire|semanal|jour fixe)\b", re.IGNORECASE)
_DEFAULT = compile_late(r"\b(?:default|standard|main)\b", re.IGNORECASE)
_ROLE_FORMS = {"owner": "own", "lead": "lead", "leader": "lead", "head": "head", "chair": "chair"}


class Assertion(NamedTuple):
    """That a subject has a value. `subject`: its words, whatever their order, with the kind of the value.

    `is_generic`: every project or team has such a subject. `recurs`: it is about every week or day. `question`: the
    clause with a gap in place of the value, and `value` the words there.
    """

    subject: frozenset[str]
    slot: Slot
    value: str
    question: str
    is_generic: bool
    recurs: bool


# A value, or a word for one, which most messages lack.
_MAY_ASSERT = compile_late(
    rf"\d|\b(?:{cues.HOLDS}|{cues.HELD}|{cues.ATTRIBUTES}|{cues.PLACES}|{'|'.join(sorted(CALENDAR_NAMES))})\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=8192)
def list_assertions(text: str) -> tuple[Assertion, ...]:
    """What a message or sentence says that lasts; empty for questions, plans, quotes, jokes and news of a change."""
    text = " ".join(text.split())
    if len(text) > MAX_LENGTH or not _MAY_ASSERT.search(text) or not _is_meant(text):
        return ()
    return tuple(found for clause in parse_text(text).clauses for found in _read_clause(clause, text))


def _is_meant(text: str) -> bool:
    """Whether the author says that all of it holds, as far as words tell."""
    if "?" in text or "？" in text or text.count(": ") > 1:  # questions, and lines of programs
        return False
    unsaid = (cues.HEARSAY, cues.JOKE, cues.PERSONAL)
    if any(pattern.search(text) for pattern in unsaid):
        return False
    parsed = parse_text(text)
    return not (
        parsed.is_question or parsed.is_tentative or parsed.is_past or parsed.contradicts or parsed.changes
        or any(clause.cancels or clause.adds for clause in parsed.clauses)
    )  # fmt: skip


def _read_clause(clause: Clause, text: str) -> Iterable[Assertion]:
    said = clause.text.strip(" .!;,。")
    if len(said.split()) > MAX_WORDS or clause.negates:
        return
    unsaid = (cues.PLAN, cues.MOMENTARY, cues.ONE_OF_MANY, change_cues.PAST, change_cues.TEMPORARY, cues.VAGUE)
    if any(pattern.search(said) for pattern in unsaid) or _is_measure(said):
        return
    named = _find_named(said)
    for start, stop, slot in [named] if named else _find_values(said):
        if (found := _build(said, start, stop, slot, text)) is not None:
            yield found


def _is_measure(said: str) -> bool:
    """Whether a clause counts what grows, or says what nature has now."""
    return bool(cues.COUNTED.search(said)) or bool(cues.NATURE.search(said) and not cues.LIMITS.search(said))


def _find_named(said: str) -> tuple[int, int, Slot] | None:
    """A name as the value: who holds a role, what an attribute is, in which place something is."""
    for kind, pattern in (("holder", _HOLDS), ("holder", _HELD), ("place", _PLACE), ("name", _ATTRIBUTE)):
        found = pattern.search(said)
        if found is None or (kind == "name" and not _is_name(found)):
            continue
        if not cues.SHARED.search(said if kind == "holder" else found["slot"] if kind == "place" else ""):
            return found.start("slot"), found.end("slot"), name_slot(kind, found["slot"])
    return None


def _is_name(found: re.Match[str]) -> bool:
    """Whether the words after "is" name something, and describe nothing: "main", of a default, "eu-west-1", "MIT"."""
    value = found["slot"].strip("`*_")
    is_acronym = len(value) > 1 and value.isupper()
    if not is_acronym and (is_stop_word(value) or (value.isalpha() and is_common(value))):
        return False
    if find_values(value) and find_values(value)[0].kind in {"date", "time", "money"}:
        return False
    is_plain_number = value.replace(".", "").replace(",", "").isdigit()
    is_marked = any(map(str.isdigit, value)) or value[:1].isupper() or found["slot"][:1] == "`"
    return not is_plain_number and (is_marked or bool(_DEFAULT.search(found["of"])))


def _find_values(said: str) -> Iterable[tuple[int, int, Slot]]:
    """The values at the end of a clause, each of which is the only one of its kind."""
    values = find_values(said)
    for value in values:
        is_only = sum(other.kind == value.kind for other in values) == 1
        if is_only and value.kind != "code" and _VERB.search(said[: value.start]) and _is_last(said, value, values):
            yield value.start, value.stop, value_slot(value, said)


def _is_last(said: str, value: Value, values: tuple[Value, ...]) -> bool:
    """Whether only a unit or other values follow a value, and its subject comes before it."""
    rest = said[value.stop :]
    for other in values:
        if other.start >= value.stop:
            rest = rest.replace(said[other.start : other.stop], " ", 1)
    words = rest.split()
    if value.kind == "number" and rest[:2].strip():
        words = words[1:]  # a unit, which German writes like a name
    is_name_near = any(word[:1].isupper() and not word.isupper() for word in words)
    return len(words) <= MAX_AFTER and not is_name_near and count_words(said[: value.start]) >= MIN_SUBJECT_WORDS


def _build(said: str, start: int, stop: int, slot: Slot, text: str) -> Assertion | None:
    """The assertion with its subject: all words and values besides the slot that say which one is meant."""
    others = [value for value in find_values(said) if value.stop <= start or value.start >= stop]
    fixed = {f"{value.kind} {value.form.strip()}" for value in others}
    around = [word for word in _list_words(said, start, stop) if word.casefold() not in cues.LIGHT]
    words = {_stem(word) for word in around}
    before = {_stem(word) for word in _list_words(said, start, stop, after=slot.kind == "holder") if _tells(word)}
    if sum(map(count_words, before)) < MIN_SUBJECT_WORDS:
        return None
    named = any(word[:1].isupper() and at for at, word in enumerate(around)) or any(map(_has_digit, around))
    is_generic = not named and all(word.casefold() in cues.GENERIC for word in around if not _is_unit(word, said, stop))
    value, rest = said[start:stop].strip(), said[stop:].strip()
    gap = f"{said[:start].strip()} … {rest}".strip()
    subject = frozenset(words | fixed | _list_context(text, said) | {f"slot {slot.kind} {slot.unit}"})
    recurs = bool(change_cues.RECURRING.search(said) or _RECURS.search(said))
    return Assertion(subject, slot, value, f"{gap}?", is_generic, recurs)


def _list_words(said: str, start: int, stop: int, *, after: bool = True) -> list[str]:
    """The words outside of the slot and of other values."""
    masked = list(said)
    for first, last in [(start, stop), *((value.start, value.stop) for value in find_values(said))]:
        masked[first:last] = " " * (last - first)
    found = _WORD.finditer("".join(masked))
    return [word[0].removesuffix("'s").removesuffix("’s") for word in found if after or word.start() < stop]


def _tells(word: str) -> bool:
    return word.casefold() not in cues.LIGHT


def _is_unit(word: str, said: str, stop: int) -> bool:
    return word in said[stop:].split()


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _stem(word: str) -> str:
    key = stem(word)
    return _ROLE_FORMS.get(key, key)


def _list_context(text: str, said: str) -> set[str]:
    """What comes before the clause in its statement, which may say what it is about: "Acme: …", "For Acme, …"."""
    place = text.find(said)
    before = text[: max(place, 0)]
    return {stem(word) for word in _WORD.findall(before) if word[:1].isupper() and not is_common(word)}
