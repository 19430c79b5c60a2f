"""Recall, the main road of a question: search, renew what is stale, truncate, merge, build the numbered sources."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from engine.models import Condensed, Question
from engine.retrieval.context_builder import Draft, Found, Recalled
from engine.retrieval.search import NEIGHBOURS, Known, Leg, Searcher, Stopwatch, Vectors, Where
from engine.scheduling.tasks import child_task, together
from engine.storage.ledger.queries import filters, lookup
from engine.storage.ledger.work import work_queue
from engine.storage.ledger.work.stale_keys import Stale
from engine.text.names import canonical

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from engine.models import EntityRow, RelationRow, Scope
    from engine.runtime import Runtime
    from engine.usage import Bill

EARLY = 0.01  # seconds that the vector leg waits for keywords before it starts with the raw question
VECTOR_LEG = frozenset({"mix", "naive"})
LOCAL_LEG = frozenset({"mix", "hybrid", "local"})
GLOBAL_LEG = frozenset({"mix", "hybrid", "global"})

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """An entity with its weightiest relations, and the entities at their other ends."""

    entity: EntityRow | None
    relations: tuple[RelationRow, ...] = ()
    others: tuple[EntityRow, ...] = ()


@dataclass(slots=True)
class Recaller:
    """Recalls what a question may draw on."""

    runtime: Runtime

    async def recall(self, question: Question, condensing: Coroutine[Any, Any, Condensed], bill: Bill) -> Recalled:
        """The main road; `condensing` gives the stand-alone question and its keywords, perhaps a little later."""
        generation = await self.runtime.ledger.read(work_queue.generation)
        searcher = Searcher(self.runtime, question, await self._where(question), Stopwatch())
        found = await self._search(searcher, condensing, bill)
        draft = Draft(self.runtime, searcher, found)
        await draft.renew()
        draft.truncate()
        await draft.merge()
        if self.runtime.reranker is not None and question.rerank:
            await draft.rerank(self.runtime.reranker, bill)
        return await draft.build(generation)

    async def _where(self, question: Question) -> Where:
        async with self.runtime.ledger.reader() as db:
            area = await lookup.area(db, question.scope)
            return Where(
                area,
                await filters.narrowed(db, question.within, area) if question.within.narrows else None,
                {
                    "chunks": await lookup.population(db, Stale.CHUNK),
                    "entities": await lookup.population(db, Stale.NAME),
                    "relations": await lookup.population(db, Stale.PAIR),
                },
            )

    async def _search(self, searcher: Searcher, condensing: Coroutine[Any, Any, Condensed], bill: Bill) -> Found:
        """One embedding call, then the searches; a slow rewrite does not keep the vector leg waiting.

        Names come first: the graph has to wait for what they give, and nothing for what the others give.
        """
        question, watch = searcher.question, searcher.watch
        async with AsyncExitStack() as stack:
            early: asyncio.Task[tuple[int, ...]] | None = None
            task = await stack.enter_async_context(child_task(watch.timed("condense", condensing)))
            await asyncio.wait({task}, timeout=EARLY)
            alone = not (question.history or question.overheard)
            if not task.done() and alone and _mode(question) in VECTOR_LEG:
                early = await stack.enter_async_context(child_task(self._raw_leg(searcher, bill)))
            asked = await task
            if asked.ignored:
                return Found(asked, None, Known())
            low, high = ", ".join(asked.low) or asked.question, ", ".join(asked.high) or asked.question
            embedding = self.runtime.embedder.embed([asked.question, low, high], bill)
            vectors, known = Vectors(*await watch.timed("embed", embedding)), Known()
            named = await _leg(question, LOCAL_LEG, searcher.named(asked, vectors, known), ())
            vector_leg = _awaited(early) if early else searcher.chunks(asked.question, vectors.question)
            chunks, local, world = await together(
                _leg(question, VECTOR_LEG, vector_leg, ()),
                _leg(question, LOCAL_LEG, searcher.local(named, vectors, known), Leg()),
                _leg(question, GLOBAL_LEG, searcher.world(vectors, known), Leg()),
            )
        return Found(asked, vectors, known, local, world, chunks)

    async def _raw_leg(self, searcher: Searcher, bill: Bill) -> tuple[int, ...]:
        text = searcher.question.text
        [vector] = await self.runtime.embedder.embed([text], bill)
        return await searcher.chunks(text, vector)

    async def entity(self, name: str, scope: Scope) -> EntityRow | None:
        """What is known of a name, or of an alias of it, within the scope's spaces."""
        return (await self.neighbourhood(name, scope, 0)).entity

    async def neighbourhood(self, name: str, scope: Scope, limit: int) -> Neighbourhood:
        """An entity with at most `limit` relations, the weightiest first."""
        question = Question(name, scope, mode="local")
        searcher, known = Searcher(self.runtime, question, await self._where(question), Stopwatch()), Known()
        area = searcher.where.area
        ids = await self.runtime.ledger.read(lookup.names_exactly, {canonical(name)}, area)
        looked_at = max(limit, NEIGHBOURS)  # among equal weights the graph knows no order but that of its integers
        edges = await self.runtime.graph.around(ids, area.spaces, looked_at) if ids and limit else []
        draft = Draft(self.runtime, searcher, Found(Condensed(name), None, known))
        return Neighbourhood(*await draft.around(ids, edges, limit))


def _mode(question: Question) -> str:
    """The mode of a question; rooms alone have no graph, so that there every one is naive."""
    return question.mode if question.scope.spaces or question.mode == "bypass" else "naive"


async def _awaited(task: asyncio.Task[Result]) -> Result:
    return await task


async def _leg(question: Question, modes: frozenset[str], search_: Coroutine[Any, Any, Result], none: Result) -> Result:
    if _mode(question) in modes:
        return await search_
    search_.close()
    return none
