"""The type of a name by cues: titles, roles and verbs of people, its words, known places, a preposition. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.llm.offline.names.vocabulary import GIVEN_NAMES, HOLIDAYS, place_names
from engine.llm.offline.words import UPPER
from engine.text.patterns import compile_late
from engine.text.word_lists import word_set

if TYPE_CHECKING:
    from collections.abc import Container

TITLES = (
    r"(?:Mr|Mrs|Ms|Miss|Dr|Prof|Sir|Dame|Lord|Lady|Herr|Frau|Captain|President|Professor|Doctor|Queen|King|Prince|"
    r"Princess|Pope|Judge|Senator|Colonel|General|Rev|Master|Mme|Mlle|Monsieur|Madame|Señor|Señora|Don|Doña)"
)
CONCEPT = "concept"
PERSON = "person"
LOCATION = "location"
_TYPE_ENDINGS = {
    LOCATION: "street road lane avenue square quay harbour harbor port island islands river lake mount mountain "
    "mountains park bridge hill hills bay valley station airport county city town village pier beach coast forest wall "
    "steps tower castle gate canal sea ocean desert straße strasse platz district province oblast krai state states "
    "kingdom republic peninsula region shore creek falls range court house cathedral highway route",
    "organization": "ltd inc corp corporation company gmbh ag plc llc council university school college club "
    "association cooperative bank museum office society committee union church institute foundation agency "
    "ministry department board party group hospital academy orchestra band team press organization organisation "
    "league warriors army force forces navy parliament senate congress bros brothers records studios airlines "
    "laboratory center centre commission services network court authority",
    "event": "festival conference day meeting war fair cup championship championships marathon olympics summit "
    "workshop election elections revolution battle games session census eve tournament season",
    "content": "report act treaty magazine times journal guide handbook rules album bible",
}
_TYPE_BY_ENDING = {word: kind for kind, words in _TYPE_ENDINGS.items() for word in words.split()}
ENDINGS = frozenset(_TYPE_BY_ENDING)
# Nouns that stand for one thing in many places, although they end longer names, too.
_UNIQUE = word_set(
    "council museum parliament senate congress harbour harbor church academy castle army navy festival times bible"
)
LONE_NOUNS = ENDINGS - _UNIQUE
EVENT_ENDINGS = word_set(_TYPE_ENDINGS["event"])
_SPEAK = (
    "said|says|asked|asks|wrote|writes|told|tells|thinks|thought|replied|replies|answered|cried|exclaimed|returned"
    "|observed|repeated|added|remarked|whispered|shouted|laughed|smiled|nodded|agreed|sagte|sagt|fragte|fragt|meint"
    "|dit|demanda|répondit|dijo|dice|preguntó|disse|perguntou"
)
_AFTER_PERSON = compile_late(
    rf"(?<!\s)(?:\s++(?:{_SPEAK}|lives|lived|was born|is married|et al\b|joined|resigned|married|died)\b"
    r"|,? \((?:born|b\.|née|d\.|1[5-9]\d\d ?[–-])"
    r"|['’]s (?:wife|husband|nephew|niece|brother|sister|father|mother|son|daughter|uncle|aunt|cousin|boss|desk"
    r"|face|eyes?|voice|hands?|hair|lips|smile|shoulders?|fingers?)\b)"
)
_ROLES = (
    "actor|actress|author|writer|novelist|singer|songwriter|director|minister|king|queen|prince|professor|psychologist"
    "|engineer|colleague|poet|painter|composer|producer|scientist|journalist|guitarist|drummer|bassist|keyboardist"
    "|player|coach|captain|judge|senator|governor|mayor|editor|founder|architect|chemist|physicist|comedian|rapper"
    "|wife|husband|son|daughter|brother|sister|father|mother|nephew|uncle|aunt|friend|manager|chairman|designer"
)
_BEFORE_PERSON = compile_late(
    rf"(?:\b(?:{_SPEAK}) (?:by )?|['’\"”] (?:{_SPEAK}) the |\b(?:{_ROLES}),? |\b(?:ask|tell|thank|dear|hi|hello) |@)$",
    re.IGNORECASE,
)
_BY = compile_late(
    r"\b(?:written|directed|composed|painted|founded|produced|sung|portrayed|played|developed|starring|married|met"
    r"|invented|designed|created|performed|recorded|edited|led|coached|voiced) (?:by |to )?$"
)
_TITLE_START = compile_late(rf"{TITLES}\b")
_INITIAL = compile_late(rf"(?<![\w.])(?<!\. )(?:{UPPER}\w++ (?:{UPPER}\. )++{UPPER}\w+|(?:{UPPER}\. ?)++{UPPER}\w+)")
_CITED = compile_late(rf"(?<!\w){UPPER}[^\W\d_]++(?:[- ]{UPPER}[^\W\d_]++)? {UPPER}{{1,3}}")
_LOCATION_PREPOSITION = compile_late(r"\b(?:in|near|at)\s+$", re.IGNORECASE)
_PLACE_PREPOSITION = compile_late(r"\b(?:in|near)\s+$", re.IGNORECASE)
_OF = word_set("of for")
_MAX_PERSON_WORDS = 4
_MAX_PLACE_WORDS = 2


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """A name in a sentence, with its type and position."""

    name: str
    type: str
    start: int


def guess_type(name: str, run: str, before: str, after: str, people: Container[str]) -> str:
    """The type of a name; `run` is it as written with its title, `before` and `after` are the texts around it."""
    words = [word.strip(".,") for word in name.casefold().split()]
    if name.casefold() in people or _TITLE_START.match(run):
        return PERSON
    if name.casefold() in place_names():
        return LOCATION
    head = words[0] if _OF & set(words) else words[-1]
    ended = _TYPE_BY_ENDING.get(words[-1]) or _TYPE_BY_ENDING.get(head)
    if ended and len(words) > 1:
        return ended
    if words[0] in HOLIDAYS:
        return "event"
    if _is_person(name, words, before, f".{after}" if run.endswith(".") else after):
        return PERSON
    is_place = len(words) == 1 and name[1:].islower() and _LOCATION_PREPOSITION.search(before)
    is_short = len(words) <= _MAX_PLACE_WORDS and all(map(str.isalpha, words)) and not name.isupper()
    return LOCATION if is_place or (is_short and _PLACE_PREPOSITION.search(before)) else CONCEPT


def _is_person(name: str, words: list[str], before: str, after: str) -> bool:
    """Whether it looks like a name of a person, or what people do is said of it."""
    if not all(word.replace("-", "").replace("'", "").replace(".", "").isalpha() for word in words):
        return False
    if len(words) > _MAX_PERSON_WORDS or name.isupper():
        return False
    if _CITED.fullmatch(name) and after.startswith((",", ".", ";")):
        return True
    if words[0].split("-")[0] in GIVEN_NAMES or _INITIAL.fullmatch(name):
        return True
    if name[-1].isalpha() and _AFTER_PERSON.match(after):
        return True
    return bool(_BEFORE_PERSON.search(before)) or (len(words) > 1 and bool(_BY.search(before)))
