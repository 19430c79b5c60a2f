"""Compare messages and files with standing requests."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from bot.ingest.sources.places import SOURCE_PLATFORM, find_workspace
from bot.platform.models import Location
from bot.store import MessageRecord
from bot.store.schedules.watches import NewsId, WatchCandidate, digest_statement
from engine import Filters, Question, Scope, Source
from engine.errors import NotFound
from engine.llm.offline.points.watched import WatchedSources, list_statements, parse_subject

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from datetime import datetime

    from bot.store import BotStore, FileRecord
    from bot.store.schedules.watches import Watch, WatchNotice
    from engine import Document, Engine, Passage

    WatchedRecord: TypeAlias = "MessageRecord | FileRecord | SourceNews"

MAX_BEFORE = 12  # messages of the same conversation, or passages of the same file, that are looked at besides
MAX_EARLIER = 6  # passages of the same channel, of which a new value may replace one
MAX_OF_FILE = 500  # passages of a file, its first


@dataclass(frozen=True, slots=True)
class SourceNews:
    """A new document of a source, or a new statement in one; nobody wrote it. `time`: when it was noted."""

    id: NewsId
    room: str
    time: datetime
    author: str = ""
    is_applied: bool = True

    @property
    def document(self) -> str:
        return self.id.document

    def is_new(self, statement: str) -> bool:
        """Whether a statement of the document is new."""
        return self.id.digest in {"", digest_statement(statement)}


class WatchMatcher:
    """Finds out for which standing requests a message or a file is; who may read it is asked elsewhere."""

    def __init__(self, engine: Engine, store: BotStore) -> None:
        self._engine = engine
        self._store = store

    async def find_record(self, found: WatchCandidate | WatchNotice) -> WatchedRecord | None:
        """The message, the file or what is new of a source, if it is stored yet."""
        room, id_ = found.room, found.message
        if news := NewsId.parse(id_):
            return SourceNews(news, room, found.added_at if isinstance(found, WatchCandidate) else found.found_at)
        if (message := await self._store.messages.get(room, id_)) is not None:
            return message
        file = await self._store.files.get(id_)
        return file if file is not None and file.room == room else None

    async def find_workspace(self, room: str) -> Location | None:
        """The channel with this room, or the workspace of those who read a source; None if nobody does."""
        if not room.startswith(f"{SOURCE_PLATFORM}:"):
            return Location.from_room(room)
        sources = await self._store.sources.list_in_room(room)
        return find_workspace(sources[0]) if sources else None

    async def find(
        self, record: WatchedRecord, watches: Sequence[Watch], scope: Scope | None = None
    ) -> dict[str, list[Source]]:
        """What each of the standing requests waited for in a message or a file, by its id; others are left out.

        `scope`: of who is told, if it is not whoever reads the room.
        """
        sources = await self._load(record, scope or Scope(frozenset(), frozenset({record.room})))
        if not sources:
            return {}
        own = sources if _is_whole(record) else sources[-1:]
        is_new = record.is_new if isinstance(record, SourceNews) else None
        found = await asyncio.to_thread(_select, sources, own, watches, is_new)
        for watch in watches:
            if watch.id in found or not _may_replace(watch, own):
                continue
            if earlier := await self._find_earlier(watch, record, sources):
                found |= await asyncio.to_thread(_select, [*earlier, *sources], own, [watch], is_new)
        return found

    async def load_before(self, record: WatchedRecord, event: Source, scope: Scope) -> list[Source]:
        """A passage of a message or a file after those before it."""
        sources = await self._load(record, scope)
        place = next((at for at, each in enumerate(sources) if each.passage == event.passage), -1)
        return sources[max(0, place - MAX_BEFORE) : place + 1]

    async def _load(self, record: WatchedRecord, scope: Scope) -> list[Source]:
        """A message as a source, with those before it in its conversation, or the passages of a file.

        Empty if it cannot be read.
        """
        with suppress(NotFound):
            document = await self._engine.documents.get(record.document, scope)
            last = await asyncio.to_thread(_find_last, record, document.passages)
            first = 0 if _is_whole(record) else max(0, last - MAX_BEFORE)
            return _build_sources(document, document.passages[first : last + 1], record.time)
        return []

    async def _find_earlier(self, watch: Watch, record: WatchedRecord, known: Sequence[Source]) -> list[Source]:
        """What was said about the subject in the same channel before, besides what is known."""
        question = Question(
            watch.subject,
            Scope(frozenset(), frozenset({record.room})),
            mode="naive",
            filters=Filters(until=record.time),
            chunk_top_k=MAX_EARLIER,
            rerank=False,
            low=(watch.subject,),
        )
        found = (await self._engine.retrieve(question)).sources
        places = {(source.document, source.passage) for source in known}
        earlier = (source for source in found if _is_before(source, record.time))
        return sorted(
            (source for source in earlier if (source.document, source.passage) not in places),
            key=lambda source: str(source.time),
        )


def select_events(sources: Sequence[Source], watches: Collection[Watch]) -> dict[str, list[Source]]:
    """The sources that each watch waited for, by its id and in the order of time."""
    watched = WatchedSources(sorted(sources, key=lambda each: str(each.time or "")))
    return {
        watch.id: [event for event in watched.list_events(watch.kind, watch.subject) if _is_news(event, watch)]
        for watch in watches
    }


def _find_last(record: WatchedRecord, passages: Sequence[Passage]) -> int:
    """The place of the only passage that can be what is waited for, -1 without one; of a whole file its end."""
    if isinstance(record, MessageRecord):
        return next((at for at, each in enumerate(passages) if each.key == record.id), -1)
    if not isinstance(record, SourceNews) or not record.id.digest:
        return min(len(passages), MAX_OF_FILE) - 1
    likely = [record.id.place] if record.id.place < len(passages) else []
    return next(
        (at for at in (*likely, *range(len(passages))) if any(map(record.is_new, list_statements(passages[at])))), -1
    )


def _is_whole(record: WatchedRecord) -> bool:
    """Whether all passages of the document are new."""
    return not (record.id.digest if isinstance(record, SourceNews) else isinstance(record, MessageRecord))


def _build_sources(document: Document, passages: Sequence[Passage], time: datetime) -> list[Source]:
    """Passages of a document as sources. `time`: of those that have none."""
    return [
        Source(
            number,
            document.key,
            each.key,
            document.title,
            each.label,
            each.link or document.link,
            each.author,
            each.time or time,
            each.text,
            document.space,
            document.room,
            "",
            number,
        )
        for number, each in enumerate(passages, 1)
    ]


def _select(
    sources: Sequence[Source],
    own: Collection[Source],
    watches: Collection[Watch],
    is_new: Callable[[str], bool] | None,
) -> dict[str, list[Source]]:
    """What each standing request waited for among its own sources; the others are what was said before."""
    watched = WatchedSources(sources)
    found = {watch.id: watched.list_events(watch.kind, watch.subject, own, is_new) for watch in watches}
    return {id_: events for id_, events in found.items() if events}


def _may_replace(watch: Watch, own: Collection[Source]) -> bool:
    return watch.kind == "changed" and any(parse_subject(watch.subject).is_named_in(source.text) for source in own)


def _is_before(source: Source, time: datetime) -> bool:
    return source.time is not None and source.time < time


def _is_news(source: Source, watch: Watch) -> bool:
    return source.time is not None and source.time >= watch.created_at
