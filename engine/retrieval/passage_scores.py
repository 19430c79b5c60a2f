"""Score the passages of conversations: their parts' similarity to the question, and their words."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from engine.retrieval.ranking.passages import RatedChunk, asks_what_was_said, find_named, rate_passages
from engine.retrieval.writers import hides_authors
from engine.storage.ledger.records import KeyKind

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
    compared = await _list_whole(searcher, [text.id for _, text in ranked])
    spaces = searcher.scope.chunk_spaces
    similarities = await searcher.measure_similarities("chunks", compared, hits.vectors, spaces) if compared else {}
    pieces = [piece.text for _, text in ranked for piece in text.pieces]
    scoring = searcher.runtime.ledger.search.score_passages(hits.query.question, pieces)
    bm25 = iter(await searcher.stopwatch.measure("passages", scoring))
    rated = [
        RatedChunk(
            text,
            rank / len(shown),
            similarities.get(text.id, ()),
            list(islice(bm25, len(text.pieces))),
        )
        for rank, text in ranked
    ]
    return rate_passages(rated, searcher.runtime.options.ranking, _list_named(searcher, hits, texts))


def _list_named(searcher: Searcher, hits: SearchHits, texts: Sequence[ChunkText]) -> frozenset[str]:
    """The authors about whom the question asks; nobody where messages are not searched by who wrote them.

    What somebody said about a subject is found by the subject: half of it stands in the messages beside theirs.
    """
    if asks_what_was_said(hits.query.question):
        return frozenset()
    named = find_named(hits.query.question, {piece.author for text in texts for piece in text.pieces})
    hidden = searcher.runtime.options.spaces_without_authors
    return frozenset() if named and hides_authors(searcher.question.scope, hidden) else named


async def _list_whole(searcher: Searcher, ids: list[int]) -> list[int]:
    """The chunks whose passages are all left: in others, these do not show which parts of their chunk are theirs.

    Only a question as of a day looks which these are; other filters compare none.
    """
    filters, scope = searcher.question.filters, searcher.scope
    if not filters.is_active:
        return ids
    if filters.as_of is None or scope.filters is None or scope.fact_chunks is None:
        return []
    whole = replace(scope.filters, matching_chunks=scope.fact_chunks)
    return sorted(await searcher.runtime.ledger.search.filter_ids(whole, KeyKind.CHUNK, ids))


def is_conversation(text: ChunkText) -> bool:
    """Whether a chunk holds several messages: passages with authors."""
    return len(text.pieces) > 1 and all(piece.author for piece in text.pieces)
