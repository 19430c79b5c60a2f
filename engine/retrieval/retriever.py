"""Recall, the main road of a question: search, renew what is stale, truncate, merge, build the numbered sources."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from engine.models import Question, SearchQuery
from engine.retrieval.context_builder import ContextBuilder
from engine.retrieval.results import RetrievalResult, SearchHits
from engine.retrieval.search import MAX_NEIGHBOUR_EDGES, GraphLeg, ProfileCache, QueryVectors, Searcher, SearchScope
from engine.scheduling.stopwatch import Stopwatch
from engine.scheduling.tasks import child_task, gather_or_cancel
from engine.storage.ledger.queries import filters, lookup
from engine.storage.ledger.work import work_queue
from engine.storage.ledger.work.stale_keys import KeyKind
from engine.text.names import normalize_name

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from engine.models import ContextEntity, ContextRelation, Scope
    from engine.runtime import Runtime
    from engine.usage import UsageMeter

KEYWORD_WAIT_SECONDS = 0.01  # seconds that the vector leg waits for keywords before it starts with the raw question
VECTOR_MODES = frozenset({"mix", "naive"})
LOCAL_MODES = frozenset({"mix", "hybrid", "local"})
GLOBAL_MODES = frozenset({"mix", "hybrid", "global"})

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """An entity with its weightiest relations, and the entities at their other ends."""

    entity: ContextEntity | None
    relations: tuple[ContextRelation, ...] = ()
    neighbours: tuple[ContextEntity, ...] = ()


@dataclass(slots=True)
class Retriever:
    """Recalls what a question may draw on."""

    runtime: Runtime

    async def retrieve(
        self, question: Question, condensing: Coroutine[Any, Any, SearchQuery], bill: UsageMeter
    ) -> RetrievalResult:
        """The main road; `condensing` gives the stand-alone question and its keywords, perhaps a little later."""
        generation = await self.runtime.ledger.read(work_queue.current_generation)
        searcher = Searcher(self.runtime, question, await self._resolve_scope(question), Stopwatch())
        found = await self._search(searcher, condensing, bill)
        draft = ContextBuilder(self.runtime, searcher, found)
        await draft.load_views()
        draft.truncate_rows()
        await draft.rank_chunks()
        if self.runtime.reranker is not None and question.rerank:
            await draft.rerank(self.runtime.reranker, bill)
        return await draft.build(generation)

    async def _resolve_scope(self, question: Question) -> SearchScope:
        async with self.runtime.ledger.read_connection() as db:
            area = await lookup.resolve_scope(db, question.scope)
            return SearchScope(
                area,
                await filters.resolve_filters(db, question.filters, area) if question.filters.is_active else None,
                {
                    "chunks": await lookup.count_by_space(db, KeyKind.CHUNK),
                    "entities": await lookup.count_by_space(db, KeyKind.NAME),
                    "relations": await lookup.count_by_space(db, KeyKind.PAIR),
                },
            )

    async def _search(
        self, searcher: Searcher, condensing: Coroutine[Any, Any, SearchQuery], bill: UsageMeter
    ) -> SearchHits:
        """One embedding call, then the searches; a slow rewrite does not keep the vector leg waiting.

        Names come first: the graph has to wait for what they give, and nothing for what the others give.
        """
        question, watch = searcher.question, searcher.stopwatch
        async with AsyncExitStack() as stack:
            early: asyncio.Task[tuple[int, ...]] | None = None
            task = await stack.enter_async_context(child_task(watch.measure("condense", condensing)))
            await asyncio.wait({task}, timeout=KEYWORD_WAIT_SECONDS)
            alone = not (question.history or question.is_unaddressed)
            if not task.done() and alone and _effective_mode(question) in VECTOR_MODES:
                early = await stack.enter_async_context(child_task(self._search_raw_question(searcher, bill)))
            asked = await task
            if asked.ignored:
                return SearchHits(asked, None, ProfileCache())
            low, high = ", ".join(asked.low) or asked.question, ", ".join(asked.high) or asked.question
            embedding = self.runtime.embedder.embed([asked.question, low, high], bill)
            vectors, known = QueryVectors(*await watch.measure("embed", embedding)), ProfileCache()
            named = await _run_leg(question, LOCAL_MODES, searcher.find_entities(asked, vectors, known), ())
            vector_leg = _wait_for_task(early) if early else searcher.vector_leg(asked.question, vectors.question)
            chunks, local, world = await gather_or_cancel(
                _run_leg(question, VECTOR_MODES, vector_leg, ()),
                _run_leg(question, LOCAL_MODES, searcher.local_leg(named, vectors, known), GraphLeg()),
                _run_leg(question, GLOBAL_MODES, searcher.global_leg(vectors, known), GraphLeg()),
            )
        return SearchHits(asked, vectors, known, local, world, chunks)

    async def _search_raw_question(self, searcher: Searcher, bill: UsageMeter) -> tuple[int, ...]:
        text = searcher.question.text
        [vector] = await self.runtime.embedder.embed([text], bill)
        return await searcher.vector_leg(text, vector)

    async def get_entity(self, name: str, scope: Scope) -> ContextEntity | None:
        """What is known of a name, or of an alias of it, within the scope's spaces."""
        return (await self.get_neighbourhood(name, scope, 0)).entity

    async def get_neighbourhood(self, name: str, scope: Scope, limit: int) -> Neighbourhood:
        """An entity with at most `limit` relations, the weightiest first."""
        question = Question(name, scope, mode="local")
        searcher, known = (
            Searcher(self.runtime, question, await self._resolve_scope(question), Stopwatch()),
            ProfileCache(),
        )
        area = searcher.scope.scope_ids
        ids = await self.runtime.ledger.read(lookup.find_entities_by_name, {normalize_name(name)}, area)
        looked_at = max(
            limit, MAX_NEIGHBOUR_EDGES
        )  # among equal weights the graph knows no order but that of its integers
        edges = await self.runtime.graph.neighbours(ids, area.spaces, looked_at) if ids and limit else []
        draft = ContextBuilder(self.runtime, searcher, SearchHits(SearchQuery(name), None, known))
        return Neighbourhood(*await draft.build_neighbourhood(ids, edges, limit))


def _effective_mode(question: Question) -> str:
    """The mode of a question; rooms alone have no graph, so that there every one is naive."""
    return question.mode if question.scope.spaces or question.mode == "bypass" else "naive"


async def _wait_for_task(task: asyncio.Task[Result]) -> Result:
    return await task


async def _run_leg(
    question: Question, modes: frozenset[str], search_: Coroutine[Any, Any, Result], none: Result
) -> Result:
    if _effective_mode(question) in modes:
        return await search_
    search_.close()
    return none
