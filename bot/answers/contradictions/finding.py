"""Find statements that disagree within a scope, from what it holds when somebody asks; nothing of them is stored."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

from bot.store.models import passage_key
from bot.store.schedules.contradictions import KnownContradiction
from engine import Filters, Question
from engine.llm.offline.contradictions.finding import MAX_APART, find_contradictions
from engine.models import Overview

if TYPE_CHECKING:
    from datetime import datetime

    from bot.platform.models import Location
    from engine import Engine, Scope, Source
    from engine.llm.offline.contradictions.finding import Contradiction

MAX_PAGES = 10  # of passages, the newest; each has up to 200 chunks
PAGE_TOKENS = 100_000
ID_LENGTH = 12


async def find_in_scope(engine: Engine, scope: Scope, now: datetime) -> dict[str, Contradiction]:
    """What disagrees among the passages of a scope of the last months, by id, the newest first."""
    sources = await _load(engine, scope, Filters(since=now - MAX_APART))
    found = await asyncio.to_thread(find_contradictions, sources)
    return {build_id(each): each for each in reversed(found)}


async def _load(engine: Engine, scope: Scope, within: Filters) -> list[Source]:
    found = dict[tuple[str, str, str], "Source"]()
    for _ in range(MAX_PAGES):
        question = Question("news", scope, filters=within, overview=Overview("digest"), max_total_tokens=PAGE_TOKENS)
        context = await engine.retrieve(question)
        found |= {(source.document, source.passage, source.text): source for source in context.sources}
        oldest = min((source.time for source in context.sources if source.time), default=None)
        if oldest is None or context.overview is None or not context.overview.truncated:
            break
        within = replace(within, until=oldest - timedelta(microseconds=1))
    return list(found.values())


def build_id(found: Contradiction) -> str:
    """The id of two statements, which says nothing of their words."""
    parts = (key_of(found.older.source), key_of(found.newer.source), found.aspect)
    return sha256("\0".join(("contradiction", *parts)).encode()).hexdigest()[:ID_LENGTH]


def key_of(source: Source) -> str:
    """The key of the message or file of a source."""
    return passage_key(source.document, source.room, source.passage)


def describe_known(found: Contradiction, place: Location) -> KnownContradiction:
    """What is stored of two statements once somebody is told or decides."""
    return KnownContradiction(build_id(found), place, key_of(found.older.source), key_of(found.newer.source))


def list_rooms(found: Contradiction) -> frozenset[str]:
    """The rooms of both statements."""
    return frozenset({found.older.source.room, found.newer.source.room})
