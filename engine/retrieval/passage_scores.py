"""Score the passages of conversations: their parts' similarity to the question, and their words."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from engine.retrieval.ranking.passages import RatedChunk, rate_passages, similarities_to

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.retrieval.ranking.passages import PassageKey
    from engine.retrieval.results import SearchHits
    from engine.retrieval.search import Searcher
    from engine.storage.ledger.records import ChunkText


async def score_passages(searcher: Searcher, hits: SearchHits, texts: Sequence[ChunkText]) -> dict[PassageKey, float]:
    """Scores of the passages of chunks that hold several messages; `texts` are all chunks, the best first."""
    shown = texts[: searcher.question.chunk_top_k]
    ranked = [(rank, text) for rank, text in enumerate(shown) if is_conversation(text)]
    if not ranked or hits.vectors is None:
        return {}
    # With filters, the passages that are left do not show which parts of their chunk are theirs.
    compared = [] if searcher.question.filters.is_active else [text.id for _, text in ranked]
    spaces = searcher.scope.chunk_spaces
    vectors = await searcher.runtime.vectors.fetch("chunks", compared, spaces) if compared else {}
    pieces = [piece.text for _, text in ranked for piece in text.pieces]
    scoring = searcher.runtime.ledger.search.score_passages(hits.query.question, pieces)
    bm25 = iter(await searcher.stopwatch.measure("passages", scoring))
    rated = [
        RatedChunk(
            text,
            rank / len(shown),
            similarities_to(hits.vectors.question, vectors[text.id]) if text.id in vectors else (),
            list(islice(bm25, len(text.pieces))),
        )
        for rank, text in ranked
    ]
    return rate_passages(rated, searcher.runtime.options.ranking)


def is_conversation(text: ChunkText) -> bool:
    """Whether a chunk holds several messages: passages with authors."""
    return len(text.pieces) > 1 and all(piece.author for piece in text.pieces)
