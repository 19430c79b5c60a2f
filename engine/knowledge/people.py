"""Tell people from other things, by the types of names and by the names of those who write. Pure."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from engine.knowledge.duplicates.name_keys import HONORIFICS, spelling_key
from engine.text.names import normalize_name
from engine.text.word_lists import word_set

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from engine.models import Extraction

PERSON_TYPES = word_set(
    """
    person persons people human individual speaker user username author writer participant member employee colleague
    staff mensch mitarbeiter mitarbeiterin benutzer benutzerin nutzer nutzerin personne individu
    utilisateur utilisatrice collaborateur collaboratrice persona individuo usuario usuaria empleado empleada pessoa
    indivíduo usuário usuária funcionário funcionária 人 人物 人名 個人 个人 人間 ユーザー 用户 사람 인물
    """
)
_PERSON_HEADS = word_set("person persons people")  # of "person_name" and the like
# Types that do not say what a name is: then the names of people decide.
VAGUE_TYPES = word_set("concept other entity unknown undefined unspecified thing name misc miscellaneous none title")
_NOBODY = frozenset({"unknown"})  # the author of messages without one
_APART = re.compile(r"[(\[{|•·/,–—]| - ")  # ends a name that more is said after: "Ada (she/her)", "Ada | Support"
_POSSESSIVE = re.compile(r"(?:['’`]s|(?<=s)['’])$")
_SEPARATOR = re.compile(r"[\W_]+")


def is_listed(space: str, prefixes: Collection[str]) -> bool:
    """Whether a space's name begins with one of these prefixes, and with none that has a "!" before it."""
    but = tuple(prefix[1:] for prefix in prefixes if prefix.startswith("!"))
    return space.startswith(
        tuple(prefix for prefix in prefixes if not prefix.startswith("!"))
    ) and not space.startswith(but)


class Evidence(IntEnum):
    """What a chunk has to do with a name of a person; positive values show that it is one."""

    UNCHECKED = -2  # its stored facts are to be looked at, since another chunk shows somebody new
    DOUBTFUL = -1  # it lost facts about the name, and a chunk that showed the person is gone
    LOST = 0  # it lost facts about the name
    SHOWN = 1  # somebody of this name wrote it, or it addresses the name or has it as that of a person
    REMEMBERED = 2  # it shows another name of the same person


@dataclass(frozen=True, slots=True)
class PersonName:
    """A name of a person: its keys, and the spelling keys of names that may be the same."""

    keys: frozenset[str]
    spelling_keys: frozenset[str]


def is_person_type(type_: str) -> bool:
    """Whether a type means people, in the languages of models: "Person", "team member", "Mitarbeiter"."""
    words = [word for word in _SEPARATOR.split(type_.casefold()) if word]
    return bool(words) and (
        words[-1] in PERSON_TYPES or words[0] in _PERSON_HEADS or words[-1].endswith(("person", "people"))
    )


def is_vague_type(type_: str) -> bool:
    """Whether a type leaves open what a name is; an implied mention has none."""
    return not type_ or type_.casefold() in VAGUE_TYPES


@lru_cache(maxsize=8192)
def name_keys(name: str) -> frozenset[str]:
    """The keys of a name, which other spellings of a person's name share.

    In any case of letters, without accents, titles and signs, with the family name first or last: "@ada.berg", "Berg,
    Ada" and "Dr. Ada Berg".
    """
    words = split_name(name)
    return frozenset({"".join(words), "".join(sorted(words))} - {""})


def list_author_names(author: str) -> Iterator[PersonName]:
    """The names that an author's name gives to the person: the whole, and without what follows it.

    A part of it is none: a nickname may consist of names of things, as "Falcon Lantern".
    """
    whole = name_keys(author)
    if not whole or whole & _NOBODY:
        return
    yield _build_name(author)
    first = next((part for part in _APART.split(author) if name_keys(part)), author)
    if first != author and "," not in author:
        yield _build_name(first)


def list_stated_names(extraction: Extraction, text: str) -> Iterator[PersonName]:
    """The names that a text has as those of people: by their type, or because it addresses them with an @."""
    lowered = text.casefold() if "@" in text else ""
    for mention in extraction.mentions:
        if is_person_type(mention.type) or (lowered and is_addressed(mention.name, lowered)):
            yield _build_name(mention.name)


def is_addressed(name: str, text: str) -> bool:
    """Whether a text, in lower case, addresses a name with an @, which is no address or package: "@ada"."""
    wanted = name.casefold().removeprefix("@").strip()
    return bool(wanted) and re.search(rf"(?<![\w.@/])@{re.escape(wanted)}(?![\w/]|\.\w)", text) is not None


def find_people(extraction: Extraction, shown: Collection[str]) -> set[str]:
    """The canonical names of an extraction that are of people; `shown`: those that other texts or authors show."""
    types: dict[str, set[str]] = {}
    for mention in extraction.mentions:
        types.setdefault(normalize_name(mention.name), set()).add(mention.type)
    for link in extraction.links:
        for end in (link.source, link.target):
            types.setdefault(normalize_name(end), {""})
    return {name for name, found in types.items() if is_person_name(name, found, is_shown=name in shown)}


def drop_people(extraction: Extraction, people: Collection[str]) -> Extraction:
    """The extraction without mentions of these canonical names, and without links to them."""
    if not people:
        return extraction
    ends = ((link, {normalize_name(link.source), normalize_name(link.target)}) for link in extraction.links)
    return replace(
        extraction,
        mentions=tuple(mention for mention in extraction.mentions if normalize_name(mention.name) not in people),
        links=tuple(each for each, names in ends if names.isdisjoint(people)),
    )


def is_person_name(name: str, types: Iterable[str] = ("",), *, is_shown: bool) -> bool:
    """Whether a name that a text gives these types is that of a person; `is_shown`: others show it as one.

    A text that says what else it is, is right about what it means.
    """
    types = tuple(types)
    return any(map(is_person_type, types)) or _is_handle(name) or (is_shown and all(map(is_vague_type, types)))


def _is_handle(name: str) -> bool:
    """Whether a name is a mention of somebody; "@scope/package" is none."""
    return name.startswith("@") and "/" not in name and len(name) > 1


def _build_name(name: str) -> PersonName:
    words = split_name(name)
    spelled = {normalize_name(name), " ".join(words), " ".join([*words[-1:], *words[:-1]])}
    spelled |= {f"@{spelling}" for spelling in spelled} | {
        f"@{'.'.join(words)}",
        "_".join(words),
        f"@{'_'.join(words)}",
    }
    return PersonName(name_keys(name), frozenset(map(spelling_key, spelled)))


def split_name(name: str) -> tuple[str, ...]:
    """The words of a name without accents and signs, and without titles if more is left."""
    plain = _POSSESSIVE.sub("", name.strip().removeprefix("@"))
    plain = "".join(
        character
        for character in unicodedata.normalize("NFKD", plain.casefold())
        if not unicodedata.combining(character)
    )
    words = tuple(filter(None, _SEPARATOR.split(unicodedata.normalize("NFKC", plain))))
    rest = tuple(word for word in words if word not in HONORIFICS)
    return rest or words
