"""Profiles as one question may see them: stale ones folded on the spot, the same name of several spaces as one.

No model is asked: descriptions are joined. A narrowed question sees only what its chunks state.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from engine.knowledge import merge
from engine.knowledge.summary_plan import SEPARATOR, join_newest
from engine.storage.ledger.records import KeyKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engine.knowledge.merge import FactRow
    from engine.retrieval.search import ProfileCache
    from engine.runtime import Runtime
    from engine.storage.ledger.records import ChunkFilter, EntityRecord, ProfileKind, RelationRecord

MAX_ROWS = 48  # newest rows of a stale key that are folded on the spot


@dataclass(frozen=True, slots=True)
class EntityView:
    """An entity of a question: the ids that stand behind it, and what is shown of it."""

    ids: tuple[int, ...]
    canonical: str
    name: str
    type: str
    description: str


@dataclass(frozen=True, slots=True)
class RelationView:
    """A relation of a question; `ends` are canonical names, in order."""

    ids: tuple[int, ...]
    ends: tuple[str, str]
    source: str
    target: str
    keywords: str
    description: str
    weight: int


@dataclass(slots=True)
class ViewLoader:
    """Makes views of what a question has met; `only` are the chunks it is narrowed to."""

    runtime: Runtime
    profile_cache: ProfileCache
    allowed_chunks: ChunkFilter | None
    pins: dict[tuple[KeyKind, int], str] = field(default_factory=dict)

    async def load_entities(self, ids: Iterable[int]) -> list[EntityView]:
        """Views of these entities in order, one for each canonical name; those of which nothing is left are out."""
        groups: dict[str, list[int]] = {}
        for id_ in ids:
            groups.setdefault(self.profile_cache.entities[id_].canonical, []).append(id_)
        told = await self._load_facts(KeyKind.NAME, (id_ for group in groups.values() for id_ in group))
        views = (self._build_entity(name, group, told) for name, group in groups.items())
        return [view for view in views if view is not None]

    async def load_relations(self, ids: Iterable[int]) -> list[RelationView]:
        """Views of these relations in order, one for each pair of canonical names."""
        groups: dict[tuple[str, str], list[int]] = {}
        for id_ in ids:
            a, b = sorted(self._canonical(end) for end in self.profile_cache.relations[id_].ends)
            if a and b:
                groups.setdefault((a, b), []).append(id_)
        told = await self._load_facts(KeyKind.PAIR, (id_ for group in groups.values() for id_ in group))
        views = (self._build_relation(ends, group, told) for ends, group in groups.items())
        return [view for view in views if view is not None]

    def _canonical(self, id_: int) -> str:
        found = self.profile_cache.entities.get(id_)
        return found.canonical if found else ""

    async def _load_facts(self, kind: ProfileKind, ids: Iterable[int]) -> dict[int, list[FactRow]]:
        """The facts of those keys whose profile cannot be shown as it is; none of those that are hidden.

        Their pins are noted; a narrowed question sees what its chunks state, not what was pinned.
        """
        found: Mapping[int, EntityRecord | RelationRecord]
        found = self.profile_cache.entities if kind == KeyKind.NAME else self.profile_cache.relations
        wanted = [id_ for id_ in ids if self.allowed_chunks is not None or found[id_].is_stale]
        if not wanted:
            return {}
        async with self.runtime.ledger.snapshot() as view:
            rows = await view.search.load_recent_facts(kind, wanted, MAX_ROWS, self.allowed_chunks)
            corrected = await view.search.load_corrections(kind, wanted)
        if self.allowed_chunks is None:
            self.pins.update({(kind, id_): each.pin for id_, each in corrected.items() if each.pin is not None})
        hidden = {id_ for id_, each in corrected.items() if each.is_hidden}
        return {id_: [] if id_ in hidden else rows.get(id_, []) for id_ in wanted}

    def _build_entity(self, name: str, ids: Sequence[int], told: dict[int, list[FactRow]]) -> EntityView | None:
        parts = {id_: self._merge_entity(self.profile_cache.entities[id_], told.get(id_)) for id_ in ids}
        left = {id_: part for id_, part in parts.items() if part is not None}
        if not left:
            return None
        one = merge.merge_across_spaces([entity for entity, _ in left.values()])
        texts = self._join_by_similarity(KeyKind.NAME, {id_: text for id_, (_, text) in left.items()})
        return EntityView(tuple(left), name, one.name, one.type, texts)

    def _merge_entity(self, found: EntityRecord, told: list[FactRow] | None) -> tuple[merge.Entity, str] | None:
        kept = merge.Entity(found.name, found.type, found.mentions, ())
        if told is None:
            return kept, found.description
        if not told:
            return None
        anew = merge.merge_entity(merge.count_facts(told))
        if len(told) >= MAX_ROWS:  # the oldest rows are not there: what the profile still says of them all is better
            name = anew.name if kept.name == found.canonical else kept.name
            anew = replace(anew, name=name, type=kept.type or anew.type, mentions=max(kept.mentions, anew.mentions))
        return anew, self.pins.get((KeyKind.NAME, found.id)) or self._join_fragments(anew.fragments)

    def _build_relation(
        self, ends: tuple[str, str], ids: Sequence[int], told: dict[int, list[FactRow]]
    ) -> RelationView | None:
        parts = {id_: self._merge_relation(self.profile_cache.relations[id_], told.get(id_)) for id_ in ids}
        left = {id_: part for id_, part in parts.items() if part is not None}
        if not left:
            return None
        first = self.profile_cache.relations[next(iter(left))]
        source, target = sorted(self.profile_cache.entities[end].name for end in first.ends)
        keywords = ", ".join(dict.fromkeys(part.keywords for part, _ in left.values()))
        texts = self._join_by_similarity(KeyKind.PAIR, {id_: text for id_, (_, text) in left.items()})
        weight = sum(part.weight for part, _ in left.values())
        return RelationView(tuple(left), ends, source, target, keywords, texts, weight)

    def _merge_relation(self, found: RelationRecord, told: list[FactRow] | None) -> tuple[merge.Relation, str] | None:
        kept = merge.Relation(found.keywords, found.weight, ())
        if told is None:
            return kept, found.description
        if not told:
            return None
        anew = merge.merge_relation(merge.count_facts(told))
        if len(told) >= MAX_ROWS:
            anew = replace(anew, keywords=kept.keywords or anew.keywords, weight=max(kept.weight, anew.weight))
        return anew, self.pins.get((KeyKind.PAIR, found.id)) or self._join_fragments(anew.fragments)

    def _join_fragments(self, fragments: Sequence[merge.Fragment]) -> str:
        return join_newest(fragments, self.runtime.tokenizer.count, self.runtime.options.summary_limits)

    def _join_by_similarity(self, kind: KeyKind, texts: Mapping[int, str]) -> str:
        """Descriptions of the same key in several spaces side by side, the one most like the question first."""
        ordered = sorted(texts.items(), key=lambda each: -self.profile_cache.similarities.get((kind, each[0]), 0.0))
        return SEPARATOR.join(dict.fromkeys(text for _, text in ordered))
