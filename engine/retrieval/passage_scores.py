"""Score the passages of conversations by similarity and words, and restrict a question to the people it names."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from engine.errors import InvalidQuestion
from engine.knowledge.people import is_listed
from engine.retrieval.ranking.passages import RatedChunk, asks_what_was_said, find_named, rate_passages
from engine.storage.ledger.records import KeyKind
from engine.text.overviews import match_authors, split_names

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from engine.models import Question, Scope
    from engine.retrieval.ranking.passages import PassageKey
    from engine.retrieval.results import SearchHits
    from engine.retrieval.search import Searcher
    from engine.storage.ledger import LedgerStore
    from engine.storage.ledger.records import ChunkText


NO_AUTHORS = "Messages are not searched or summarized by who wrote them here."
NO_AUTHORS_HINT = "Ask about the subject instead."
NO_AUTHOR = "\n"  # of no message, if the people that a question names are none of those it is restricted to
MAX_LISTED = 5  # candidates listed in the message about an ambiguous name


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


def hides_authors(scope: Scope, hidden: Collection[str]) -> bool:
    """Whether a scope has spaces or rooms in which nothing is searched by who wrote it; `hidden`: their prefixes."""
    return any(is_listed(space, hidden) for space in (*scope.spaces, *scope.rooms))


async def restrict_to_writers(ledger: LedgerStore, question: Question, hidden: Collection[str] = ()) -> Question:
    """Restrict the question to messages of its `writers`. Raises InvalidQuestion for an unknown or ambiguous name.

    Only authors of messages within the scope are considered; where authors are hidden, nobody's messages can be asked
    for.
    """
    if not (question.writers or question.filters.authors):
        return question
    if hides_authors(question.scope, hidden):
        raise InvalidQuestion(NO_AUTHORS, hint=NO_AUTHORS_HINT)
    if not question.writers:
        return question
    authors = await list_authors(ledger, question.scope)
    found = frozenset(author for name in question.writers for author in _resolve_name(name, authors))
    within = question.filters.authors
    both = found & within or frozenset({NO_AUTHOR}) if within else found
    return replace(question, filters=replace(question.filters, authors=both))


async def list_authors(ledger: LedgerStore, scope: Scope) -> Sequence[str]:
    """Who wrote something within a scope."""
    return await ledger.snapshot(lambda view: view.search.list_authors(view.search.resolve_scope(scope)))


def _resolve_name(name: str, authors: Sequence[str]) -> list[str]:
    """The authors that a name refers to: one person, or several listed one by one ("Ada and Bob")."""
    if found := match_authors(name, authors):
        return [_single_author(name, found)]
    return [_single_author(part, match_authors(part, authors)) for part in split_names(name) or [name]]


def _single_author(name: str, found: Sequence[str]) -> str:
    shown = name.strip().removeprefix("@")
    if not found:
        raise InvalidQuestion(
            f"I can't find any messages by “{shown}” here.", hint="Use the name shown above their messages."
        )
    if len(found) > 1:
        listed = ", ".join(f"“{text}”" for text in found[:MAX_LISTED]) + (", …" if len(found) > MAX_LISTED else "")
        raise InvalidQuestion(f"“{shown}” matches several people: {listed}.", hint="Ask again with the full name.")
    return found[0]
