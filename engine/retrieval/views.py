"""Load entities and relations as one question may see them: stale ones merged, spaces combined, past ones found.

No model is called: descriptions are joined. A question with filters sees only the facts of matching chunks.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from engine.errors import EngineError
from engine.knowledge import merge
from engine.knowledge.merge import SEPARATOR, join_newest
from engine.models import ContextRelation
from engine.projection.embedding_text import embed_with_isolation, entity_text, relation_text, truncate_to_tokens
from engine.retrieval.search import ProfileCache
from engine.storage.ledger.records import KeyKind, Profile
from engine.text.similarity import unit_vectors

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from engine.knowledge.merge import FactRow
    from engine.retrieval.search import SearchScope
    from engine.runtime import Runtime
    from engine.storage.ledger.records import ChunkFilter, EntityRecord, ProfileKind, RelationRecord
    from engine.text.similarity import SimilarityScale
    from engine.usage import UsageMeter


MAX_ROWS = 48  # newest facts merged on the fly for a stale profile


@dataclass(frozen=True, slots=True)
class EntityView:
    """An entity as a question sees it; `ids` are its profiles in the spaces of the scope."""

    ids: tuple[int, ...]
    canonical: str
    name: str
    type: str
    description: str


@dataclass(frozen=True, slots=True)
class RelationView:
    """A relation as a question sees it; `ends` are canonical names, sorted."""

    ids: tuple[int, ...]
    ends: tuple[str, str]
    source: str
    target: str
    keywords: str
    description: str
    weight: int

    def to_row(self, sources: tuple[int, ...] = ()) -> ContextRelation:
        """The relation in a context. `sources`: the numbers of the passages that support it."""
        return ContextRelation(self.source, self.target, self.keywords, self.description, self.weight, sources)


@dataclass(slots=True)
class ViewLoader:
    """Builds views of entities and relations; `allowed_chunks` are those that match the filters, if any."""

    runtime: Runtime
    profile_cache: ProfileCache
    allowed_chunks: ChunkFilter | None
    pins: dict[tuple[KeyKind, int], str] = field(default_factory=dict)
    asked_names: dict[int, str] = field(default_factory=dict)
    part_names: dict[int, str] = field(default_factory=dict)

    async def load_entities(self, ids: Iterable[int]) -> list[EntityView]:
        """Views of these entities in order, one per canonical name; entities without visible facts are left out."""
        groups: dict[str, list[int]] = {}
        for id_ in ids:
            groups.setdefault(self.profile_cache.entities[id_].canonical, []).append(id_)
        facts = await self._load_facts(KeyKind.NAME, (id_ for group in groups.values() for id_ in group))
        views = (self._build_entity(name, group, facts) for name, group in groups.items())
        return [view for view in views if view is not None]

    async def load_relations(self, ids: Iterable[int]) -> list[RelationView]:
        """Views of these relations in order, one per pair of canonical names."""
        groups: dict[tuple[str, str], list[int]] = {}
        for id_ in ids:
            a, b = sorted(self._canonical(end) for end in self.profile_cache.relations[id_].ends)
            if a and b:
                groups.setdefault((a, b), []).append(id_)
        facts = await self._load_facts(KeyKind.PAIR, (id_ for group in groups.values() for id_ in group))
        views = (self._build_relation(ends, group, facts) for ends, group in groups.items())
        return [view for view in views if view is not None]

    async def load_embedded_texts(self, kind: ProfileKind) -> dict[int, str]:
        """The text that is embedded of each cached key, by what the question may see; none without visible facts."""
        entities, relations = self.profile_cache.entities, self.profile_cache.relations
        facts = await self._load_facts(kind, entities if kind == KeyKind.NAME else relations)
        if kind == KeyKind.NAME:
            names = {id_: self._merge_entity(found, facts.get(id_)) for id_, found in entities.items()}
            return {
                id_: entity_text(Profile(id_, entities[id_].space, part[0].name, part[1], part[0].mentions))
                for id_, part in names.items()
                if part is not None
            }
        pairs = {id_: self._merge_relation(found, facts.get(id_)) for id_, found in relations.items()}
        return {
            id_: self._relation_text(relations[id_], part[0].keywords, part[1])
            for id_, part in pairs.items()
            if part is not None
        }

    def list_present_texts(self, kind: ProfileKind) -> dict[int, str]:
        """The text that is embedded of each cached key whose profile is up to date."""
        if kind == KeyKind.NAME:
            return {
                found.id: entity_text(Profile(found.id, found.space, found.name, found.description, found.mentions))
                for found in self.profile_cache.entities.values()
                if not found.is_stale
            }
        return {
            found.id: self._relation_text(found, found.keywords, found.description)
            for found in self.profile_cache.relations.values()
            if not found.is_stale
        }

    def _relation_text(self, found: RelationRecord, keywords: str, description: str) -> str:
        names = {id_: entity.name for id_, entity in self.profile_cache.entities.items()}
        profile = Profile(found.id, found.space, keywords, description, found.weight, ends=found.ends)
        return relation_text(profile, names)

    def _canonical(self, id_: int) -> str:
        found = self.profile_cache.entities.get(id_)
        return found.canonical if found else ""

    async def _load_facts(self, kind: ProfileKind, ids: Iterable[int]) -> dict[int, list[FactRow]]:
        """The facts of the keys whose profile is stale or filtered; none for hidden keys.

        Also loads pinned descriptions, except for a question with filters, which sees only the facts of its chunks.
        """
        found: Mapping[int, EntityRecord | RelationRecord]
        found = self.profile_cache.entities if kind == KeyKind.NAME else self.profile_cache.relations
        needed = [id_ for id_ in ids if self.allowed_chunks is not None or found[id_].is_stale]
        if not needed:
            return {}
        rows, corrected = await self.runtime.ledger.snapshot(
            lambda view: (
                view.profiles.load_recent_facts(kind, needed, MAX_ROWS, self.allowed_chunks),
                view.corrections.load_corrections(kind, needed),
            )
        )
        if self.allowed_chunks is None:
            self.pins.update({(kind, id_): each.pin for id_, each in corrected.items() if each.pin is not None})
        self.asked_names.update({id_: each.asked_name for id_, each in corrected.items() if each.asked_name})
        self.part_names.update({id_: each.part_name for id_, each in corrected.items() if each.part_name})
        hidden = {id_ for id_, each in corrected.items() if each.is_hidden}
        return {id_: [] if id_ in hidden else rows.get(id_, []) for id_ in needed}

    def _build_entity(self, name: str, ids: Sequence[int], facts: dict[int, list[FactRow]]) -> EntityView | None:
        if len(ids) == 1 and ids[0] not in facts:  # nothing to combine
            found = self.profile_cache.entities[ids[0]]
            return EntityView((found.id,), name, found.name, found.type or merge.UNKNOWN_TYPE, found.description)
        parts = {id_: self._merge_entity(self.profile_cache.entities[id_], facts.get(id_)) for id_ in ids}
        left = {id_: part for id_, part in parts.items() if part is not None}
        if not left:
            return None
        one = merge.merge_across_spaces([entity for entity, _ in left.values()])
        texts = self._join_by_similarity(KeyKind.NAME, {id_: text for id_, (_, text) in left.items()})
        return EntityView(tuple(left), name, one.name, one.type, texts)

    def _merge_entity(self, found: EntityRecord, facts: list[FactRow] | None) -> tuple[merge.Entity, str] | None:
        profile = merge.Entity(found.name, found.type, found.mentions, ())
        if facts is None:
            return profile, found.description
        if not facts:
            return None
        chosen = self.part_names.get(found.id, "")
        if not chosen and found.id in self.asked_names:
            chosen = merge.choose_spelling(facts, found.canonical) or self.asked_names[found.id]
        merged = merge.merge_entity(merge.count_facts(facts), chosen)
        if len(facts) >= MAX_ROWS:  # the oldest facts are missing: the stale profile counts them all
            name = merged.name if profile.name == found.canonical else profile.name
            merged = replace(
                merged, name=name, type=profile.type or merged.type, mentions=max(profile.mentions, merged.mentions)
            )
        return merged, self.pins.get((KeyKind.NAME, found.id)) or self._join_fragments(merged.fragments)

    def _build_relation(
        self, ends: tuple[str, str], ids: Sequence[int], facts: dict[int, list[FactRow]]
    ) -> RelationView | None:
        if len(ids) == 1 and ids[0] not in facts:  # nothing to combine
            found = self.profile_cache.relations[ids[0]]
            source, target = self._name_ends(found)
            return RelationView((found.id,), ends, source, target, found.keywords, found.description, found.weight)
        parts = {id_: self._merge_relation(self.profile_cache.relations[id_], facts.get(id_)) for id_ in ids}
        left = {id_: part for id_, part in parts.items() if part is not None}
        if not left:
            return None
        source, target = self._name_ends(self.profile_cache.relations[next(iter(left))])
        keywords = ", ".join(dict.fromkeys(part.keywords for part, _ in left.values()))
        texts = self._join_by_similarity(KeyKind.PAIR, {id_: text for id_, (_, text) in left.items()})
        weight = sum(part.weight for part, _ in left.values())
        return RelationView(tuple(left), ends, source, target, keywords, texts, weight)

    def _name_ends(self, found: RelationRecord) -> list[str]:
        return sorted(self.profile_cache.entities[end].name for end in found.ends)

    def _merge_relation(self, found: RelationRecord, facts: list[FactRow] | None) -> tuple[merge.Relation, str] | None:
        profile = merge.Relation(found.keywords, found.weight, ())
        if facts is None:
            return profile, found.description
        if not facts:
            return None
        merged = merge.merge_relation(merge.count_facts(facts))
        if len(facts) >= MAX_ROWS:
            merged = replace(
                merged, keywords=profile.keywords or merged.keywords, weight=max(profile.weight, merged.weight)
            )
        return merged, self.pins.get((KeyKind.PAIR, found.id)) or self._join_fragments(merged.fragments)

    def _join_fragments(self, fragments: Sequence[merge.Fragment]) -> str:
        return join_newest(fragments, self.runtime.tokenizer.count, self.runtime.options.summary_limits)

    def _join_by_similarity(self, kind: KeyKind, texts: Mapping[int, str]) -> str:
        """Join the descriptions of the same key in several spaces, the one most similar to the question first."""
        ordered = sorted(texts.items(), key=lambda each: -self.profile_cache.similarities.get((kind, each[0]), 0.0))
        return SEPARATOR.join(dict.fromkeys(text for _, text in ordered))


@dataclass(frozen=True, slots=True)
class PastProfiles:
    """The vectors of one question's entities and relations; a text that is the present one has its stored vector."""

    runtime: Runtime
    scope: SearchScope
    meter: UsageMeter
    _vectors: dict[tuple[ProfileKind, int], np.ndarray | None] = field(default_factory=dict)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def measure(
        self, kind: ProfileKind, ids: Collection[int], query: np.ndarray, scale: SimilarityScale
    ) -> dict[int, float]:
        """The similarity of a vector to each of these keys; none for a key of which nothing was stated."""
        async with self._lock:
            if missing := [id_ for id_ in ids if (kind, id_) not in self._vectors]:
                await self._load(kind, missing)
        known = {id_: vector for id_ in ids if (vector := self._vectors[kind, id_]) is not None}
        return {id_: scale.similarity(float(vector @ query)) for id_, vector in known.items()}

    async def _load(self, kind: ProfileKind, ids: Collection[int]) -> None:
        self._vectors.update(((kind, id_), None) for id_ in ids)
        texts, present = await self._load_texts(kind, ids)
        kept = [id_ for id_, text in texts.items() if text == present.get(id_)]
        stored = await self.runtime.vectors.fetch(
            "entities" if kind == KeyKind.NAME else "relations", kept, self.scope.scope_ids.spaces
        )
        self._vectors.update(((kind, id_), rows[0]) for id_, rows in stored.items())
        await self._embed(kind, {id_: text for id_, text in texts.items() if id_ not in stored})

    async def _load_texts(self, kind: ProfileKind, ids: Collection[int]) -> tuple[Mapping[int, str], Mapping[int, str]]:
        """What was embedded of each key that day, and of those whose profile is up to date what is embedded now."""
        search, area, profiles = self.runtime.ledger.search, self.scope.scope_ids, ProfileCache()
        if kind == KeyKind.PAIR:
            profiles.relations.update(await search.load_relations(ids, area))
        ends = {end for relation in profiles.relations.values() for end in relation.ends}
        profiles.entities.update(await search.load_entities(ends if kind == KeyKind.PAIR else ids, area))
        past = ViewLoader(self.runtime, profiles, self.scope.fact_chunks)
        return await past.load_embedded_texts(kind), past.list_present_texts(kind)

    async def _embed(self, kind: ProfileKind, texts: Mapping[int, str]) -> None:
        embedder, tokenizer = self.runtime.embedder, self.runtime.tokenizer
        clipped = [truncate_to_tokens(text, embedder.max_tokens, tokenizer) for text in texts.values()]
        for id_, vector in zip(texts, await embed_with_isolation(embedder, clipped, self.meter), strict=True):
            if not isinstance(vector, EngineError):
                self._vectors[kind, id_] = unit_vectors(vector[np.newaxis])[0]
