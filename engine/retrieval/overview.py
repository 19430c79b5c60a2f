"""Retrieve the context of an overview: the newest passages of a scope and a time span, in chronological order."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from engine.llm.offline.highlights import find_highlights, format_date_range
from engine.llm.offline.supersession.sources import find_replaced_sources
from engine.models import Context, SearchQuery
from engine.retrieval.results import RetrievalResult
from engine.retrieval.sources import matches_filters, number_sources
from engine.text.tokenizer import MEAN_CHARACTERS_PER_TOKEN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.models import Filters, Overview, OverviewKind, Question
    from engine.storage.ledger import LedgerStore, LedgerView
    from engine.storage.ledger.records import ChunkText

MAX_OVERVIEW_CHUNKS = 200  # the newest of the time span
MAX_PROMPT_PARTS = 8  # prompts that the passages may fill
RECENT_PERIOD = timedelta(days=14)
MIN_RECENT_CHUNKS = 12  # of that period; below, older ones are taken, too


async def retrieve_overview(ledger: LedgerStore, question: Question, overview: Overview) -> RetrievalResult:
    """The passages within the scope and the time span, the newest that fit into the prompts."""
    generation = await ledger.settings.current_generation()
    within, ids, texts = await ledger.snapshot(lambda view: _load_newest(view, question, overview))
    if overview.recent and within.since != question.filters.since and not await _has_points(texts, overview.kind):
        earlier = await _load_latest_points(ledger, question, overview)
        within, ids, texts = earlier or (within, ids, texts)
    fitting = _newest_fitting(texts, MAX_PROMPT_PARTS * question.max_total_tokens)
    kept = [
        replace(text, pieces=tuple(piece for piece in text.pieces if matches_filters(within, piece)))
        for text in fitting
    ]
    numbered = number_sources([text for text in kept if text.pieces])
    days = format_date_range(numbered.sources, question.zone) if overview.kind == "summary" else ""
    context = Context(
        SearchQuery(question.text),
        question.mode,
        sources=numbered.sources,
        overview=replace(
            overview, truncated=len(ids) > len(fitting), days=days, since=_format_start(question, overview, within)
        ),
        replacements=await asyncio.to_thread(find_replaced_sources, numbered.sources, newest=True),
    )
    return RetrievalResult(context, generation, frozenset(text.id for text in fitting))


def _load_newest(
    view: LedgerView, question: Question, overview: Overview
) -> tuple[Filters, list[int], list[ChunkText]]:
    """The filters with the beginning of the time span, the newest chunks, and the texts of most of them by time."""
    within, scope_ids = question.filters, view.search.resolve_scope(question.scope)
    ids = view.search.list_latest_chunks(within, scope_ids, MAX_OVERVIEW_CHUNKS + 1)
    if overview.recent and (newest := view.search.find_latest_time(within, scope_ids)):
        recent = replace(within, since=newest - RECENT_PERIOD)
        latest = view.search.list_latest_chunks(recent, scope_ids, MAX_OVERVIEW_CHUNKS + 1)
        if not overview.widens or MIN_RECENT_CHUNKS <= len(latest) < len(ids):
            within, ids = recent, latest
    return within, ids, view.search.load_chunk_texts(ids[:MAX_OVERVIEW_CHUNKS][::-1], scope_ids)


async def _load_latest_points(
    ledger: LedgerStore, question: Question, overview: Overview
) -> tuple[Filters, list[int], list[ChunkText]] | None:
    """The same for the weeks before the latest decision or open question, beside which newer texts are of other things.

    None if there is none.
    """
    everything = await ledger.snapshot(lambda view: _load_newest(view, question, replace(overview, recent=False)))
    _, _, texts = everything
    found = [text for text in texts if await _has_points([text], overview.kind)]
    latest = max((piece.time for text in found for piece in text.pieces if piece.time), default=None)
    if latest is None:
        return everything if found else None
    narrowed = replace(question.filters, until=latest)
    return await ledger.snapshot(lambda view: _load_newest(view, replace(question, filters=narrowed), overview))


async def _has_points(texts: Sequence[ChunkText], kind: OverviewKind) -> bool:
    """Whether texts state what an overview lists; a summary is of anything."""
    if kind == "summary" or not texts:
        return True
    sources = number_sources(texts).sources
    return bool(await asyncio.to_thread(find_highlights, sources, kind))


def _format_start(question: Question, overview: Overview, within: Filters) -> str:
    """The first day of the time span, if the question named none and there is more before it."""
    if not overview.widens or within.since is None or within.since == question.filters.since:
        return ""
    return f"{within.since.astimezone(question.zone):%Y-%m-%d}"


def _newest_fitting(texts: Sequence[ChunkText], tokens: int) -> Sequence[ChunkText]:
    """The last texts that have at most about this many tokens together."""
    for at in range(len(texts) - 1, -1, -1):
        tokens -= len(texts[at].text) // MEAN_CHARACTERS_PER_TOKEN
        if tokens < 0:
            return texts[at + 1 :] or texts[-1:]
    return texts
