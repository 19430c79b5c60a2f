"""Retrieve the context of a question: its stages, in order, are numbered in `Retriever.retrieve`."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import structlog

from engine.clock import Stopwatch
from engine.errors import ModelError
from engine.models import Question, SearchQuery
from engine.retrieval.context_builder import ContextBuilder
from engine.retrieval.graph.provenance import ProvenanceLoader
from engine.retrieval.graph.subgraph import SubgraphLoader
from engine.retrieval.name_walk import NameWalk
from engine.retrieval.ranking.fusion import add_neighbors, fuse_scores, rank_by_score, sort_key
from engine.retrieval.results import RetrievalResult, SearchHits
from engine.retrieval.search import (
    KINDS_BY_TABLE,
    FormerQuery,
    GraphLeg,
    ProfileCache,
    QueryVectors,
    Searcher,
    SearchScope,
)
from engine.retrieval.views import PastProfiles
from engine.scheduling.supervisor import child_task, gather_or_cancel
from engine.storage.ledger.records import KeyKind
from engine.text.names import normalize_name
from engine.text.similarity import unit_vectors

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence

    import numpy as np

    from engine.models import ContextEntity, ContextRelation, Scope
    from engine.retrieval.graph.records import FactProvenance, Subgraph, SubgraphQuery
    from engine.retrieval.name_walk import NamedNodes
    from engine.runtime import Runtime
    from engine.storage.ledger.records import WordHits
    from engine.storage.vectors.base import VectorHit
    from engine.usage import UsageMeter


@dataclass(frozen=True, slots=True)
class VectorLeg:
    """The two searches for chunks, which run: by vector, the best first, and by words, with scores."""

    searcher: Searcher
    by_vector: Awaitable[list[VectorHit]]
    by_words: Awaitable[WordHits]

    @classmethod
    async def start(
        cls, stack: AsyncExitStack, searcher: Searcher, text: str, embedding: Awaitable[QueryVectors]
    ) -> VectorLeg:
        """Start both searches, which end with the stack; that by words does not wait for the vector."""
        wanted, scope, search = _count_wanted(searcher), searcher.scope, searcher.runtime.ledger.search

        async def search_words() -> WordHits:
            query = search.search_chunks(text, wanted, scope.scope_ids, scope.filters)
            return await searcher.stopwatch.measure("words", query)

        async def search_vectors() -> list[VectorHit]:
            return await searcher.search_vectors("chunks", await embedding, "question", wanted)

        by_words = await stack.enter_async_context(child_task(search_words()))
        return cls(searcher, await stack.enter_async_context(child_task(search_vectors())), by_words)

    async def rank(self) -> tuple[int, ...]:
        """The ids of the best chunks of both searches, the best first."""
        runtime, options = self.searcher.runtime, self.searcher.runtime.options.ranking
        hits, by_words = await self.by_vector, await self.by_words
        similarity = {hit.id: hit.similarity for hit in hits}
        scores = fuse_scores(similarity, by_words.scores, _count_wanted(self.searcher), options, by_words.known)
        pairs = await runtime.ledger.search.find_neighbor_messages(list(scores), options.neighbor_span)
        scores = add_neighbors(scores, pairs, options.neighbor_share)
        count = Counter(map(sort_key, scores.values()))
        tied = [chunk for chunk, score in scores.items() if count[sort_key(score)] > 1]
        keys = await runtime.ledger.search.load_sort_keys(KeyKind.CHUNK, tied) if tied else {}
        return tuple(rank_by_score(scores, keys)[: self.searcher.question.chunk_top_k])

    async def find_nearest(self) -> dict[int, float]:
        """The similarity of the nearest chunks."""
        nearest = (await self.by_vector)[: self.searcher.runtime.options.ranking.prior_chunks]
        return {hit.id: hit.similarity for hit in nearest}


@dataclass(frozen=True, slots=True)
class StartedWalk:
    """A walk, and the search for what its question names."""

    walk: NameWalk
    naming: asyncio.Task[NamedNodes]

    async def rank_chunks(self, leg: VectorLeg, vectors: QueryVectors) -> tuple[int, ...]:
        """The chunks that the walk visits most, best first; none if the question names nothing."""
        watch, profiles, named = leg.searcher.stopwatch, ProfileCache(), await asyncio.shield(self.naming)
        if not named:
            return ()
        near = await watch.measure("walk", self.walk.search_relations(vectors, profiles))
        starts = await watch.measure("walk", self.walk.find_starts(named, near, profiles))
        nearest = await leg.find_nearest()
        return await watch.measure("walk", self.walk.rank_chunks(starts, nearest))


def _count_wanted(searcher: Searcher) -> int:
    """The number of chunks that each search fetches."""
    return max(searcher.question.chunk_top_k, searcher.runtime.options.ranking.fusion_candidates)


log = structlog.get_logger(__name__)

KEYWORD_WAIT_SECONDS = 0.01  # how long the vector leg waits for the rewritten question before it uses the raw one
VECTOR_MODES = frozenset({"mix", "naive"})
LOCAL_MODES = frozenset({"mix", "hybrid", "local"})
GLOBAL_MODES = frozenset({"mix", "hybrid", "global"})

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """An entity with its heaviest relations, and the entities at their other ends; all empty for an unknown name."""

    entity: ContextEntity | None
    relations: tuple[ContextRelation, ...] = ()
    neighbors: tuple[ContextEntity, ...] = ()


@dataclass(slots=True)
class Retriever:
    """Retrieves the context of questions, and the neighborhood of entities."""

    runtime: Runtime

    async def retrieve(
        self, question: Question, query: Coroutine[Any, Any, SearchQuery], meter: UsageMeter
    ) -> RetrievalResult:
        """The context of a question; awaiting `query` gives the stand-alone question and its keywords."""
        # 1. Resolve the scope and the filters to ids.
        searcher = await self._build_searcher(question, meter)
        # 2. Search: the vector leg (chunks), the local leg (entities first) and the global leg (relations first).
        hits = await self._search(searcher, query, meter)
        # 3. Load the entities and relations of both legs of the graph, merged.
        builder = ContextBuilder(self.runtime, searcher, hits)
        await builder.load_views()
        # 4. Keep those that fit the token budget.
        builder.truncate_rows()
        # 5. Rank the chunks of the vector leg and of the graph.
        await builder.rank_chunks()
        # 6. Rerank them by a model, if one is set.
        if self.runtime.reranker is not None and question.rerank:
            await builder.rerank(self.runtime.reranker, meter)
        # 7. Number the passages that fit as sources.
        return await builder.build()

    async def _resolve_scope(self, question: Question) -> SearchScope:
        found = await self.runtime.ledger.search.load_scope(question.scope, question.filters)
        populations = {table: found.rows_by_space[kind] for table, kind in KINDS_BY_TABLE.items()}
        return SearchScope(found.ids, found.filters, populations, found.generation)

    async def _search(
        self, searcher: Searcher, rewriting: Coroutine[Any, Any, SearchQuery], meter: UsageMeter
    ) -> SearchHits:
        """Run the searches that the mode asks for.

        If a model rewrites the question slowly, the vector leg starts with the raw question.
        """
        question, mode, watch = searcher.question, _effective_mode(searcher.question), searcher.stopwatch
        async with AsyncExitStack() as stack:
            leg: VectorLeg | None = None
            task = await stack.enter_async_context(child_task(watch.measure("condense", rewriting)))
            await asyncio.wait({task}, timeout=KEYWORD_WAIT_SECONDS)
            is_final = not (question.history or question.is_unaddressed or self.runtime.language.is_extractive)
            if not task.done() and is_final and mode in VECTOR_MODES:
                embedding = await stack.enter_async_context(child_task(self._embed_raw_question(question, meter)))
                leg = await VectorLeg.start(stack, searcher, question.text, embedding)
            query = await task
            if query.ignored:
                return SearchHits(query, None, ProfileCache())
            embedding = await stack.enter_async_context(child_task(self._embed_query(query, watch, meter)))
            walk = await self._begin_walk(stack, NameWalk(searcher, query))  # first: most of its work waits for names
            if leg is None and mode in VECTOR_MODES:
                leg = await VectorLeg.start(stack, searcher, query.question, embedding)
            vectors, profiles = await embedding, ProfileCache()

            async def search_relations() -> GraphLeg:
                if walk is not None and searcher.past is None:
                    await asyncio.shield(walk.naming)  # then the walk searches for relations: one reading serves both
                return await searcher.global_leg(vectors, profiles)

            (chunks, visited), local_leg, global_leg = await gather_or_cancel(
                _rank_chunks(leg, walk, vectors),
                _run_leg(question, LOCAL_MODES, lambda: searcher.local_leg(query, vectors, profiles), GraphLeg()),
                _run_leg(question, GLOBAL_MODES, search_relations, GraphLeg()),
            )
        return SearchHits(query, vectors, profiles, local_leg, global_leg, chunks, visited)

    async def _begin_walk(self, stack: AsyncExitStack, walk: NameWalk) -> StartedWalk | None:
        """Look for what the question names, for a walk that starts there, if its mode and the options want one."""
        if _effective_mode(walk.searcher.question) != "mix" or self.runtime.options.ranking.chunk_selection != "walk":
            return None
        naming = walk.searcher.stopwatch.measure("walk", walk.find_named_nodes())
        return StartedWalk(walk, await stack.enter_async_context(child_task(naming)))

    async def _embed_query(self, query: SearchQuery, watch: Stopwatch, meter: UsageMeter) -> QueryVectors:
        """Embed the question, and the question with its low and with its high keywords, in one call."""
        low, high = ", ".join((query.question, *query.low)), ", ".join((query.question, *query.high))
        return await watch.measure("embed", self._embed_texts([query.question, low, high], meter))

    async def _embed_raw_question(self, question: Question, meter: UsageMeter) -> QueryVectors:
        return await self._embed_texts([question.text], meter)

    async def _embed_texts(self, texts: Sequence[str], meter: UsageMeter) -> QueryVectors:
        """The vectors of one text, or of a question, its low and its high keywords; by a former embedder, too."""
        earlier = await self._embed_formerly(texts, meter)
        vectors = unit_vectors(await self.runtime.embedder.embed_queries(texts, meter))
        return QueryVectors(*_spread(vectors), await self.runtime.measure_scale(meter), earlier)

    async def _embed_formerly(self, texts: Sequence[str], meter: UsageMeter) -> FormerQuery | None:
        """The vectors by a former embedder; None if there is none, or it fails: then its vectors are not searched."""
        if (former := await self.runtime.find_former()) is None:
            return None
        try:
            scale = await former.embedder.measure_scale(meter)
            made = unit_vectors(await former.embedder.embed_queries(texts, meter))
        except ModelError as error:
            log.warning("former_embedder.failed", error=str(error))
            return None
        return FormerQuery(former.store, QueryVectors(*_spread(made), scale))

    async def get_entity(self, name: str, scope: Scope) -> ContextEntity | None:
        """The entity of a name or an alias within the scope's spaces; None if there is none."""
        return (await self.get_neighborhood(name, scope, 0)).entity

    async def get_neighborhood(self, name: str, scope: Scope, limit: int) -> Neighborhood:
        """An entity with at most `limit` relations, the heaviest first."""
        searcher = await self._build_searcher(Question(name, scope, mode="local"))
        area = searcher.scope.scope_ids
        ids = await self.runtime.ledger.search.find_entities_by_name({normalize_name(name)}, area)
        # More edges than wanted, because the graph orders equal weights by ids, and these depend on the ingestion.
        fetched = max(limit, self.runtime.options.ranking.max_neighbor_edges)
        edges = await self.runtime.graph.neighbors(ids, area.spaces, fetched) if ids and limit else []
        builder = ContextBuilder(self.runtime, searcher, SearchHits(SearchQuery(name), None, ProfileCache()))
        return Neighborhood(*await builder.build_neighborhood(ids, edges, limit))

    async def get_subgraph(self, query: SubgraphQuery) -> Subgraph:
        """What is around an entity; empty for an unknown name."""
        return await SubgraphLoader(await self._build_searcher(query.to_question()), query).load()

    async def get_provenance(self, name: str, other: str, scope: Scope, limit: int) -> FactProvenance:
        """The facts of an entity, or of its relation to `other`, with their passages; empty for an unknown one."""
        loader = ProvenanceLoader(await self._build_searcher(Question(name, scope, mode="local")), limit)
        return await (loader.load_relation(name, other) if other else loader.load_entity(name))

    async def _build_searcher(self, question: Question, meter: UsageMeter | None = None) -> Searcher:
        """The searches of a question; `meter`: of a question that is asked."""
        scope = await self._resolve_scope(question)
        past = PastProfiles(self.runtime, scope, meter) if meter is not None and question.filters.as_of else None
        return Searcher(self.runtime, question, scope, Stopwatch(self.runtime.clock), past)


def _spread(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The vectors of a question, its low and its high keywords; those of keywords are the question's if it is alone."""
    return vectors[0], vectors[len(vectors) // 2], vectors[-1]


async def _rank_chunks(
    leg: VectorLeg | None, walk: StartedWalk | None, vectors: QueryVectors
) -> Sequence[tuple[int, ...]]:
    """The chunks of the vector leg, and those of a walk from the names of the question."""
    if leg is None:
        return (), ()
    if walk is None:
        return await leg.rank(), ()
    return await gather_or_cancel(leg.rank(), walk.rank_chunks(leg, vectors))


def _effective_mode(question: Question) -> str:
    """The mode of a question; a scope of rooms alone has no graph, so that every mode but bypass becomes naive."""
    return question.mode if question.scope.spaces or question.mode == "bypass" else "naive"


async def _run_leg(
    question: Question, modes: frozenset[str], search: Callable[[], Awaitable[Result]], default: Result
) -> Result:
    """Run a search if the mode of the question is among `modes`; else return the default."""
    return await search() if _effective_mode(question) in modes else default
