"""Find names by rules: capitalized runs, ids, code, @people and #channels, typed by cues around them. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from operator import ne
from typing import TYPE_CHECKING

from engine.llm.offline.words import UPPER, is_common
from engine.text.names import clean_name, normalize_name
from engine.text.word_lists import CALENDAR_WORDS, STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_CAPITALIZED = rf"(?:{UPPER}[\w’'&.-]*\w|{UPPER})"
_NAME_PARTICLES = r"(?:of|of the|de|de la|del|della|der|den|van|van der|von|zu|la|le|du|da|dos|af|av|bin|ibn|el|al)"
_TITLES = r"(?:Mr|Mrs|Ms|Miss|Dr|Prof|Sir|Dame|Lord|Lady|Herr|Frau|Captain|President|Professor|Doctor|Queen|King)"
_CAPITALIZED_RUN = re.compile(
    rf"(?<![\w@#/.])(?:{_TITLES}\.? )?{_CAPITALIZED}"
    rf"(?: (?:{_NAME_PARTICLES} |{_TITLES}\. )?{_CAPITALIZED}| \d{{1,4}}(?![\w:,.%-]*[\w%]))*",
    re.UNICODE,
)
_IDENTIFIER = re.compile(
    r"(?<![\w@#/.-])(?:[A-Za-z]+(?:_[A-Za-z0-9]+)+(?:\(\))?|v?\d+\.\d+\.\d+(?:[-.+]\w+)*|v\d+(?:\.\d+)+"
    r"|[a-z]+(?:[A-Z][a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,}|[A-Z][A-Za-z]*-\d+[A-Za-z]?|\d+-[A-Z]\b|[A-Z]{2,}\d+\w*)(?![\w/])"
)
_PERSON = re.compile(r"(?<![\w.@])@(\w[\w.-]*\w|\w)")
_CHANNEL = re.compile(r"(?<![\w&/#])#([^\W\d_][\w-]*)")

_TYPE_ENDINGS = {
    "location": "street road lane avenue square quay harbour harbor port island islands river lake mount mountain park "
    "bridge hill bay valley station airport county city town village pier beach coast forest wall steps tower castle "
    "gate canal sea ocean desert straße strasse platz",
    "organization": "ltd inc corp corporation company gmbh ag plc llc council university school college club "
    "association cooperative bank museum office society committee union church institute foundation agency "
    "ministry department board party group hospital academy orchestra band team press",
    "event": "festival conference day meeting war fair cup championship marathon olympics summit workshop election "
    "revolution battle",
    "content": "report act treaty magazine times journal guide handbook rules",
}
_TYPE_BY_ENDING = {word: kind for kind, words in _TYPE_ENDINGS.items() for word in words.split()}
_PERSON_VERBS = re.compile(
    r"(?<!\s)\s++(?:said|says|asked|asks|wrote|writes|told|tells|thinks|thought|lives|lived|was born|is married)\b"
)
_TITLE_START = re.compile(rf"{_TITLES}\b")
_LOCATION_PREPOSITION = re.compile(r"\b(?:in|near|to|from|at)\s+$")
_PUNCTUATION = ".,;:!?…()[]{}\"“”‘«»'’*"
_CAPS_SHARE = 0.5
_MIN_CAPS_LENGTH = 20
_MAX_NAME_WORDS = 8
_TYPE_CONTEXT = 40  # characters around a name that are searched for cues of its type


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """A name in a sentence, with its type and position."""

    name: str
    type: str
    start: int


@dataclass(frozen=True, slots=True)
class ExcerptFacts:
    """What the whole excerpt shows about names, all in lower case.

    `people_by_name`: its speakers, by full name and by each part of it that no other speaker has. `capitalized_words`:
    words that are capitalized within a sentence; `lowercase_words`: words that are not.
    """

    people_by_name: Mapping[str, str] = field(default_factory=dict)
    capitalized_words: frozenset[str] = frozenset()
    lowercase_words: frozenset[str] = frozenset()


def find_entities(sentence: str, facts: ExcerptFacts) -> list[NamedEntity]:
    """The names of a sentence in order; no name twice, none within another."""
    names = _find_marked(sentence)
    inside = {at for one in names for at in range(one.start, one.start + len(one.name))}
    if not _is_all_caps(sentence):
        names += [run for run in _find_capitalized(sentence, facts) if run.start not in inside]
    unique: dict[str, NamedEntity] = {}
    for one in sorted(names, key=lambda one: one.start):
        if key := normalize_name(one.name):
            unique.setdefault(key, one)
    return list(unique.values())


def collect_excerpt_facts(sentences: Iterable[str], speakers: Iterable[str]) -> ExcerptFacts:
    """Collect what the sentences and speakers of an excerpt show about its names."""
    capitalized: set[str] = set()
    lowercase: set[str] = set()
    for sentence in sentences:
        words = sentence.split()
        lowercase.update(word for word in words if word.islower())
        if not _is_all_caps(sentence):
            capitalized.update(_normalize_word(word) for word in words[1:] if word[:1].isupper())
    return ExcerptFacts(index_people(speakers), frozenset(capitalized), frozenset(lowercase))


def index_people(speakers: Iterable[str]) -> dict[str, str]:
    """Each speaker by full name and by every part of it that no other speaker has."""
    found: dict[str, str] = {}
    for speaker in sorted(set(speakers)):
        for part in {speaker, *speaker.split()}:
            key = part.casefold()
            found[key] = speaker if found.get(key, speaker) == speaker else ""
    return {key: speaker for key, speaker in found.items() if speaker}


def _find_marked(sentence: str) -> list[NamedEntity]:
    """@people, #channels, ids and identifiers of code."""
    people = [NamedEntity(match[0], "person", match.start()) for match in _PERSON.finditer(sentence)]
    channels = [NamedEntity(match[0], "location", match.start()) for match in _CHANNEL.finditer(sentence)]
    ids = [
        NamedEntity(match[0], "artifact" if "-" in match[0] else "data", match.start())
        for match in _IDENTIFIER.finditer(sentence)
    ]
    return [*people, *channels, *ids]


def _find_capitalized(sentence: str, facts: ExcerptFacts) -> list[NamedEntity]:
    """Capitalized runs, without words that are capitalized only as the first of a sentence."""
    first = next((at for at, character in enumerate(sentence) if character.isalnum()), 0)
    found = []
    for match in _CAPITALIZED_RUN.finditer(sentence):
        words, start = _trim_run(match[0].split(), match.start(), at_start=match.start() <= first, facts=facts)
        name = clean_name(_strip_possessive(" ".join(words)).rstrip("."))
        name = facts.people_by_name.get(name.casefold(), name)
        if name and not _is_not_name(name) and not (start <= first and _is_heading(words, sentence, match.end())):
            before = sentence[max(0, start - _TYPE_CONTEXT) : start]
            after = sentence[match.end() : match.end() + _TYPE_CONTEXT]
            found.append(NamedEntity(name, _guess_type(name, match[0], before, after, facts), start))
    return found


def _trim_run(words: list[str], start: int, *, at_start: bool, facts: ExcerptFacts) -> tuple[list[str], int]:
    """The run without leading stop words, and without an ambiguous first word of a sentence."""
    skipped = 0
    while skipped < len(words) and words[skipped].casefold() in STOP_WORDS:
        if not (at_start or len(words) > skipped + 1 or len(words[skipped]) > 1):
            break
        start += len(words[skipped]) + 1
        skipped, at_start = skipped + 1, False
    words = words[skipped : skipped + _MAX_NAME_WORDS + 1]
    if words and at_start and not _is_name_at_start(words[0], facts) and (len(words) == 1 or is_common(words[0])):
        return words[1:][:_MAX_NAME_WORDS], start + len(words[0]) + 1
    return words[:_MAX_NAME_WORDS], start


def _is_name_at_start(word: str, facts: ExcerptFacts) -> bool:
    """Whether the first word of a sentence is a name: it is one elsewhere, or it is not a common word."""
    bare = _normalize_word(word)
    known = bare in facts.capitalized_words or bare in facts.people_by_name
    return known or not (bare in facts.lowercase_words or is_common(bare))


def _normalize_word(word: str) -> str:
    return _strip_possessive(word.strip(_PUNCTUATION)).casefold()


def _strip_possessive(name: str) -> str:
    return name.removesuffix("'s").removesuffix("’s").rstrip("'’")


def _is_not_name(name: str) -> bool:
    """Whether it is a day, month, single letter or bare number, or a year after a month."""
    words = [word.casefold().strip(".") for word in name.split()]
    return all(word in CALENDAR_WORDS or word in STOP_WORDS or word.isdigit() for word in words) or len(name) == 1


def _is_heading(words: list[str], sentence: str, end: int) -> bool:
    """Whether it is a single word that makes up nearly all of a line, or the kind of the id that follows."""
    alone = len(sentence) < len("".join(words)) + _MIN_CAPS_LENGTH // 2
    return len(words) == 1 and (alone or sentence[end : end + 2].strip().isdigit())


def _is_all_caps(sentence: str) -> bool:
    upper = sum(map(ne, sentence, sentence.lower()))
    return len(sentence) > _MIN_CAPS_LENGTH and upper > _CAPS_SHARE * len(sentence)


def _guess_type(name: str, run: str, before: str, after: str, facts: ExcerptFacts) -> str:
    """The type by cues: known people, titles and verbs of people, the last word of a name, a preposition of place."""
    words = name.casefold().split()
    titled = name.casefold() in facts.people_by_name or _TITLE_START.match(run)
    if titled or (name[-1].isalpha() and _PERSON_VERBS.match(after)):
        return "person"
    ended = _TYPE_BY_ENDING.get(words[-1].strip(".")) or _TYPE_BY_ENDING.get(words[0] if "of" in words else "")
    if ended and len(words) > 1:
        return ended
    return "location" if len(words) == 1 and _LOCATION_PREPOSITION.search(before) and name[1:].islower() else "concept"
