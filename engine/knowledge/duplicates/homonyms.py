"""Decide which names may mean two things: sources give them types that one thing does not have at once. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from engine.text.word_lists import word_set

if TYPE_CHECKING:
    from collections.abc import Iterable

MIN_SOURCES = 2  # documents that give each of the two types
_FAMILIES = {
    "person": word_set("person people human character"),
    "place": word_set("location place geo city town village country region river mountain address building"),
    "organization": word_set("organization organisation company institution agency group team"),
    "event": word_set("event meeting conference holiday"),
    "thing": word_set(
        "product technology software artifact equipment object vehicle device tool naturalobject substance drug food"
    ),
    "creature": word_set("creature animal species plant"),
}
# An organization is often named by its place or its product, and an event by its place: such pairs say little.
_STRONG = frozenset(
    map(
        frozenset,
        (
            ("person", "place"),
            ("person", "organization"),
            ("person", "event"),
            ("person", "thing"),
            ("person", "creature"),
            ("place", "thing"),
            ("place", "creature"),
            ("creature", "organization"),
        ),
    )
)


class TypeEvidence(NamedTuple):
    """A type that documents give a name: their number, and a chunk of one."""

    type: str
    sources: int
    chunk: int


def find_senses(types: Iterable[TypeEvidence]) -> tuple[TypeEvidence, ...]:
    """The two most frequent types that one thing does not have at once; () if there are none with enough sources."""
    ranked = sorted(
        (type_ for type_ in types if type_.sources >= MIN_SOURCES), key=lambda each: (-each.sources, each.type)
    )
    for place, one in enumerate(ranked):
        for other in ranked[place + 1 :]:
            if frozenset((_family(one.type), _family(other.type))) in _STRONG:
                return one, other
    return ()


def _family(type_: str) -> str:
    return next((name for name, types in _FAMILIES.items() if type_ in types), "")
