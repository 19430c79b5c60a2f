"""What an overview rests on: the newest passages of a scope and a span of time, in the order of time."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from engine.llm.offline.highlights import covered
from engine.models import Condensed, Context
from engine.retrieval import sources
from engine.retrieval.context_builder import Recalled, holds
from engine.storage.ledger.queries import lookup
from engine.storage.ledger.queries.latest import latest_chunks, latest_time
from engine.storage.ledger.work import work_queue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.models import Overview, Question
    from engine.storage.ledger import Ledger
    from engine.storage.ledger.queries.lookup import ChunkText

CHUNKS = 200  # of the span, the newest
PARTS = 8  # prompts that they may fill
CHARACTERS = 4  # of a token, about
RECENT = timedelta(days=14)


async def recall_overview(ledger: Ledger, question: Question, overview: Overview) -> Recalled:
    """All that was said within the scope and the span, as far as it can be taken in at once."""
    within = question.within
    generation = await ledger.read(work_queue.generation)
    async with ledger.reader() as db:
        area = await lookup.area(db, question.scope)
        if overview.recent and (newest := await latest_time(db, within, area)):
            within = replace(within, since=newest - RECENT)
        ids = await latest_chunks(db, within, area, CHUNKS + 1)
        texts = await lookup.texts(db, ids[:CHUNKS][::-1], area)
    fitting = _newest_within(texts, PARTS * question.max_total_tokens)
    kept = [replace(text, pieces=tuple(piece for piece in text.pieces if holds(within, piece))) for text in fitting]
    numbered = sources.number(text for text in kept if text.pieces)
    days = covered(numbered.sources) if overview.wanted == "summary" else ""
    made = Context(
        Condensed(question.text),
        question.mode,
        sources=numbered.sources,
        overview=replace(overview, truncated=len(ids) > len(fitting), days=days),
    )
    return Recalled(made, generation, frozenset(text.id for text in fitting))


def _newest_within(texts: Sequence[ChunkText], tokens: int) -> Sequence[ChunkText]:
    """The last of them that have about so many tokens together."""
    for at in range(len(texts) - 1, -1, -1):
        tokens -= len(texts[at].text) // CHARACTERS
        if tokens < 0:
            return texts[at + 1 :] or texts[-1:]
    return texts
