"""Build a context from search hits: load profiles, truncate, rank chunks, rerank, number sources within the budget."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import structlog

from engine.llm.base import guard_plugin_call
from engine.llm.offline.supersession.sources import find_replaced_sources
from engine.llm.prompts import render_entity, render_relation
from engine.llm.source_lines import render_source, render_sources
from engine.models import Context, ContextEntity, ContextRelation, GraphRows
from engine.retrieval.graph.chunk_ranking import StatedChunkRanking
from engine.retrieval.passage_scores import score_passages
from engine.retrieval.ranking.chunk_selection import deduplicate_sides, pick_chunks
from engine.retrieval.ranking.fusion import apply_rerank, order_mix, round_robin
from engine.retrieval.ranking.graph_chunks import EntityNode, FactEdge, vector_candidates
from engine.retrieval.ranking.passages import SourceChoice, order_pieces
from engine.retrieval.ranking.row_choice import RowBudget, RowCandidate, RowChoice
from engine.retrieval.results import RetrievalResult, SearchHits
from engine.retrieval.sources import (
    JOIN_TOKENS,
    MAX_SOURCE_NUMBERS,
    SOURCE_NUMBER_TOKENS,
    build_prompt,
    build_source,
    build_sources,
    count_fitting_sizes,
    count_prompt_tokens,
    list_distinct,
    matches_filters,
    number_sources,
    tokens_for_sources,
    truncate_to_budget,
    with_equal_texts,
)
from engine.retrieval.views import ViewLoader
from engine.scheduling.supervisor import describe_error, gather_or_cancel
from engine.storage.ledger.records import KeyKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from engine.llm.base import Reranker
    from engine.models import Question
    from engine.options import RankingOptions
    from engine.retrieval.ranking.passages import PassageKey, PieceId
    from engine.retrieval.search import Searcher
    from engine.retrieval.sources import NumberedSources
    from engine.retrieval.views import EntityView, RelationView
    from engine.runtime import Runtime
    from engine.storage.graph.base import GraphEdge
    from engine.storage.ledger.records import ChunkText, PieceText
    from engine.usage import UsageMeter


log = structlog.get_logger(__name__)


@dataclass(slots=True)
class ContextBuilder:
    """The context of one question; its methods are called in the order in which they are defined."""

    runtime: Runtime
    searcher: Searcher
    hits: SearchHits
    entities: list[EntityView] = field(default_factory=list)
    relations: list[RelationView] = field(default_factory=list)
    evidence: dict[tuple[KeyKind, int], list[int]] = field(default_factory=dict)
    chunk_order: list[int] = field(default_factory=list)
    prompt_tokens: int = 0  # of the prompt with history and question, without context
    graph_tokens: int = 0  # of the rows of the graph
    is_reranked: bool = False  # what a reranker left out is no source
    unranked: bool = False  # the reranker failed

    @property
    def question(self) -> Question:
        """The question that is answered."""
        return self.searcher.question

    @property
    def ranking_options(self) -> RankingOptions:
        """The numbers of the ranking."""
        return self.runtime.options.ranking

    async def load_views(self) -> None:
        """Merge the two legs of the graph search, and load what the question may see of each entity and relation.

        Those without evidence are left out.
        """
        loader = ViewLoader(self.runtime, self.hits.profile_cache, self.searcher.scope.fact_chunks)
        local_leg, global_leg = self.hits.local_leg, self.hits.global_leg
        ids = round_robin(local_leg.entities, global_leg.entities)
        self.entities = await self.searcher.stopwatch.measure("renew", loader.load_entities(ids))
        pairs = round_robin(local_leg.relations, global_leg.relations)
        self.relations = await self.searcher.stopwatch.measure("renew", loader.load_relations(pairs))

    def truncate_rows(self) -> None:
        """Keep the first rows that fit their budgets, and their share of the prompt if it shows all of them."""
        tokenizer, question = self.runtime.tokenizer, self.question
        prompt = build_prompt(question, Context(self.hits.query, question.mode), self.runtime.clock.now())
        self.prompt_tokens = count_prompt_tokens(self.runtime, prompt)
        budget = question.max_entity_tokens + question.max_relation_tokens
        available = self.ranking_options.graph_token_share * self._count_available_tokens()
        in_prompt = self.ranking_options.graph_rows == "all"
        share = min(1.0, available / budget) if budget and in_prompt else 1.0
        rows = (render_entity(ContextEntity(view.name, view.type, view.description)) for view in self.entities)
        most = int(share * question.max_entity_tokens)
        self.entities, entity_tokens = truncate_to_budget(self.entities, rows, most, tokenizer)
        rows = (render_relation(view.to_row()) for view in self.relations)
        most = int(share * question.max_relation_tokens)
        self.relations, relation_tokens = truncate_to_budget(self.relations, rows, most, tokenizer)
        self.graph_tokens = entity_tokens + relation_tokens if in_prompt else 0

    async def rank_chunks(self) -> None:
        """Rank the chunks of all legs: for mix the walk's after the first, else in turn one of each leg."""
        by_entity, by_relation = await gather_or_cancel(
            self._load_evidence(KeyKind.NAME, [view.ids for view in self.entities]),
            self._load_evidence(KeyKind.PAIR, [view.ids for view in self.relations]),
        )
        if self.ranking_options.chunk_selection == "walk" and self.question.mode == "mix":
            stated = (chunk for chunks in (*by_relation, *by_entity) for chunk in chunks)
            self.chunk_order = order_mix(self.hits.chunks, self.hits.walk, stated)
            return
        if self.ranking_options.chunk_selection == "walk":
            rankings = [await self._rank_by_walks(by_entity, by_relation)]
        else:
            rankings = await self._select_graph_chunks(by_entity, by_relation)
        self.chunk_order = round_robin(self.hits.chunks, *rankings)

    async def _rank_by_walks(self, by_entity: list[list[int]], by_relation: list[list[int]]) -> list[int]:
        """Rank the chunks of the graph by random walks from the names of the question and the facts nearest to it."""
        if not (by_entity or by_relation) or self.hits.vectors is None:
            return []
        profiles, spaces = self.hits.profile_cache, self.searcher.scope.chunk_spaces
        ids = vector_candidates(self.ranking_options, [self.hits.chunks], by_entity, by_relation)
        compared = await self.searcher.measure_similarities("chunks", ids, self.hits.vectors, spaces) if ids else {}
        entities = [
            EntityNode(view.canonical, sum(profiles.entities[id_].mentions for id_ in view.ids), chunks)
            for view, chunks in zip(self.entities, by_entity, strict=True)
        ]
        facts = [
            FactEdge(view.ends, view.weight, profiles.best_similarity(KeyKind.PAIR, view.ids), chunks)
            for view, chunks in zip(self.relations, by_relation, strict=True)
        ]
        similarity = {chunk: max(parts) for chunk, parts in compared.items()}
        return await StatedChunkRanking(self.searcher, self.hits, self.hits.vectors).rank(entities, facts, similarity)

    async def _select_graph_chunks(self, by_entity: list[list[int]], by_relation: list[list[int]]) -> list[list[int]]:
        """Select chunks of the entities, and of the relations, as LightRAG does."""
        entity_chunks, relation_chunks = deduplicate_sides(by_entity, by_relation)
        vectors = await self._load_chunk_vectors(entity_chunks, relation_chunks)
        query, options = self.hits.vectors.question if self.hits.vectors else None, self.ranking_options
        return [pick_chunks(side, vectors, query, options) for side in (entity_chunks, relation_chunks)]

    async def _load_evidence(self, kind: KeyKind, groups: Sequence[tuple[int, ...]]) -> list[list[int]]:
        ids = [id_ for group in groups for id_ in group]
        if not ids:
            return []
        among = self.searcher.scope.fact_chunks
        limit = self.ranking_options.max_evidence_chunks
        reading = self.runtime.ledger.search.find_evidence_chunks(kind, ids, limit, among)
        found = await self.searcher.stopwatch.measure("evidence", reading)
        self.evidence.update({(kind, id_): chunks for id_, chunks in found.items()})
        return [list(dict.fromkeys(chunk for id_ in group for chunk in found[id_])) for group in groups]

    async def _load_chunk_vectors(self, *sides: Sequence[Sequence[int]]) -> dict[int, np.ndarray]:
        """The vectors of the first candidates of each side, in one call."""
        ids = vector_candidates(self.ranking_options, *sides)
        if not ids:
            return {}
        fetching = self.runtime.vectors.fetch("chunks", ids, self.searcher.scope.chunk_spaces)
        return await self.searcher.stopwatch.measure("fetch chunks", fetching)

    async def rerank(self, reranker: Reranker, meter: UsageMeter) -> None:
        """Order the chunks by a reranker's scores; where it fails, they keep their order."""
        texts = await self._load_best_texts()
        scoring = reranker.rerank(self.hits.query.question, [self._render_for_reranker(text) for text in texts], meter)
        try:
            with guard_plugin_call(f"The reranker {reranker.name}"):
                scores = await self.searcher.stopwatch.measure("rerank", scoring)
        except Exception as error:  # noqa: BLE001 - a failed helper call must not fail the question
            log.warning("retrieval.not_reranked", error=describe_error(error))
            self.unranked = True
            return
        lowest = self.ranking_options.min_rerank_score
        self.is_reranked = True
        self.chunk_order = apply_rerank([text.id for text in texts], scores, self.question.chunk_top_k, lowest)

    async def _load_best_texts(self) -> list[ChunkText]:
        """The texts of the first chunks, without the passages that the filters exclude."""
        ids = self.chunk_order[: self.ranking_options.text_overfetch * self.question.chunk_top_k]
        reading = self.runtime.ledger.search.load_chunk_texts(list(ids), self.searcher.scope.scope_ids)
        return self._filter_passages(await self.searcher.stopwatch.measure("texts", reading))

    async def build(self) -> RetrievalResult:
        """Number the passages that fit into the remaining budget, and cite them in the rows of the graph."""
        texts = await self._load_best_texts()
        scores = await score_passages(self.searcher, self.hits, texts)
        numbered, shown = await self._choose_sources(texts, scores)
        entities, relations = self._build_rows(numbered)
        context = Context(
            self.hits.query,
            self.question.mode,
            entities,
            relations,
            numbered.sources,
            self.searcher.stopwatch.timings,
            await self._load_spaces(),
            prompt_rows=self._excerpt_rows(entities, relations, shown),
            unranked=self.unranked,
            replacements=await asyncio.to_thread(find_replaced_sources, numbered.sources),
        )
        return RetrievalResult(
            context,
            self.searcher.scope.generation,
            frozenset(text.id for text in texts),
            frozenset(id_ for view in self.entities for id_ in view.ids),
            frozenset(id_ for view in self.relations for id_ in view.ids),
        )

    async def _choose_sources(
        self, texts: list[ChunkText], scores: Mapping[PassageKey, float]
    ) -> tuple[NumberedSources, Mapping[int, str] | None]:
        """Number the sources that fit, and choose the rows of the graph; None: those of all entities and relations."""
        distinct = list_distinct(texts)
        if self.ranking_options.graph_rows == "all":
            return self._number_fitting(texts, distinct[: self.question.chunk_top_k], scores), None
        candidates = await self._list_candidates()
        stated = [] if self.is_reranked else await self._load_evidence_texts(candidates, {text.id for text in texts})
        choice = SourceChoice(list_distinct([*texts, *stated]), self._measure_piece, self.question.chunk_top_k)
        rows = self._choose_rows(candidates, choice, order_pieces(distinct, scores))
        return number_sources(with_equal_texts(choice.list_chosen(), [*texts, *stated]), scores), rows

    def _choose_rows(
        self, candidates: Sequence[RowCandidate], choice: SourceChoice, order: Sequence[PieceId]
    ) -> dict[int, str]:
        """Fill the choice with sources, rows of the graph and what supports them, then with further sources."""
        left, chunks, share = self._count_available_tokens(), choice.max_chunks, self.ranking_options.graph_token_share
        if not candidates:
            choice.fill(order, left, chunks)
            return {}
        choice.fill(order, left - int(share * left), chunks - int(share * chunks))
        budget = RowBudget(int(share * left), left, chunks, self._measure_row)
        rows = RowChoice(candidates, choice, budget, self.hits.query.question).choose()
        spent = sum(self._measure_row(index, text) for index, text in rows.items())
        choice.fill(order, left - spent, chunks)
        return rows

    async def _list_candidates(self) -> list[RowCandidate]:
        """The first entities, then the first relations, as candidates for rows."""
        most = self.ranking_options.max_row_candidates
        ids = [id_ for view in self.entities[:most] for id_ in view.ids]
        spellings = await self.runtime.ledger.walks.load_spellings(ids) if ids else {}
        entities = [
            RowCandidate(
                (view.name,),
                view.description,
                self._list_evidence(KeyKind.NAME, view.ids),
                tuple(dict.fromkeys(name for id_ in view.ids for name in spellings[id_])),
            )
            for view in self.entities[:most]
        ]
        relations = [
            RowCandidate((view.source, view.target), view.description, self._list_evidence(KeyKind.PAIR, view.ids))
            for view in self.relations[:most]
        ]
        return entities + relations

    def _measure_piece(self, piece: PieceText, above: PieceText | None) -> int:
        """The tokens of a piece as a source, below another one of its chunk or as the first."""
        source = build_source(piece, "", None, 0, 1)
        rendered = render_source(source, build_source(above, "", None, 0, 1) if above else None)
        return self.runtime.tokenizer.count(rendered) + JOIN_TOKENS

    def _measure_row(self, index: int, text: str) -> int:
        """The tokens of the row of a candidate with this text."""
        entities = self.entities[: self.ranking_options.max_row_candidates]
        if index < len(entities):
            view = entities[index]
            row = render_entity(ContextEntity(view.name, view.type, text))
        else:
            row = render_relation(replace(self.relations[index - len(entities)].to_row(), description=text))
        return self.runtime.tokenizer.count(row) + JOIN_TOKENS + SOURCE_NUMBER_TOKENS * MAX_SOURCE_NUMBERS

    async def _load_evidence_texts(self, candidates: Sequence[RowCandidate], known: set[int]) -> list[ChunkText]:
        """The texts of further chunks that state the candidates, without passages that the filters exclude."""
        ids = dict.fromkeys(chunk for row in candidates for chunk in row.evidence if chunk not in known)
        if not ids:
            return []
        most = self.ranking_options.max_row_evidence
        reading = self.runtime.ledger.search.load_chunk_texts(list(ids)[:most], self.searcher.scope.scope_ids)
        return self._filter_passages(await self.searcher.stopwatch.measure("evidence texts", reading))

    def _build_rows(self, numbered: NumberedSources) -> tuple[tuple[ContextEntity, ...], tuple[ContextRelation, ...]]:
        """The rows of the graph, which cite numbered passages."""
        entities = tuple(self._build_entity(view, numbered) for view in self.entities)
        return entities, tuple(self._build_relation(view, numbered) for view in self.relations)

    def _number_fitting(
        self, texts: list[ChunkText], distinct: Sequence[ChunkText], scores: Mapping[PassageKey, float]
    ) -> NumberedSources:
        """Number the distinct texts that fit next to the rows of the graph and the source numbers in them."""
        count = self.runtime.tokenizer.count
        rendered = ["\n".join(render_sources(list(build_sources([text], {}).values()))) for text in distinct]
        sizes = [count(text) + JOIN_TOKENS for text in rendered]
        left = self._count_available_tokens()
        fitting = count_fitting_sizes(sizes, left)
        while True:
            shown = {text.text for text in distinct[:fitting]}
            numbered = number_sources([text for text in texts if text.text in shown], scores)
            entities, relations = self._build_rows(numbered)
            numbers = SOURCE_NUMBER_TOKENS * sum(len(row.sources) for rows in (entities, relations) for row in rows)
            if not fitting or sum(sizes[:fitting]) + numbers <= left:
                return numbered
            fitting = min(fitting - 1, count_fitting_sizes(sizes, left - numbers))

    async def _load_spaces(self) -> tuple[str, ...]:
        """The spaces whose facts the rows of the graph state."""
        profiles = self.hits.profile_cache
        ids = {profiles.entities[id_].space for view in self.entities for id_ in view.ids}
        ids |= {profiles.relations[id_].space for view in self.relations for id_ in view.ids}
        return await self.runtime.ledger.names.load_space_names(ids) if ids else ()

    def _filter_passages(self, texts: list[ChunkText]) -> list[ChunkText]:
        """The passages that match the question's filters."""
        filters = self.question.filters
        if not filters.is_active:
            return texts
        filtered = [
            replace(text, pieces=tuple(piece for piece in text.pieces if matches_filters(filters, piece)))
            for text in texts
        ]
        return [text for text in filtered if text.pieces]

    def _render_for_reranker(self, text: ChunkText) -> str:
        """The text of a chunk for the reranker; with filters, only the passages that match them."""
        return "\n".join(piece.text for piece in text.pieces) if self.question.filters.is_active else text.text

    def _count_available_tokens(self) -> int:
        """Tokens left for sources."""
        return tokens_for_sources(self.question.max_total_tokens, self.prompt_tokens, self.graph_tokens)

    def _excerpt_rows(
        self, entities: Sequence[ContextEntity], relations: Sequence[ContextRelation], shown: Mapping[int, str] | None
    ) -> GraphRows | None:
        """The rows that the prompt shows, with the text that they show; a row without sources is left out."""
        if shown is None:
            return None
        first = min(len(entities), self.ranking_options.max_row_candidates)
        found = [replace(entities[at], description=text) for at, text in shown.items() if at < first]
        links = [replace(relations[at - first], description=text) for at, text in shown.items() if at >= first]
        return GraphRows(tuple(row for row in found if row.sources), tuple(row for row in links if row.sources))

    def _list_evidence(self, kind: KeyKind, ids: Sequence[int]) -> list[int]:
        """The chunks that state a name or pair, the newest first."""
        return list(dict.fromkeys(chunk for id_ in ids for chunk in self.evidence.get((kind, id_), ())))

    def _build_entity(self, view: EntityView, numbered: NumberedSources) -> ContextEntity:
        evidence = self._list_evidence(KeyKind.NAME, view.ids)
        return ContextEntity(view.name, view.type, view.description, numbered.find_supporting(evidence, [view.name]))

    def _build_relation(self, view: RelationView, numbered: NumberedSources) -> ContextRelation:
        evidence = self._list_evidence(KeyKind.PAIR, view.ids)
        return view.to_row(numbered.find_supporting(evidence, [view.source, view.target]))

    async def build_neighborhood(
        self, ids: Sequence[int], edges: Sequence[GraphEdge], limit: int
    ) -> tuple[ContextEntity | None, tuple[ContextRelation, ...], tuple[ContextEntity, ...]]:
        """An entity, its `limit` heaviest relations and the entities at their other ends, without sources."""
        profiles, scope = self.hits.profile_cache, self.searcher.scope
        ends = {end for edge in edges for end in (edge.source, edge.target)}
        profiles.entities.update(await self.runtime.ledger.search.load_entities({*ids, *ends}, scope.scope_ids))
        profiles.relations.update(
            await self.runtime.ledger.search.load_relations([edge.id for edge in edges], scope.scope_ids)
        )
        visible = [edge for edge in edges if edge.id in profiles.relations]
        kept = sorted(visible, key=lambda edge: (-edge.weight, profiles.relation_sort_key(edge.id)))[:limit]
        others = {end for edge in kept for end in (edge.source, edge.target)} - set(ids)
        loader = ViewLoader(self.runtime, profiles, scope.fact_chunks)
        center = await loader.load_entities(id_ for id_ in ids if id_ in profiles.entities)
        relations = await loader.load_relations(edge.id for edge in kept)
        neighbors = await loader.load_entities(sorted(others & profiles.entities.keys(), key=profiles.entity_sort_key))
        rows = [ContextEntity(view.name, view.type, view.description) for view in center]
        return (
            rows[0] if rows else None,
            tuple(view.to_row() for view in relations),
            tuple(ContextEntity(view.name, view.type, view.description) for view in neighbors),
        )
