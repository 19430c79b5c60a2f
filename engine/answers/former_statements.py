"""Find what the newest statements of a digest replace, which was said before its time span."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.llm.offline.supersession.sources import find_replaced_sources, list_changes
from engine.models import Filters, Question, SearchQuery

if TYPE_CHECKING:
    from engine.models import Context, Source
    from engine.retrieval.results import RetrievalResult
    from engine.retrieval.retriever import Retriever
    from engine.usage import UsageMeter


MAX_SEARCHES = 6  # statements whose former ones are searched, the newest
MAX_FORMER_CHUNKS = 4  # by statement


async def add_former_statements(
    retriever: Retriever, question: Question, retrieved: RetrievalResult, meter: UsageMeter
) -> RetrievalResult:
    """Add what the changes among the sources replace; of earlier times, but within the question's scope and rooms."""
    context = retrieved.context
    changes = (await asyncio.to_thread(list_changes, context.sources))[-MAX_SEARCHES:]
    since = question.filters.since
    if not changes or since is None:
        return retrieved
    found = [await _search(retriever, question, text, meter) for text in changes]
    former = {
        (source.document, source.passage): source
        for result in found
        for source in result.context.sources
        if source.time is not None and source.time < since
    }
    widened = await asyncio.to_thread(_add_sources, context, list(former.values()))
    chunks = retrieved.chunks.union(*(result.chunks for result in found))
    return replace(retrieved, context=widened, chunks=chunks) if widened is not context else retrieved


async def _search(retriever: Retriever, question: Question, text: str, meter: UsageMeter) -> RetrievalResult:
    filters = Filters(rooms=question.filters.rooms, until=question.filters.since)
    earlier = Question(text, question.scope, mode="naive", filters=filters, chunk_top_k=MAX_FORMER_CHUNKS, rerank=False)
    return await retriever.retrieve(earlier, _as_query(text), meter)


async def _as_query(text: str) -> SearchQuery:
    return SearchQuery(text)


def _add_sources(context: Context, former: list[Source]) -> Context:
    """The context with those of the former sources that its own replace, numbered after these."""
    last = max((source.number for source in context.sources), default=0)
    numbered = [replace(each, number=number, position=number) for number, each in enumerate(former, last + 1)]
    replacements = find_replaced_sources((*context.sources, *numbered), newest=True)
    used = {replacement.older for replacement in replacements}
    kept = tuple(source for source in numbered if source.number in used)
    return replace(context, sources=(*context.sources, *kept), replacements=replacements) if kept else context
