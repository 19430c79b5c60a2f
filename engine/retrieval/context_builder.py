"""From what was found to a context: renew, truncate, merge, rerank, and the numbered sources within the budget."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING

from engine.llm.plugin_calls import guarded
from engine.llm.prompts import entity_line, relation_line, source_block
from engine.models import Context, EntityRow, RelationRow
from engine.retrieval import sources as context
from engine.retrieval.pagerank import Fact, Named, walked
from engine.retrieval.prompt_budget import JOINT, NUMBER, fit_sizes, prompt_of, prompt_tokens
from engine.retrieval.search import Leg
from engine.retrieval.views import Refresher
from engine.storage.ledger import names
from engine.storage.ledger.queries import lookup
from engine.storage.ledger.work.stale_keys import Stale

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from engine.llm.base import Reranker
    from engine.models import Condensed, Question, Scope, Within
    from engine.retrieval.search import Known, Searcher, Vectors
    from engine.retrieval.sources import Numbered
    from engine.retrieval.views import EntityView, RelationView
    from engine.runtime import Runtime
    from engine.storage.graph.base import Edge
    from engine.storage.ledger.queries.lookup import ChunkText, PieceText
    from engine.usage import Bill

EVIDENCE = 12  # newest chunks looked at for each entity and relation
PICKED_FROM = 240  # candidates whose vectors are compared, those first that support most
GRAPH_SHARE = 0.5  # of what the prompt leaves, for entities and relations
PER_ITEM = 5  # chunks wanted for an entity or a relation (A7)


@dataclass(frozen=True, slots=True)
class Found:
    """All that a question's searches found, in order, by id."""

    asked: Condensed
    vectors: Vectors | None
    known: Known
    local: Leg = field(default_factory=Leg)
    world: Leg = field(default_factory=Leg)
    chunks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Recalled:
    """A context, with the rows that it draws on, the ledger's generation when it was read, and for which scope."""

    context: Context
    generation: int = 0
    chunks: frozenset[int] = frozenset()
    names: frozenset[int] = frozenset()
    pairs: frozenset[int] = frozenset()
    scope: Scope | None = None


@dataclass(slots=True)
class Draft:
    """A context in the making."""

    runtime: Runtime
    searcher: Searcher
    found: Found
    entities: list[EntityView] = field(default_factory=list)
    relations: list[RelationView] = field(default_factory=list)
    evidence: dict[tuple[Stale, int], list[int]] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)

    @property
    def question(self) -> Question:
        """What was asked."""
        return self.searcher.question

    async def renew(self) -> None:
        """Merge the two legs of the graph search and make views of them; what has no evidence left goes."""
        known = self.found.known
        refresher = Refresher(self.runtime, known, self.searcher.where.facts)
        local, world = self.found.local, self.found.world
        ids = context.round_robin(local.entities, world.entities)
        self.entities = await self.searcher.watch.timed("renew", refresher.entities(ids))
        pairs = context.round_robin(local.relations, world.relations)
        self.relations = await self.searcher.watch.timed("renew", refresher.relations(pairs))

    def truncate(self) -> None:
        """Keep the first entities and relations that fit their budgets, and half of what the prompt leaves."""
        tokenizer, question = self.runtime.tokenizer, self.question
        wanted = question.max_entity_tokens + question.max_relation_tokens
        share = min(1.0, GRAPH_SHARE * self._room(()) / wanted) if wanted else 0.0
        rows = [entity_line(EntityRow(view.name, view.type, view.description)) for view in self.entities]
        self.entities = context.truncate(self.entities, rows, int(share * question.max_entity_tokens), tokenizer)
        rows = [relation_line(_row(view)) for view in self.relations]
        self.relations = context.truncate(self.relations, rows, int(share * question.max_relation_tokens), tokenizer)

    async def merge(self) -> None:
        """The order of the chunks: the vector leg's and those of the graph, dealt in turn."""
        by_entity, by_relation = await asyncio.gather(
            self._evidence(Stale.NAME, [view.ids for view in self.entities]),
            self._evidence(Stale.PAIR, [view.ids for view in self.relations]),
        )
        if self.runtime.options.picking == "walk":
            self.order = context.round_robin(self.found.chunks, await self._walked(by_entity, by_relation))
        else:
            await self._polled(by_entity, by_relation)

    async def _walked(self, by_entity: list[list[int]], by_relation: list[list[int]]) -> list[int]:
        """The chunks of the graph by their nearness to the facts that are most like the question."""
        if not (by_entity or by_relation) or self.found.vectors is None:
            return []
        query, known = self.found.vectors.question, self.found.known
        vectors = await self._chunk_vectors([[*self.found.chunks]], by_entity, by_relation)
        since = time.perf_counter()
        similarity = {chunk: float((parts @ query).max()) for chunk, parts in vectors.items()}
        names = [
            Named(view.canonical, sum(known.entities[id_].mentions for id_ in view.ids), chunks)
            for view, chunks in zip(self.entities, by_entity, strict=True)
        ]
        facts = [
            Fact(view.ends, view.weight, max(known.similarity.get((Stale.PAIR, id_), 0.0) for id_ in view.ids), chunks)
            for view, chunks in zip(self.relations, by_relation, strict=True)
        ]
        near = walked(names, facts, similarity)
        self.searcher.watch.note("walk", since)
        return near

    async def _polled(self, by_entity: list[list[int]], by_relation: list[list[int]]) -> None:
        """The order of LightRAG: the vector leg's chunks, the entities' and the relations', dealt in turn (A7)."""
        first = context.spread(by_entity)
        dealt = {chunk for item in first for chunk in item}
        second = context.spread([[chunk for chunk in item if chunk not in dealt] for item in by_relation])
        vectors = await self._chunk_vectors(first, second)
        self.order = context.round_robin(self.found.chunks, self._picked(first, vectors), self._picked(second, vectors))

    async def _evidence(self, kind: Stale, groups: Sequence[tuple[int, ...]]) -> list[list[int]]:
        ids = [id_ for group in groups for id_ in group]
        if not ids:
            return []
        reading = self.runtime.ledger.read(lookup.evidence, kind, ids, EVIDENCE, self.searcher.where.facts)
        found = await self.searcher.watch.timed("evidence", reading)
        self.evidence.update({(kind, id_): chunks for id_, chunks in found.items()})
        return [list(dict.fromkeys(chunk for id_ in group for chunk in found[id_])) for group in groups]

    async def _chunk_vectors(self, *spreads: list[list[int]]) -> dict[int, np.ndarray]:
        """The vectors of the first candidates of each side, in one call."""
        wanted = [
            chunk
            for spread in spreads
            for chunk in list(dict.fromkeys(chain.from_iterable(spread)))[: PICKED_FROM // len(spreads)]
        ]
        if not wanted:
            return {}
        return await self.searcher.watch.timed("fetch chunks", self.searcher.chunk_vectors(wanted))

    def _picked(self, spread: list[list[int]], vectors: Mapping[int, np.ndarray]) -> list[int]:
        """The chunks most like the question among the evidence; without vectors, by how much they support (A7)."""
        candidates = list(chain.from_iterable(spread))
        if not vectors or self.found.vectors is None or self.runtime.options.picking == "weight":
            return context.pick_by_weight(spread, PER_ITEM)
        number = PER_ITEM * len(spread) // 2
        return context.pick_by_vector(candidates, vectors, self.found.vectors.question, number)

    async def rerank(self, reranker: Reranker, bill: Bill) -> None:
        """Order the chunks by a reranker's scores."""
        texts = self._narrowed(await self._texts(self.order[: 2 * self.question.chunk_top_k]))
        scoring = reranker.rerank(self.found.asked.question, [self._shown(text) for text in texts], bill)
        with guarded(f"The reranker {reranker.name}"):
            scores = await self.searcher.watch.timed("rerank", scoring)
        least = self.runtime.options.min_rerank_score
        self.order = context.apply_rerank([text.id for text in texts], scores, self.question.chunk_top_k, least)

    async def _texts(self, ids: Sequence[int]) -> list[ChunkText]:
        reading = self.runtime.ledger.read(lookup.texts, list(ids), self.searcher.where.area)
        return await self.searcher.watch.timed("texts", reading)

    async def build(self, generation: int) -> Recalled:
        """Number the passages that fit into what is left of the budget, and let the graph's rows name them."""
        texts = self._narrowed(await self._texts(self.order[: 2 * self.question.chunk_top_k]))
        numbered, entities, relations = self._numbered(texts)
        made = Context(
            self.found.asked,
            self.question.mode,
            entities,
            relations,
            numbered.sources,
            self.searcher.watch.spent,
            await self._spaces(),
        )
        return Recalled(
            made,
            generation,
            frozenset(text.id for text in texts),
            frozenset(id_ for view in self.entities for id_ in view.ids),
            frozenset(id_ for view in self.relations for id_ in view.ids),
        )

    def _numbered(self, texts: list[ChunkText]) -> tuple[Numbered, tuple[EntityRow, ...], tuple[RelationRow, ...]]:
        """As many distinct texts as fit beside the rows of the graph, whose numbers take room as well."""
        count = self.runtime.tokenizer.count
        distinct = list({text.text: text for text in reversed(texts)}.values())[::-1][: self.question.chunk_top_k]
        printed = ["\n".join(map(source_block, context.number([text]).sources)) for text in distinct]
        sizes = [count(text) + JOINT for text in printed]
        left = self._room((*map(self._entity, self.entities), *map(self._relation, self.relations)))
        fitting = fit_sizes(sizes, left)
        while True:
            shown = {text.text for text in distinct[:fitting]}
            numbered = context.number(text for text in texts if text.text in shown)
            entities = tuple(self._entity(view, numbered) for view in self.entities)
            relations = tuple(self._relation(view, numbered) for view in self.relations)
            numbers = NUMBER * sum(len(row.sources) for rows in (entities, relations) for row in rows)
            if not fitting or sum(sizes[:fitting]) + numbers <= left:
                return numbered, entities, relations
            fitting = min(fitting - 1, fit_sizes(sizes, left - numbers))

    async def _spaces(self) -> tuple[str, ...]:
        """The spaces whose facts the rows of the graph tell."""
        known = self.found.known
        ids = {known.entities[id_].space for view in self.entities for id_ in view.ids}
        ids |= {known.relations[id_].space for view in self.relations for id_ in view.ids}
        return await self.runtime.ledger.read(names.spaces, ids) if ids else ()

    def _narrowed(self, texts: list[ChunkText]) -> list[ChunkText]:
        """Only the passages that a narrowed question asks for."""
        within = self.question.within
        if not within.narrows:
            return texts
        narrowed = [
            replace(text, pieces=tuple(piece for piece in text.pieces if holds(within, piece))) for text in texts
        ]
        return [text for text in narrowed if text.pieces]

    def _shown(self, text: ChunkText) -> str:
        """What a reranker may see of a chunk: of a narrowed one the passages that are left."""
        narrows = self.question.within.narrows
        return "\n".join(piece.text for piece in text.pieces) if narrows else text.text

    def _room(self, rows: Sequence[EntityRow | RelationRow]) -> int:
        """Tokens left for sources, beside the prompt with history and question, and these rows of the graph (A8)."""
        empty = prompt_of(self.question, Context(self.found.asked, self.question.mode))
        lines = (entity_line(row) if isinstance(row, EntityRow) else relation_line(row) for row in rows)
        graph = sum(self.runtime.tokenizer.count(line) + JOINT for line in lines)
        return context.room_for_sources(self.question.max_total_tokens, prompt_tokens(self.runtime, empty), graph)

    def _entity(self, view: EntityView, numbered: Numbered | None = None) -> EntityRow:
        evidence = [chunk for id_ in view.ids for chunk in self.evidence.get((Stale.NAME, id_), ())]
        numbers = numbered.supporting(evidence, [view.name]) if numbered else ()
        return EntityRow(view.name, view.type, view.description, numbers)

    def _relation(self, view: RelationView, numbered: Numbered | None = None) -> RelationRow:
        evidence = [chunk for id_ in view.ids for chunk in self.evidence.get((Stale.PAIR, id_), ())]
        numbers = numbered.supporting(evidence, [view.source, view.target]) if numbered else ()
        return replace(_row(view), sources=numbers)

    async def around(
        self, ids: Sequence[int], edges: Sequence[Edge], limit: int
    ) -> tuple[EntityRow | None, tuple[RelationRow, ...], tuple[EntityRow, ...]]:
        """The views of an entity, of its `limit` weightiest relations and of their other ends, without sources."""
        known, where = self.found.known, self.searcher.where
        ends = {end for edge in edges for end in (edge.source, edge.target)}
        known.entities.update(await self.runtime.ledger.read(lookup.entities, {*ids, *ends}, where.area))
        known.relations.update(
            await self.runtime.ledger.read(lookup.relations, [edge.id for edge in edges], where.area)
        )
        met = [edge for edge in edges if edge.id in known.relations]
        kept = sorted(met, key=lambda edge: (-edge.weight, known.identity(edge.id)))[:limit]
        others = {end for edge in kept for end in (edge.source, edge.target)} - set(ids)
        refresher = Refresher(self.runtime, known, where.facts)
        one = await refresher.entities(id_ for id_ in ids if id_ in known.entities)
        relations = await refresher.relations(edge.id for edge in kept)
        beyond = await refresher.entities(sorted(others & known.entities.keys(), key=known.canonical))
        rows = [EntityRow(view.name, view.type, view.description) for view in one]
        return (
            rows[0] if rows else None,
            tuple(_row(view) for view in relations),
            tuple(EntityRow(view.name, view.type, view.description) for view in beyond),
        )


def _row(view: RelationView) -> RelationRow:
    return RelationRow(view.source, view.target, view.keywords, view.description, view.weight)


def holds(within: Within, piece: PieceText) -> bool:
    """Whether a passage is among those that a narrowed question asks for."""
    return (
        (not within.documents or piece.document in within.documents)
        and (not within.rooms or piece.room in within.rooms)
        and (not within.authors or piece.author in within.authors)
        and (within.since is None or (piece.time is not None and piece.time >= within.since))
        and (within.until is None or (piece.time is not None and piece.time <= within.until))
    )
