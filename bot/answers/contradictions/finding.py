"""Find statements that disagree, within a scope or among the sources of an answer; nothing of them is stored."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

from bot.permissions.provenance import can_read, provenance_of_room
from bot.store.models import passage_key
from bot.store.schedules.contradictions import KnownContradiction
from bot.texts.overviews.coverage import describe_coverage, describe_wrong
from engine import Filters, Question
from engine.llm.offline.contradictions.coverage import measure_coverage, says_one_thing
from engine.llm.offline.contradictions.finding import MAX_APART, find_contradictions
from engine.models import Overview

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bot.context import BotContext
    from bot.platform.models import Location
    from engine import Context, Engine, Scope, Source
    from engine.llm.offline.contradictions.finding import Contradiction


MAX_PAGES = 10  # of passages, the newest; each has up to 200 chunks
PAGE_TOKENS = 100_000
ID_LENGTH = 12


async def find_in_scope(engine: Engine, scope: Scope, now: datetime) -> dict[str, Contradiction]:
    """What disagrees among the passages of a scope of the last months, by id, the newest first."""
    sources = await _load(engine, scope, Filters(since=now - MAX_APART))
    found = await asyncio.to_thread(find_contradictions, sources)
    return {build_id(contradiction): contradiction for contradiction in reversed(found)}


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


MAX_SOURCES = 30  # that are compared


async def list_coverage_notices(
    context: BotContext, sources: Sequence[Source], retrieved: Context | None, place: Location, person: str = ""
) -> list[str]:
    """How many of the cited sources say the same, how many disagree, and which somebody found wrong; often nothing.

    Of a wrong one is told where the right one may be read, by a person alone or by everyone at a place.
    """
    if context.settings.contradictions == "off" or not sources or retrieved is None:
        return []
    cited = {source.number for source in sources}
    replaced = {pair.older for pair in retrieved.replacements if pair.older in cited}
    found = await asyncio.to_thread(measure_coverage, sources[:MAX_SOURCES], replaced) if len(cited) > 1 else None
    notices = [describe_coverage(found, context.clock.now())] if found else []
    keys = {key_of(source): source.number for source in sources if says_one_thing(source)}
    wrong = {
        keys[key]
        for key, room in await context.store.contradictions.list_wrong(keys)
        if await can_read(context.audience, provenance_of_room(room), place, person)
    }
    return [*notices, *([describe_wrong(sorted(wrong))] if wrong else [])]
