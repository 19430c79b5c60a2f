"""Compare messages with standing requests."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from engine import Filters, Question, Scope, Source
from engine.errors import NotFound
from engine.llm.offline.points.watched import WatchedSources, parse_subject

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from bot.store import MessageRecord
    from bot.store.schedules.watches import Watch
    from engine import Document, Engine

MAX_BEFORE = 12  # messages of the same conversation that are looked at besides
MAX_EARLIER = 6  # passages of the same channel, of which a new value may replace one


class WatchMatcher:
    """Finds out for which standing requests a message is; who may read it is asked elsewhere."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def find(self, message: MessageRecord, watches: Sequence[Watch]) -> list[Watch]:
        """Those of the standing requests that waited for a message."""
        sources = await self.load(message, Scope(frozenset(), frozenset({message.room})))
        if not sources:
            return []
        found = await asyncio.to_thread(_select, sources, watches)
        rest = [watch for watch in watches if watch not in found and _may_replace(watch, sources[-1])]
        for watch in rest:
            earlier = await self._find_earlier(watch, message)
            if earlier:
                found += await asyncio.to_thread(_select, [*earlier, *sources], [watch])
        return found

    async def load(self, message: MessageRecord, scope: Scope) -> list[Source]:
        """A message as a source, with those before it in its conversation; empty if it cannot be read."""
        with suppress(NotFound):
            document = await self._engine.documents.get(message.document, scope)
            return build_sources(document, message.id)
        return []

    async def _find_earlier(self, watch: Watch, message: MessageRecord) -> list[Source]:
        """What was said about the subject in the same channel before."""
        question = Question(
            watch.subject,
            Scope(frozenset(), frozenset({message.room})),
            mode="naive",
            filters=Filters(until=message.time),
            chunk_top_k=MAX_EARLIER,
            rerank=False,
            low=(watch.subject,),
        )
        found = (await self._engine.retrieve(question)).sources
        return sorted((source for source in found if _is_before(source, message.time)), key=lambda each: str(each.time))


def select_events(sources: Sequence[Source], watches: Collection[Watch]) -> dict[str, list[Source]]:
    """The sources that each watch waited for, by its id and in the order of time."""
    watched = WatchedSources(sorted(sources, key=lambda each: str(each.time or "")))
    return {
        watch.id: [event for event in watched.list_events(watch.kind, watch.subject) if _is_news(event, watch)]
        for watch in watches
    }


def build_sources(document: Document, message: str) -> list[Source]:
    """A message of a conversation as a source, after those before it; empty without it."""
    place = next((at for at, each in enumerate(document.passages) if each.key == message), -1)
    if place < 0:
        return []
    return [
        Source(
            number,
            document.key,
            each.key,
            document.title,
            each.label,
            each.link or document.link,
            each.author,
            each.time,
            each.text,
            document.space,
            document.room,
            "",
            number,
        )
        for number, each in enumerate(document.passages[max(0, place - MAX_BEFORE) : place + 1], 1)
    ]


def _select(sources: Sequence[Source], watches: Sequence[Watch]) -> list[Watch]:
    """The standing requests that waited for the last of the sources."""
    watched = WatchedSources(sources)
    return [watch for watch in watches if watched.is_event_last(watch.kind, watch.subject)]


def _may_replace(watch: Watch, source: Source) -> bool:
    return watch.kind == "changed" and parse_subject(watch.subject).is_named_in(source.text)


def _is_before(source: Source, time: datetime) -> bool:
    return source.time is not None and source.time < time


def _is_news(source: Source, watch: Watch) -> bool:
    return source.time is not None and source.time >= watch.created_at
