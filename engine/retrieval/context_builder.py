"""From what was found to a context: renew, truncate, merge, rerank, and the numbered sources within the budget."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING

from engine.llm.plugin_calls import guard_plugin_call
from engine.llm.prompts import render_entity, render_relation, render_source
from engine.models import Context, ContextEntity, ContextRelation
from engine.retrieval import sources as context
from engine.retrieval.pagerank import EntityNode, FactEdge, rank_by_pagerank
from engine.retrieval.prompt_budget import (
    JOIN_TOKENS,
    SOURCE_NUMBER_TOKENS,
    build_prompt,
    count_fitting_sizes,
    count_prompt_tokens,
)
from engine.retrieval.results import RetrievalResult, SearchHits
from engine.retrieval.views import ViewLoader
from engine.storage.ledger import names
from engine.storage.ledger.queries import lookup
from engine.storage.ledger.work.stale_keys import KeyKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from engine.llm.base import Reranker
    from engine.models import Filters, Question
    from engine.retrieval.search import Searcher
    from engine.retrieval.sources import NumberedSources
    from engine.retrieval.views import EntityView, RelationView
    from engine.runtime import Runtime
    from engine.storage.graph.base import GraphEdge
    from engine.storage.ledger.queries.lookup import ChunkText, PieceText
    from engine.usage import UsageMeter

MAX_EVIDENCE_CHUNKS = 12  # newest chunks looked at for each entity and relation
MAX_VECTOR_CANDIDATES = 240  # candidates whose vectors are compared, those first that support most
GRAPH_SHARE = 0.5  # of what the prompt leaves, for entities and relations
CHUNKS_PER_ITEM = 5  # chunks wanted for an entity or a relation (A7)


@dataclass(slots=True)
class ContextBuilder:
    """A context in the making."""

    runtime: Runtime
    searcher: Searcher
    hits: SearchHits
    entities: list[EntityView] = field(default_factory=list)
    relations: list[RelationView] = field(default_factory=list)
    evidence: dict[tuple[KeyKind, int], list[int]] = field(default_factory=dict)
    chunk_order: list[int] = field(default_factory=list)

    @property
    def question(self) -> Question:
        """What was asked."""
        return self.searcher.question

    async def load_views(self) -> None:
        """Merge the two legs of the graph search and make views of them; what has no evidence left goes."""
        known = self.hits.profile_cache
        refresher = ViewLoader(self.runtime, known, self.searcher.scope.fact_chunks)
        local, world = self.hits.local_leg, self.hits.global_leg
        ids = context.round_robin(local.entities, world.entities)
        self.entities = await self.searcher.stopwatch.measure("renew", refresher.load_entities(ids))
        pairs = context.round_robin(local.relations, world.relations)
        self.relations = await self.searcher.stopwatch.measure("renew", refresher.load_relations(pairs))

    def truncate_rows(self) -> None:
        """Keep the first entities and relations that fit their budgets, and half of what the prompt leaves."""
        tokenizer, question = self.runtime.tokenizer, self.question
        wanted = question.max_entity_tokens + question.max_relation_tokens
        share = min(1.0, GRAPH_SHARE * self._available_tokens(()) / wanted) if wanted else 0.0
        rows = [render_entity(ContextEntity(view.name, view.type, view.description)) for view in self.entities]
        self.entities = context.truncate_to_budget(
            self.entities, rows, int(share * question.max_entity_tokens), tokenizer
        )
        rows = [render_relation(_build_relation_row(view)) for view in self.relations]
        self.relations = context.truncate_to_budget(
            self.relations, rows, int(share * question.max_relation_tokens), tokenizer
        )

    async def rank_chunks(self) -> None:
        """The order of the chunks: the vector leg's and those of the graph, dealt in turn."""
        by_entity, by_relation = await asyncio.gather(
            self._load_evidence(KeyKind.NAME, [view.ids for view in self.entities]),
            self._load_evidence(KeyKind.PAIR, [view.ids for view in self.relations]),
        )
        if self.runtime.options.chunk_selection == "walk":
            near = await self._rank_by_pagerank(by_entity, by_relation)
            self.chunk_order = context.round_robin(self.hits.chunks, near)
        else:
            await self._rank_by_polling(by_entity, by_relation)

    async def _rank_by_pagerank(self, by_entity: list[list[int]], by_relation: list[list[int]]) -> list[int]:
        """The chunks of the graph by their nearness to the facts that are most like the question."""
        if not (by_entity or by_relation) or self.hits.vectors is None:
            return []
        query, known = self.hits.vectors.question, self.hits.profile_cache
        vectors = await self._load_chunk_vectors([[*self.hits.chunks]], by_entity, by_relation)
        since = time.perf_counter()
        similarity = {chunk: float((parts @ query).max()) for chunk, parts in vectors.items()}
        names = [
            EntityNode(view.canonical, sum(known.entities[id_].mentions for id_ in view.ids), chunks)
            for view, chunks in zip(self.entities, by_entity, strict=True)
        ]
        likeness = [
            max(known.similarities.get((KeyKind.PAIR, id_), 0.0) for id_ in view.ids) for view in self.relations
        ]
        facts = [
            FactEdge(view.ends, view.weight, alike, chunks)
            for view, alike, chunks in zip(self.relations, likeness, by_relation, strict=True)
        ]
        near = rank_by_pagerank(names, facts, similarity)
        self.searcher.stopwatch.record("walk", since)
        return near

    async def _rank_by_polling(self, by_entity: list[list[int]], by_relation: list[list[int]]) -> None:
        """The order of LightRAG: the vector leg's chunks, the entities' and the relations', dealt in turn (A7)."""
        first = context.deduplicate_items(by_entity)
        dealt = {chunk for item in first for chunk in item}
        second = context.deduplicate_items([[chunk for chunk in item if chunk not in dealt] for item in by_relation])
        vectors = await self._load_chunk_vectors(first, second)
        self.chunk_order = context.round_robin(
            self.hits.chunks, self._pick_chunks(first, vectors), self._pick_chunks(second, vectors)
        )

    async def _load_evidence(self, kind: KeyKind, groups: Sequence[tuple[int, ...]]) -> list[list[int]]:
        ids = [id_ for group in groups for id_ in group]
        if not ids:
            return []
        among = self.searcher.scope.fact_chunks
        reading = self.runtime.ledger.read(lookup.find_evidence_chunks, kind, ids, MAX_EVIDENCE_CHUNKS, among)
        found = await self.searcher.stopwatch.measure("evidence", reading)
        self.evidence.update({(kind, id_): chunks for id_, chunks in found.items()})
        return [list(dict.fromkeys(chunk for id_ in group for chunk in found[id_])) for group in groups]

    async def _load_chunk_vectors(self, *spreads: list[list[int]]) -> dict[int, np.ndarray]:
        """The vectors of the first candidates of each side, in one call."""
        wanted = [
            chunk
            for spread in spreads
            for chunk in list(dict.fromkeys(chain.from_iterable(spread)))[: MAX_VECTOR_CANDIDATES // len(spreads)]
        ]
        if not wanted:
            return {}
        return await self.searcher.stopwatch.measure("fetch chunks", self.searcher.load_chunk_vectors(wanted))

    def _pick_chunks(self, spread: list[list[int]], vectors: Mapping[int, np.ndarray]) -> list[int]:
        """The chunks most like the question among the evidence; without vectors, by how much they support (A7)."""
        candidates = list(chain.from_iterable(spread))
        if not vectors or self.hits.vectors is None or self.runtime.options.chunk_selection == "weight":
            return context.pick_by_weight(spread, CHUNKS_PER_ITEM)
        number = CHUNKS_PER_ITEM * len(spread) // 2
        return context.pick_by_vector(candidates, vectors, self.hits.vectors.question, number)

    async def rerank(self, reranker: Reranker, bill: UsageMeter) -> None:
        """Order the chunks by a reranker's scores."""
        texts = self._filter_passages(await self._load_texts(self.chunk_order[: 2 * self.question.chunk_top_k]))
        scoring = reranker.rerank(self.hits.query.question, [self._render_for_reranker(text) for text in texts], bill)
        with guard_plugin_call(f"The reranker {reranker.name}"):
            scores = await self.searcher.stopwatch.measure("rerank", scoring)
        least = self.runtime.options.min_rerank_score
        self.chunk_order = context.apply_rerank([text.id for text in texts], scores, self.question.chunk_top_k, least)

    async def _load_texts(self, ids: Sequence[int]) -> list[ChunkText]:
        reading = self.runtime.ledger.read(lookup.load_chunk_texts, list(ids), self.searcher.scope.scope_ids)
        return await self.searcher.stopwatch.measure("texts", reading)

    async def build(self, generation: int) -> RetrievalResult:
        """Number the passages that fit into what is left of the budget, and let the graph's rows name them."""
        texts = self._filter_passages(await self._load_texts(self.chunk_order[: 2 * self.question.chunk_top_k]))
        numbered, entities, relations = self._number_sources(texts)
        made = Context(
            self.hits.query,
            self.question.mode,
            entities,
            relations,
            numbered.sources,
            self.searcher.stopwatch.timings,
            await self._load_spaces(),
        )
        return RetrievalResult(
            made,
            generation,
            frozenset(text.id for text in texts),
            frozenset(id_ for view in self.entities for id_ in view.ids),
            frozenset(id_ for view in self.relations for id_ in view.ids),
        )

    def _number_sources(
        self, texts: list[ChunkText]
    ) -> tuple[NumberedSources, tuple[ContextEntity, ...], tuple[ContextRelation, ...]]:
        """As many distinct texts as fit beside the rows of the graph, whose numbers take room as well."""
        count = self.runtime.tokenizer.count
        distinct = list({text.text: text for text in reversed(texts)}.values())[::-1][: self.question.chunk_top_k]
        printed = ["\n".join(map(render_source, context.number_sources([text]).sources)) for text in distinct]
        sizes = [count(text) + JOIN_TOKENS for text in printed]
        left = self._available_tokens(
            (*map(self._build_entity, self.entities), *map(self._build_relation, self.relations))
        )
        fitting = count_fitting_sizes(sizes, left)
        while True:
            shown = {text.text for text in distinct[:fitting]}
            numbered = context.number_sources(text for text in texts if text.text in shown)
            entities = tuple(self._build_entity(view, numbered) for view in self.entities)
            relations = tuple(self._build_relation(view, numbered) for view in self.relations)
            numbers = SOURCE_NUMBER_TOKENS * sum(len(row.sources) for rows in (entities, relations) for row in rows)
            if not fitting or sum(sizes[:fitting]) + numbers <= left:
                return numbered, entities, relations
            fitting = min(fitting - 1, count_fitting_sizes(sizes, left - numbers))

    async def _load_spaces(self) -> tuple[str, ...]:
        """The spaces whose facts the rows of the graph tell."""
        known = self.hits.profile_cache
        ids = {known.entities[id_].space for view in self.entities for id_ in view.ids}
        ids |= {known.relations[id_].space for view in self.relations for id_ in view.ids}
        return await self.runtime.ledger.read(names.load_space_names, ids) if ids else ()

    def _filter_passages(self, texts: list[ChunkText]) -> list[ChunkText]:
        """Only the passages that a narrowed question asks for."""
        within = self.question.filters
        if not within.is_active:
            return texts
        narrowed = [
            replace(text, pieces=tuple(piece for piece in text.pieces if matches_filters(within, piece)))
            for text in texts
        ]
        return [text for text in narrowed if text.pieces]

    def _render_for_reranker(self, text: ChunkText) -> str:
        """What a reranker may see of a chunk: of a narrowed one the passages that are left."""
        narrows = self.question.filters.is_active
        return "\n".join(piece.text for piece in text.pieces) if narrows else text.text

    def _available_tokens(self, rows: Sequence[ContextEntity | ContextRelation]) -> int:
        """Tokens left for sources, beside the prompt with history and question, and these rows of the graph (A8)."""
        empty = build_prompt(self.question, Context(self.hits.query, self.question.mode))
        lines = (render_entity(row) if isinstance(row, ContextEntity) else render_relation(row) for row in rows)
        graph = sum(self.runtime.tokenizer.count(line) + JOIN_TOKENS for line in lines)
        return context.tokens_for_sources(
            self.question.max_total_tokens, count_prompt_tokens(self.runtime, empty), graph
        )

    def _build_entity(self, view: EntityView, numbered: NumberedSources | None = None) -> ContextEntity:
        evidence = [chunk for id_ in view.ids for chunk in self.evidence.get((KeyKind.NAME, id_), ())]
        numbers = numbered.find_supporting(evidence, [view.name]) if numbered else ()
        return ContextEntity(view.name, view.type, view.description, numbers)

    def _build_relation(self, view: RelationView, numbered: NumberedSources | None = None) -> ContextRelation:
        evidence = [chunk for id_ in view.ids for chunk in self.evidence.get((KeyKind.PAIR, id_), ())]
        numbers = numbered.find_supporting(evidence, [view.source, view.target]) if numbered else ()
        return replace(_build_relation_row(view), sources=numbers)

    async def build_neighbourhood(
        self, ids: Sequence[int], edges: Sequence[GraphEdge], limit: int
    ) -> tuple[ContextEntity | None, tuple[ContextRelation, ...], tuple[ContextEntity, ...]]:
        """The views of an entity, of its `limit` weightiest relations and of their other ends, without sources."""
        known, where = self.hits.profile_cache, self.searcher.scope
        ends = {end for edge in edges for end in (edge.source, edge.target)}
        known.entities.update(await self.runtime.ledger.read(lookup.load_entities, {*ids, *ends}, where.scope_ids))
        known.relations.update(
            await self.runtime.ledger.read(lookup.load_relations, [edge.id for edge in edges], where.scope_ids)
        )
        met = [edge for edge in edges if edge.id in known.relations]
        kept = sorted(met, key=lambda edge: (-edge.weight, known.relation_sort_key(edge.id)))[:limit]
        others = {end for edge in kept for end in (edge.source, edge.target)} - set(ids)
        refresher = ViewLoader(self.runtime, known, where.fact_chunks)
        one = await refresher.load_entities(id_ for id_ in ids if id_ in known.entities)
        relations = await refresher.load_relations(edge.id for edge in kept)
        beyond = await refresher.load_entities(sorted(others & known.entities.keys(), key=known.entity_sort_key))
        rows = [ContextEntity(view.name, view.type, view.description) for view in one]
        return (
            rows[0] if rows else None,
            tuple(_build_relation_row(view) for view in relations),
            tuple(ContextEntity(view.name, view.type, view.description) for view in beyond),
        )


def _build_relation_row(view: RelationView) -> ContextRelation:
    return ContextRelation(view.source, view.target, view.keywords, view.description, view.weight)


def matches_filters(within: Filters, piece: PieceText) -> bool:
    """Whether a passage is among those that a narrowed question asks for."""
    return (
        (not within.documents or piece.document in within.documents)
        and (not within.rooms or piece.room in within.rooms)
        and (not within.authors or piece.author in within.authors)
        and (within.since is None or (piece.time is not None and piece.time >= within.since))
        and (within.until is None or (piece.time is not None and piece.time <= within.until))
    )
