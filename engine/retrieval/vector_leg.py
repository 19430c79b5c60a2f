"""The vector leg: chunks by similarity and by words, fused by scores; a message gains from its neighbors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.retrieval.ranking.fusion import add_neighbors, fuse_scores, rank_by_score
from engine.scheduling.tasks import gather_or_cancel
from engine.storage.ledger.records import KeyKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from engine.retrieval.search import Searcher
    from engine.usage import UsageMeter


@dataclass(frozen=True, slots=True)
class VectorLeg:
    """The hits of the vector leg: ids of chunks, the best first, and the similarity of the nearest ones."""

    chunks: tuple[int, ...] = ()
    similarity: Mapping[int, float] = field(default_factory=dict)


async def search_chunks(searcher: Searcher, text: str, vector: np.ndarray, meter: UsageMeter) -> VectorLeg:
    """Find chunks by the vector of a question and by its words."""
    runtime, options, count = searcher.runtime, searcher.runtime.options.ranking, searcher.question.chunk_top_k
    wanted = max(count, options.fusion_candidates)
    hits, bm25, unrelated = await gather_or_cancel(
        searcher.search_vectors("chunks", vector, wanted),
        _search_words(searcher, text, wanted),
        runtime.embedder.measure_unrelated_similarity(meter),
    )
    scores = fuse_scores({hit.id: hit.similarity for hit in hits}, bm25, unrelated, options)
    pairs = await runtime.ledger.search.find_neighbor_messages(list(scores), options.neighbor_span)
    scores = add_neighbors(scores, pairs, options.neighbor_share)
    sort_keys = await runtime.ledger.search.load_sort_keys(KeyKind.CHUNK, list(scores))
    order = rank_by_score(scores, sort_keys)
    return VectorLeg(tuple(order[:count]), {hit.id: hit.similarity for hit in hits[: options.prior_chunks]})


async def _search_words(searcher: Searcher, text: str, count: int) -> dict[int, float]:
    area, filters = searcher.scope.scope_ids, searcher.scope.filters
    query = searcher.runtime.ledger.search.search_chunks(text, count, area, filters)
    return await searcher.stopwatch.measure("words", query)
