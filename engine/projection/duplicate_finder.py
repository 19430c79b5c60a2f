"""Finds entities that may be the same, among new ones first, and lists them with their evidence."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from heapq import nlargest
from typing import TYPE_CHECKING

from engine.knowledge.duplicates.homonyms import find_senses
from engine.knowledge.duplicates.report import Duplicate, DuplicateReport, Homonym, HomonymSense
from engine.knowledge.duplicates.suggestions import (
    SUGGESTION_SCORE,
    PairFeatures,
    is_candidate,
    measure_spelling,
    score_pair,
)
from engine.knowledge.merge import UNKNOWN_TYPE
from engine.storage.ledger.records import KeyKind
from engine.storage.vectors.base import VectorFilter
from engine.text.similarity import unit_vectors
from engine.usage import UsageMeter

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import numpy as np

    from engine.models import Scope
    from engine.runtime import Runtime
    from engine.storage.ledger.records import CandidatePair, ChunkText, ComparedEntity, JoinedName, ScopeIds

BATCH_SIZE = 16  # entities compared at once, without giving way to other work
NEAREST_VECTORS = 5
MAX_PAIRS_PER_ENTITY = 8
MAX_RANKED_PAIRS = 1000  # kept pairs whose neighbors are compared for a list
MAX_SHARED_NAMES = 5
EXCERPT_CHARACTERS = 160
PERSON_TYPE = "person"


@dataclass(slots=True)
class DuplicateFinder:
    """Compares each new entity with a bounded number of others of its space, and lists the likely pairs."""

    runtime: Runtime

    async def compare_batch(self) -> bool:
        """Compare the oldest entities that are not compared yet; returns whether there were any."""
        duplicates = self.runtime.ledger.duplicates
        if not await duplicates.list_uncompared(1):
            return False
        scale = await self.runtime.measure_scale(UsageMeter())
        async with self.runtime.processes.lease("compare names"):
            entities = await duplicates.list_uncompared(BATCH_SIZE)
            if not entities:
                return False
            spelled = await duplicates.find_similar_names(entities)
            vectors = await self._fetch_vectors(entities)
            near = await self._find_nearest(entities, vectors)
            alike = await duplicates.find_names_with_neighbors(entities)
            names = await duplicates.load_names(
                list({id_ for some in (near, alike) for ids in some.values() for id_ in ids})
            )
            named = {name.id: name for name in names}
            others = await self._fetch_vectors([*names, *(found for some in spelled.values() for found in some)])
            pairs = list[tuple[int, int, float, float]]()
            for entity in entities:
                await self.runtime.priority.yield_to_foreground()
                found = {text.id: text for text in spelled[entity.id]}
                shared = alike[entity.id]
                found |= {id_: named[id_] for id_ in (*near.get(entity.id, {}), *shared) if id_ in named}
                cosines = _measure(vectors.get(entity.id), found, others) | near.get(entity.id, {})
                similar = {id_: scale.similarity(cosine) for id_, cosine in cosines.items()}
                pairs += _select_pairs(entity, found.values(), similar, shared)
            await duplicates.save_candidates(entities, pairs)
            return True

    async def compare_all(self) -> None:
        """Compare all entities that are not compared yet."""
        while await self.compare_batch():
            pass

    async def _fetch_vectors(self, entities: Collection[ComparedEntity]) -> dict[int, np.ndarray]:
        spaces = {entity.space for entity in entities}
        rows = await self.runtime.vectors.fetch("entities", {entity.id for entity in entities}, spaces)
        return {id_: unit_vectors(parts)[0] for id_, parts in rows.items()}

    async def _find_nearest(
        self, entities: Sequence[ComparedEntity], vectors: Mapping[int, np.ndarray]
    ) -> dict[int, dict[int, float]]:
        """The cosines of the nearest entities of the same space, by id."""
        spaces, store = {entity.space for entity in entities}, self.runtime.vectors
        rows = await self.runtime.ledger.search.count_by_space(spaces)
        known = [entity for entity in entities if entity.id in vectors]
        hits = []
        for entity in known:  # in turn, because a search in memory does not give way to others
            await self.runtime.priority.yield_to_foreground()
            within = VectorFilter(frozenset({entity.space}), rows_by_space=rows[KeyKind.NAME])
            hits.append(await store.search("entities", vectors[entity.id], NEAREST_VECTORS + 1, within))
            await asyncio.sleep(0)
        return {
            each.id: {hit.id: hit.similarity for hit in found if hit.id != each.id}
            for each, found in zip(known, hits, strict=True)
        }

    async def find_duplicates(self, scope: Scope, limit: int) -> DuplicateReport:
        """At most `limit` suggested and `limit` joined pairs of the scope's spaces."""
        ledger = self.runtime.ledger
        scope_ids = await ledger.search.resolve_scope(scope)
        uncompared = await ledger.duplicates.count_uncompared(scope_ids)  # first: what is compared later is then listed
        pairs = await ledger.duplicates.list_candidates(scope_ids, MAX_RANKED_PAIRS)
        scored = [(score_pair(_build_features(pair)), pair) for pair in pairs]
        best = nlargest(limit, (row for row in scored if row[0] >= SUGGESTION_SCORE), key=lambda each: each[0])
        joined = await ledger.duplicates.list_joined_names(scope_ids, limit)
        wanted = {id_ for _, pair in best for id_ in (pair.a, pair.b)} | {name.target for name in joined}
        texts = await self._load_evidence(wanted, [name.chunk for name in joined if name.chunk], scope_ids)
        return DuplicateReport(
            tuple(_describe_pair(score, pair, texts) for score, pair in best),
            tuple(_describe_join(name, texts) for name in joined),
            uncompared,
            await self._find_homonyms(scope_ids, limit),
        )

    async def _find_homonyms(self, scope_ids: ScopeIds, limit: int) -> tuple[Homonym, ...]:
        """At most `limit` names of the scope's spaces that may mean two things."""
        typed = await self.runtime.ledger.duplicates.list_typed_names(scope_ids)
        found = [(name, senses) for name in typed if (senses := find_senses(name.types))]
        best = nlargest(limit, found, key=lambda each: each[1][-1].sources)
        chunks = sorted({sense.chunk for _, senses in best for sense in senses})
        loaded = await self.runtime.ledger.search.load_chunk_texts(chunks, scope_ids)
        evidence = _Evidence({}, {text.id: text for text in loaded})
        return tuple(
            Homonym(
                each.space,
                each.name,
                tuple(
                    HomonymSense(sense.type, sense.sources, "".join(evidence.quote(each.name, [sense.chunk])))
                    for sense in senses
                ),
            )
            for each, senses in best
        )

    async def _load_evidence(
        self, entities: Collection[int], definitions: Collection[int], scope_ids: ScopeIds
    ) -> _Evidence:
        search = self.runtime.ledger.search
        chunks = await search.find_evidence_chunks(KeyKind.NAME, sorted(entities), 2, None)
        ids = {id_ for found in chunks.values() for id_ in found} | set(definitions)
        texts = await search.load_chunk_texts(sorted(ids), scope_ids)
        return _Evidence(chunks, {text.id: text for text in texts})


@dataclass(frozen=True, slots=True)
class _Evidence:
    """Chunks by entity, and their texts by id."""

    chunks: Mapping[int, Sequence[int]]
    texts: Mapping[int, ChunkText]

    def quote(self, name: str, chunks: Iterable[int]) -> tuple[str, ...]:
        """The text around the name in the first of the chunks that contains it."""
        for id_ in chunks:
            for piece in self.texts[id_].pieces if id_ in self.texts else ():
                place = piece.text.casefold().find(name.casefold())
                if place >= 0:
                    start = max(0, place - EXCERPT_CHARACTERS // 2)
                    return (" ".join(piece.text[start : start + EXCERPT_CHARACTERS].split()),)
        return ()


def _measure(vector: np.ndarray | None, found: Iterable[int], others: Mapping[int, np.ndarray]) -> dict[int, float]:
    return {} if vector is None else {id_: float(vector @ others[id_]) for id_ in found if id_ in others}


def _select_pairs(
    entity: ComparedEntity, others: Iterable[ComparedEntity], similar: Mapping[int, float], shared: Mapping[int, int]
) -> list[tuple[int, int, float, float]]:
    """The best pairs of an entity: (a, b, similarity, score)."""
    pairs = []
    for other in others:
        similarity, common = similar.get(other.id, 0.0), shared.get(other.id, 0)
        names = (entity.canonical, other.canonical)
        score = score_pair(PairFeatures(*names, similarity, common, common, are_linked=not common))
        if is_candidate(*names, similarity) or (common and score >= SUGGESTION_SCORE):
            pairs.append((entity.id, other.id, similarity, score))
    return nlargest(MAX_PAIRS_PER_ENTITY, pairs, key=lambda pair: pair[3])


def _build_features(pair: CandidatePair) -> PairFeatures:
    known = UNKNOWN_TYPE not in pair.types and "" not in pair.types
    fewer = min(len(pair.neighbors_a), len(pair.neighbors_b))
    shared = len(pair.neighbors_a & pair.neighbors_b)
    same_type = pair.types[0] == pair.types[1] if known else None
    are_persons = set(pair.types) == {PERSON_TYPE}
    are_linked = pair.names[1] in pair.neighbors_a or pair.names[0] in pair.neighbors_b
    return PairFeatures(*pair.canonical, pair.similarity, shared, fewer, same_type, are_persons, are_linked)


def _describe_pair(score: float, pair: CandidatePair, evidence: _Evidence) -> Duplicate:
    shared = sorted(pair.neighbors_a & pair.neighbors_b)
    quotes = [
        quote
        for name, id_ in zip(pair.names, (pair.a, pair.b), strict=True)
        for quote in evidence.quote(name, evidence.chunks.get(id_, ()))
    ]
    return Duplicate(
        pair.space,
        *pair.names,
        is_joined=False,
        score=round(score, 3),
        spelling=round(measure_spelling(*pair.canonical), 1),
        similarity=round(pair.similarity, 3),
        shared=tuple(shared[:MAX_SHARED_NAMES]),
        shared_count=len(shared),
        excerpts=tuple(quotes),
    )


def _describe_join(joined: JoinedName, evidence: _Evidence) -> Duplicate:
    chunks = [joined.chunk] if joined.chunk else evidence.chunks.get(joined.target, ())
    return Duplicate(
        joined.space,
        joined.name,
        joined.target_name,
        is_joined=True,
        score=1.0,
        spelling=round(measure_spelling(joined.canonical, joined.target_canonical), 1),
        reason=joined.reason,
        excerpts=evidence.quote(joined.name, chunks),
    )
