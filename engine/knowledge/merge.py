"""The fold: everything said about a name becomes one entity, about a pair one relation.

Pure, free of order, and idempotent: time is source time, rows are ordered by (time, hash of the description), counts
are of distinct chunks, ties are broken alphabetically. So twice is once, and any order is the same order.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

UNKNOWN_TYPE = "unknown"
MAX_KEYWORDS = 40


def description_hash(description: str) -> int:
    """63 bits of a description: its place among rows of equal time, and what cuts the groups of a summary."""
    return int.from_bytes(blake2b(description.encode(), digest_size=8).digest(), "big") >> 1


@dataclass(frozen=True, slots=True, order=True)
class Fragment:
    """One distinct description, at the earliest time at which it was said (microseconds since 1970)."""

    time: int
    hash: int
    text: str


@dataclass(frozen=True, slots=True)
class FactRow:
    """One row of facts: `label` is a name's surface form or a link's keywords; an empty `type` marks an implied end."""

    chunk: int
    time: int
    hash: int
    label: str
    type: str
    description: str


@dataclass(frozen=True, slots=True)
class FactCounts:
    """The rows of one key, counted: all that the fold needs to know of them."""

    chunks: int
    labels: Mapping[str, int]
    types: Mapping[str, int] = field(default_factory=dict)
    fragments: tuple[Fragment, ...] = ()


@dataclass(frozen=True, slots=True)
class Entity:
    """The fold of all mentions of a name within one space; `mentions` counts distinct chunks."""

    name: str
    type: str
    mentions: int
    fragments: tuple[Fragment, ...]


@dataclass(frozen=True, slots=True)
class Relation:
    """The fold of all links of a pair within one space; `weight` counts distinct chunks."""

    keywords: str
    weight: int
    fragments: tuple[Fragment, ...]


def count_facts(rows: Iterable[FactRow]) -> FactCounts:
    """Count the rows of one key. A name that was only ever an end of links is described by those links."""
    rows = set(rows)
    stated = [row for row in rows if row.type] or list(rows)
    return FactCounts(
        chunks=len({row.chunk for row in rows}),
        labels=Counter(row.label for row in stated),
        types=Counter(row.type for row in stated if row.type),
        fragments=distinct_fragments(Fragment(row.time, row.hash, row.description) for row in stated),
    )


def distinct_fragments(fragments: Iterable[Fragment]) -> tuple[Fragment, ...]:
    """Every text once, at its earliest, in order."""
    first: dict[str, Fragment] = {}
    for fragment in sorted(fragments):
        first.setdefault(fragment.text, fragment)
    return tuple(first.values())


def merge_entity(told: FactCounts) -> Entity:
    """One entity of all that was said about a name."""
    return Entity(most_frequent(told.labels), most_frequent(told.types) or UNKNOWN_TYPE, told.chunks, told.fragments)


def merge_relation(told: FactCounts) -> Relation:
    """One relation of all that was said about a pair."""
    counts: Counter[str] = Counter()
    for label, times in told.labels.items():
        for keyword in {part.strip() for part in label.split(",")} - {""}:
            counts[keyword] += times
    kept = sorted(counts, key=lambda keyword: (-counts[keyword], keyword))[:MAX_KEYWORDS]
    return Relation(", ".join(kept), told.chunks, told.fragments)


def most_frequent(counts: Mapping[str, int]) -> str:
    """The value counted most often; of equals the first in the alphabet; "" of none."""
    return min(counts, key=lambda value: (-counts[value], value), default="")


def merge_across_spaces(entities: Iterable[Entity]) -> Entity:
    """The same name in several spaces as one entity, for one question: counts add, descriptions stand side by side."""
    entities = list(entities)
    names, types = Counter[str](), Counter[str]()
    for each in entities:
        names[each.name] += each.mentions
        if each.type != UNKNOWN_TYPE:
            types[each.type] += each.mentions
    return Entity(
        most_frequent(names),
        most_frequent(types) or UNKNOWN_TYPE,
        sum(each.mentions for each in entities),
        distinct_fragments(chain.from_iterable(each.fragments for each in entities)),
    )
