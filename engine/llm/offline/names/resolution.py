"""What names mean within their excerpt: a part of a person's name, a noun, one type for each name. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.llm.offline.names.types import CONCEPT, ENDINGS, PERSON, TITLES
from engine.text.names import normalize_name

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from engine.llm.offline.names.types import NamedEntity

_POLITE = re.compile(r"(?:Mr|Mrs|Ms|Miss|Master|Herr|Frau|Mme|Mlle)\.? ")
# Titles that a full name does not need.
_OFFICE = re.compile(r"(?:Dr|Prof|Professor|President|Senator|Judge|Captain|General|Colonel|Rev|Sir)\.? ")
# Titles after which a family name may be that of any full name.
_NEUTRAL = re.compile(rf"(?!(?:Mrs|Ms|Miss|Frau|Lady|Dame|Mme|Mlle|Queen|Princess|Madame|Señora|Doña)\b){TITLES}\.? ")


def resolve_names(sentences: Sequence[Sequence[NamedEntity]]) -> list[list[NamedEntity]]:
    """The names of each sentence, as their excerpt explains them, no name twice.

    A part of exactly one person's name becomes that name; the last word of a longer name, alone, is a noun; a name has
    the type that most of its cues give.
    """
    known = [one for sentence in sentences for one in sentence]
    types = _collect_types(known)
    full = _index_parts(types)
    tails = {words[-1] for name in types if len(words := normalize_name(name).split()) > 1} & ENDINGS
    resolved = []
    for sentence in sentences:
        named: dict[str, NamedEntity] = {}
        for one in sentence:
            name = _find_full_name(one.name, full, types)
            if name.casefold() not in tails:
                type_ = types.get(name, types.get(one.name, one.type))
                named.setdefault(normalize_name(name), replace(one, name=name, type=type_))
        resolved.append(list(named.values()))
    return resolved


def _collect_types(names: Iterable[NamedEntity]) -> dict[str, str]:
    """The type of each name: a person if any cue says so, else the most frequent one that is not the default."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in names:
        counts[one.name][one.type] += 1
    persons = {name for name, types in counts.items() if types[PERSON] and " " not in name}
    families = {name.rpartition(" ")[2] for name, types in counts.items() if types[PERSON] and _POLITE.match(name)}
    return {
        name: PERSON
        if types[PERSON] or name in families or _has_family_name(name, types, persons)
        else _most_frequent(types)
        for name, types in counts.items()
    }


def _has_family_name(name: str, types: Counter[str], persons: set[str]) -> bool:
    """Whether it is of two words, the last of which is a person elsewhere: "Ebenezer Scrooge", "said Scrooge"."""
    words = name.split()
    return len(words) == 2 and set(types) == {CONCEPT} and words[1] in persons and words[0].isalpha()


def _most_frequent(types: Counter[str]) -> str:
    return min(types, key=lambda type_: (type_ == CONCEPT, -types[type_], type_))


def _index_parts(types: Mapping[str, str]) -> dict[str, str]:
    """The full name by the parts that mean it alone: the first and last word of a person, the last of another.

    Parts that several names have are left out, and so are names with a title.
    """
    found: dict[str, str] = {}
    order = {name: at for at, name in enumerate(types)}
    for name, type_ in types.items():
        words = name.split()
        if len(words) < 2 or _NEUTRAL.match(name) or _POLITE.match(name):
            continue
        parts = [words[0], words[-1]] if type_ == PERSON else _last_if_introduced(words, type_, order)
        for word in parts:
            found[word] = name if found.get(word, name) == name else ""
    return {word: name for word, name in found.items() if name}


def _last_if_introduced(words: list[str], type_: str, order: Mapping[str, int]) -> list[str]:
    """The last word of a name of two, if it stands alone only after the whole name."""
    last, name = words[-1], " ".join(words)
    is_part = type_ == CONCEPT and len(words) == 2 and last.isalpha()
    return [last] if is_part and order.get(last, order[name]) >= order[name] else []


def _find_full_name(name: str, full: Mapping[str, str], alone: Container[str]) -> str:
    """The full name of a person whose part this is, with or without a title; else the name itself."""
    polite, title = _POLITE.match(name), _NEUTRAL.match(name)
    if held := polite or _OFFICE.match(name):
        rest = name[held.end() :]
        if " " in rest and " of " not in rest:
            return rest
    rest = name[title.end() :] if title else name
    return full.get(rest, rest if rest in alone and polite else name)
