"""The vector leg: chunks by similarity and by words, fused by scores; a message gains from its neighbors."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.retrieval.ranking.fusion import add_neighbors, fuse_scores, rank_by_score, sort_key
from engine.scheduling.tasks import child_task
from engine.storage.ledger.records import KeyKind

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from contextlib import AsyncExitStack

    from engine.retrieval.search import QueryVectors, Searcher
    from engine.storage.vectors.base import VectorHit


@dataclass(frozen=True, slots=True)
class VectorLeg:
    """The two searches for chunks, which run: by vector, the best first, and by words, with scores."""

    searcher: Searcher
    by_vector: Awaitable[list[VectorHit]]
    by_words: Awaitable[dict[int, float]]

    @classmethod
    async def start(
        cls, stack: AsyncExitStack, searcher: Searcher, text: str, embedding: Awaitable[QueryVectors]
    ) -> VectorLeg:
        """Start both searches, which end with the stack; that by words does not wait for the vector."""
        wanted, scope, search = _count_wanted(searcher), searcher.scope, searcher.runtime.ledger.search

        async def search_words() -> dict[int, float]:
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
        scores = fuse_scores(similarity, by_words, _count_wanted(self.searcher), options)
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


def _count_wanted(searcher: Searcher) -> int:
    """The number of chunks that each search fetches."""
    return max(searcher.question.chunk_top_k, searcher.runtime.options.ranking.fusion_candidates)
