"""The fold: merge all facts about a name into one entity, and about a pair of names into one relation.

Pure, idempotent and independent of order: times are source times, facts are sorted by (time, hash of the description),
counts are of distinct chunks, ties are broken alphabetically.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING

from engine.models import Mention
from engine.text.names import normalize_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engine.models import Extraction, Link


UNKNOWN_TYPE = "unknown"
MAX_KEYWORDS = 40


def description_hash(description: str) -> int:
    """A 63-bit hash: the order of descriptions of equal time, and the boundaries of summary groups."""
    return int.from_bytes(blake2b(description.encode(), digest_size=8).digest(), "big") >> 1


@dataclass(frozen=True, slots=True, order=True)
class Fragment:
    """A distinct description with the earliest time it was stated (microseconds since 1970)."""

    time: int
    hash: int
    text: str


@dataclass(frozen=True, slots=True)
class FactRow:
    """A stored fact: `label` is a name as written, or keywords of a link; an empty `type` marks an implied mention."""

    chunk: int
    time: int
    hash: int
    label: str
    type: str
    description: str


@dataclass(frozen=True, slots=True)
class FactCounts:
    """The counted facts of one key: the input of the merge."""

    chunks: int
    labels: Mapping[str, int]
    types: Mapping[str, int] = field(default_factory=dict)
    fragments: tuple[Fragment, ...] = ()


@dataclass(frozen=True, slots=True)
class Entity:
    """All mentions of a name within one space, merged; `mentions` counts distinct chunks."""

    name: str
    type: str
    mentions: int
    fragments: tuple[Fragment, ...]


@dataclass(frozen=True, slots=True)
class Relation:
    """All links of a pair within one space, merged; `weight` counts distinct chunks."""

    keywords: str
    weight: int
    fragments: tuple[Fragment, ...]


def count_facts(rows: Iterable[FactRow]) -> FactCounts:
    """Count the facts of one key. A name that occurs only as an end of links is described by these links."""
    rows = set(rows)
    stated = [row for row in rows if row.type] or list(rows)
    return FactCounts(
        chunks=len({row.chunk for row in rows}),
        labels=Counter(row.label for row in stated),
        types=Counter(row.type for row in stated if row.type),
        fragments=distinct_fragments(Fragment(row.time, row.hash, row.description) for row in stated),
    )


def distinct_fragments(fragments: Iterable[Fragment]) -> tuple[Fragment, ...]:
    """Each text once, with its earliest time, in order."""
    first: dict[str, Fragment] = {}
    for fragment in sorted(fragments):
        first.setdefault(fragment.text, fragment)
    return tuple(first.values())


def merge_entity(facts: FactCounts, chosen_name: str | None = None) -> Entity:
    """Merge the facts about a name into an entity, displayed as chosen, else as it is written most often."""
    return Entity(
        chosen_name or most_frequent(facts.labels),
        most_frequent(facts.types) or UNKNOWN_TYPE,
        facts.chunks,
        facts.fragments,
    )


def merge_relation(facts: FactCounts) -> Relation:
    """Merge the facts about a pair of names into a relation with the most frequent keywords."""
    counts: Counter[str] = Counter()
    for label, times in facts.labels.items():
        for keyword in {part.strip() for part in label.split(",")} - {""}:
            counts[keyword] += times
    kept = sorted(counts, key=lambda keyword: (-counts[keyword], keyword))[:MAX_KEYWORDS]
    return Relation(", ".join(kept), facts.chunks, facts.fragments)


def most_frequent(counts: Mapping[str, int]) -> str:
    """The most frequent value, the alphabetically first of equals; "" if there is none."""
    return min(counts, key=lambda value: (-counts[value], value), default="")


def choose_spelling(rows: Iterable[FactRow], canonical: str) -> str:
    """How this canonical name is written most often in the facts; "" if they do not have it."""
    return most_frequent(Counter(row.label for row in rows if normalize_name(row.label) == canonical))


def merge_across_spaces(entities: Iterable[Entity]) -> Entity:
    """Combine the entities of one name in several spaces for a question: counts add up, descriptions are collected."""
    entities = list(entities)
    names, types = Counter[str](), Counter[str]()
    for entity in entities:
        names[entity.name] += entity.mentions
        if entity.type != UNKNOWN_TYPE:
            types[entity.type] += entity.mentions
    return Entity(
        most_frequent(names),
        most_frequent(types) or UNKNOWN_TYPE,
        sum(entity.mentions for entity in entities),
        distinct_fragments(chain.from_iterable(entity.fragments for entity in entities)),
    )


@dataclass(frozen=True, slots=True)
class ExtractedFacts:
    """The distinct mentions and links of an extraction with their canonical names."""

    mentions: list[tuple[str, Mention]]
    links: list[tuple[str, str, Link]]


def clean_extraction(extraction: Extraction) -> ExtractedFacts:
    """The valid mentions and links; an end of a link that has no mention gets one without a type.

    Idempotent: such an implied mention has one spelling, and a link is the same in both directions.
    """
    surfaces = {m.name for m in extraction.mentions} | {end for x in extraction.links for end in (x.source, x.target)}
    names = {surface: normalize_name(surface) for surface in surfaces}
    mentions = [(names[m.name], m) for m in dict.fromkeys(extraction.mentions) if names[m.name] and m.type]
    links: dict[tuple[frozenset[str], str, str], tuple[str, str, Link]] = {}
    for x in extraction.links:
        a, b = names[x.source], names[x.target]
        if a and b and a != b:
            links.setdefault((frozenset((a, b)), x.keywords, x.description), (a, b, x))
    stated = {name for name, _ in mentions}
    shown: dict[str, str] = {}
    implied = dict.fromkeys(
        (names[end], Mention(shown.setdefault(names[end], end), "", x.description))
        for _, _, x in links.values()
        for end in (x.source, x.target)
        if names[end] not in stated
    )
    return ExtractedFacts(mentions + list(implied), list(links.values()))
