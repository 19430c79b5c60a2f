"""Load the provenance of an entity or a relation: the facts that it is merged from, with their passages."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from engine.models import ContextEntity
from engine.retrieval.graph.records import FactProvenance, StatedFact
from engine.retrieval.search import ProfileCache
from engine.retrieval.sources import number_sources
from engine.retrieval.views import ViewLoader
from engine.storage.ledger.records import KeyKind
from engine.storage.sql.fragments import from_micros
from engine.text.names import normalize_name

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from engine.knowledge.merge import FactRow
    from engine.models import Source
    from engine.retrieval.search import Searcher
    from engine.retrieval.sources import NumberedSources
    from engine.retrieval.views import EntityView, RelationView
    from engine.storage.ledger.records import ProfileKind

MAX_NAMES = 20  # spellings of an entity that are listed
EMPTY = FactProvenance(None, None, (), (), (), ())


@dataclass(slots=True)
class ProvenanceLoader:
    """Loads the provenance of one entity or relation, at most `limit` facts of it, the newest first."""

    searcher: Searcher
    limit: int
    profiles: ProfileCache = field(default_factory=ProfileCache)

    async def load_entity(self, name: str) -> FactProvenance:
        """The provenance of an entity; empty if it is not in the scope."""
        ids = await self._find_ids(name)
        views = await self._build_loader().load_entities(ids)
        if not views:
            return EMPTY
        view = views[0]
        rows, has_more = await self._load_facts(KeyKind.NAME, view.ids)
        numbered = await self._number(rows)
        names = tuple(dict.fromkeys(row.label for row in rows if row.type))[:MAX_NAMES] or (view.name,)
        facts, sources = _cite(_build_facts(rows, numbered, names), numbered)
        entity = ContextEntity(view.name, view.type, view.description, tuple(source.number for source in sources))
        spaces, is_pinned = await self._load_places(KeyKind.NAME, view)
        return FactProvenance(entity, None, names, facts, sources, spaces, is_pinned, has_more)

    async def load_relation(self, name: str, other: str) -> FactProvenance:
        """The provenance of a relation; empty if it is not in the scope."""
        ends = await self._find_ids(name), await self._find_ids(other)
        search, scope_ids = self.searcher.runtime.ledger.search, self.searcher.scope.scope_ids
        between = await search.list_relations_between([*ends[0], *ends[1]], scope_ids)
        await self.searcher.load_relations(self.profiles, between)
        views = await self._build_loader().load_relations(id_ for id_ in between if id_ in self.profiles.relations)
        joined = [view for view in views if self._joins(view, ends)]
        if not joined:
            return EMPTY
        view = joined[0]
        rows, has_more = await self._load_facts(KeyKind.PAIR, view.ids)
        numbered = await self._number(rows)
        facts, sources = _cite(_build_facts(rows, numbered, (view.source, view.target)), numbered)
        numbers = tuple(source.number for source in sources)
        relation = view.to_row(numbers)
        spaces, is_pinned = await self._load_places(KeyKind.PAIR, view)
        return FactProvenance(None, relation, (), facts, sources, spaces, is_pinned, has_more)

    async def _find_ids(self, name: str) -> list[int]:
        """The profiles of a name in the scope's spaces: those of exactly this canonical name first."""
        canonical, scope_ids = normalize_name(name), self.searcher.scope.scope_ids
        found = await self.searcher.runtime.ledger.search.find_entities_by_name({canonical}, scope_ids)
        await self.searcher.load_entities(self.profiles, found)
        records = [self.profiles.entities[id_] for id_ in found if id_ in self.profiles.entities]
        return [record.id for record in sorted(records, key=lambda each: (each.canonical != canonical, each.canonical))]

    def _joins(self, view: RelationView, ends: tuple[Collection[int], Collection[int]]) -> bool:
        """Whether a relation is between the two names, not between two profiles of one of them."""
        one, other = ({self.profiles.entities[id_].canonical for id_ in ids} for ids in ends)
        a, b = view.ends
        return (a in one and b in other) or (b in one and a in other)

    def _build_loader(self) -> ViewLoader:
        return ViewLoader(self.searcher.runtime, self.profiles, self.searcher.scope.fact_chunks)

    async def _load_facts(self, kind: ProfileKind, ids: Collection[int]) -> tuple[list[FactRow], bool]:
        """The newest facts, and whether there are more."""
        profiles = self.searcher.runtime.ledger.profiles
        found = await profiles.load_recent_facts(kind, ids, self.limit + 1, self.searcher.scope.fact_chunks)
        rows = {row for fact in found.values() for row in fact}
        stated = [row for row in rows if row.type] or list(rows)
        stated.sort(key=lambda row: (-row.time, row.hash, row.label, row.chunk))
        return stated[: self.limit], len(stated) > self.limit

    async def _number(self, rows: Sequence[FactRow]) -> NumberedSources:
        """The passages of the chunks that state these facts, within the scope."""
        ids = list(dict.fromkeys(row.chunk for row in rows))
        search = self.searcher.runtime.ledger.search
        return number_sources(await search.load_chunk_texts(ids, self.searcher.scope.scope_ids))

    async def _load_places(self, kind: ProfileKind, view: EntityView | RelationView) -> tuple[tuple[str, ...], bool]:
        """The spaces of an entity or a relation, and whether a person described it."""
        ledger = self.searcher.runtime.ledger
        corrected = await ledger.corrections.load_corrections(kind, view.ids)
        records = self.profiles.entities if kind == KeyKind.NAME else self.profiles.relations
        spaces = await ledger.names.load_space_names({records[id_].space for id_ in view.ids})
        return spaces, any(correction.pin is not None for correction in corrected.values())


def _build_facts(rows: Sequence[FactRow], numbered: NumberedSources, names: Sequence[str]) -> list[StatedFact]:
    """One fact of each description, in the order of its newest row, with the passages of all its chunks."""
    groups: dict[str, list[FactRow]] = {}
    for row in rows:
        groups.setdefault(row.description, []).append(row)
    return [
        StatedFact(
            group[0].label,
            group[0].type,
            description,
            from_micros(group[0].time or None),
            _find_passages([row.chunk for row in group], description, names, numbered),
        )
        for description, group in groups.items()
    ]


def _find_passages(
    chunks: Sequence[int], description: str, names: Sequence[str], numbered: NumberedSources
) -> tuple[int, ...]:
    """The numbers of the passages that contain a description word for word; else of those that name its subject."""
    return numbered.find_stating(chunks, description) or numbered.find_supporting(chunks, names)


def _cite(facts: Sequence[StatedFact], numbered: NumberedSources) -> tuple[tuple[StatedFact, ...], tuple[Source, ...]]:
    """The facts with the passages that support them, numbered from 1 in the order of their first use."""
    used = dict.fromkeys(number for fact in facts for number in fact.sources)
    numbers = {old: new for new, old in enumerate(used, 1)}
    sources = {source.number: source for source in numbered.sources}
    return (
        tuple(replace(fact, sources=tuple(sorted(numbers[source] for source in fact.sources))) for fact in facts),
        tuple(replace(sources[old], number=new) for old, new in numbers.items()),
    )
