"""The fold: clean facts, merge them into entities and relations, and plan how their descriptions become one. Pure.

Pure, idempotent and independent of order: times are source times, facts are sorted by (time, hash of the description),
counts are of distinct chunks, ties are broken alphabetically.

Few short descriptions are joined. More are summarized: in one call if they fit, else group by group and then the
summaries again. Groups end by content (at a description whose hash is 0 modulo 8, at the latest the 24th), so that
another mention changes only one group and the summaries above it. Only the newest groups are described; older facts
still count, and are found through their chunks. A reindex summarizes nothing.
Limits as in LightRAG: 12,000 tokens per call; fewer than 8 descriptions with fewer than 1,200 tokens are joined.
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
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence

    from engine.models import Extraction, Link
    from engine.options import SummaryLimits

    Texts = tuple[str, ...]


UNKNOWN_TYPE = "unknown"
MAX_KEYWORDS = 40
SEPARATOR = "\n"


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


def select_newest(fragments: Sequence[Fragment], limits: SummaryLimits) -> Sequence[Fragment]:
    """The newest fragments to describe: whole groups, so that another mention does not move their boundaries."""
    if len(fragments) <= limits.group_size:
        return fragments
    tail = fragments[-limits.max_fragments :]
    if len(tail) < len(fragments):
        cut = next((i for i, row in enumerate(tail) if row.hash % limits.hash_modulo == 0), -1)
        tail = tail[cut + 1 :]
    sizes = [len(group) for group in group_fragments([row.hash for row in tail], [0] * len(tail), limits)]
    return tail[-sum(sizes[-limits.max_groups :]) :]


def group_fragments(hashes: Sequence[int], tokens: Sequence[int], limits: SummaryLimits) -> list[range]:
    """Stable groups of consecutive fragments: one ends by content, at its maximum size, or when a call is full."""
    groups, start, held = [], 0, 0
    for i, (value, size) in enumerate(zip(hashes, tokens, strict=True)):
        if i > start and held + size > limits.call_tokens:
            groups.append(range(start, i))
            start, held = i, 0
        held += size
        if value % limits.hash_modulo == 0 or i - start + 1 == limits.group_size:
            groups.append(range(start, i + 1))
            start, held = i + 1, 0
    return groups + ([range(start, len(hashes))] if start < len(hashes) else [])


def needs_model(texts: Sequence[str], count: Callable[[str], int], limits: SummaryLimits) -> bool:
    """Whether the texts exceed the limits of joining."""
    if len(texts) < 2 or len(texts) >= limits.join_fragments:
        return len(texts) >= 2
    return _exceeds_tokens(texts, count, limits.join_tokens - 1)


def join_newest(fragments: Sequence[Fragment], count: Callable[[str], int], limits: SummaryLimits) -> str:
    """Join the newest fragments within the limits; shown until a summary exists."""
    kept: list[str] = []
    held = 0
    for row in reversed(fragments):
        held += count(row.text)
        if kept and (held >= limits.join_tokens or len(kept) == limits.join_fragments - 1):
            break
        kept.append(row.text)
    return SEPARATOR.join(reversed(kept))


def summary_steps(
    fragments: Sequence[Fragment], count: Callable[[str], int], limits: SummaryLimits
) -> Generator[list[Texts], Sequence[str], str]:
    """Reduce fragments to one text: yields inputs to summarize concurrently, and is sent their summaries."""
    texts, hashes = [row.text for row in fragments], [row.hash for row in fragments]
    while needs_model(texts, count, limits):
        if len(texts) == 2 or not _exceeds_tokens(texts, count, limits.call_tokens):
            [text] = yield [tuple(texts)]
            return text
        groups = group_fragments(hashes, [count(text) for text in texts], limits)
        if len(groups) == len(texts):  # no group has two texts: summarize pairs
            groups = [range(i, min(i + 2, len(texts))) for i in range(0, len(texts), 2)]
        inputs = [tuple(texts[i] for i in group) for group in groups]
        summaries = iter((yield [input_ for input_ in inputs if len(input_) > 1]))
        texts = _newest_fitting([next(summaries) if len(input_) > 1 else input_[0] for input_ in inputs], count, limits)
        hashes = [description_hash(text) for text in texts]
    return SEPARATOR.join(texts)


def _newest_fitting(texts: list[str], count: Callable[[str], int], limits: SummaryLimits) -> list[str]:
    """The newest summaries that fit into one call, at least two; groups of summaries would not be stable."""
    held = kept = 0
    for text in reversed(texts[-limits.group_size :]):
        held += count(text)
        if kept >= 2 and held > limits.call_tokens:
            break
        kept += 1
    return texts[len(texts) - kept :]


def _exceeds_tokens(texts: Sequence[str], count: Callable[[str], int], tokens: int) -> bool:
    """Whether the texts have more tokens; counts only if they have more bytes than that."""
    return sum(len(text.encode()) for text in texts) > tokens and sum(map(count, texts)) > tokens
