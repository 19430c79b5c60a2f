"""What an erasure takes: named before it happens, as the code that erases names it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bot.ingest.conversations import author_key
from bot.ingest.sources.sync import list_stored
from bot.store import Subject
from bot.store.database import NO_LIMIT
from bot.store.erasure.affected import AnswerDemand
from bot.store.models import message_key
from engine import Scope
from engine.storage.ledger.records import ErasedPart

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from datetime import datetime

    from bot.context import BotContext
    from bot.store import MessageRecord

MessageId = tuple[str, str]  # the room and the id of a message
NO_DEMAND = AnswerDemand()


@dataclass(frozen=True, slots=True)
class ErasurePlan:
    """What goes: whole `documents`, and single messages (by room and document) of others, which remain.

    `messages`: all messages whose texts go. `files`: those of the documents that consist of no messages.
    """

    documents: frozenset[str] = frozenset()
    single: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    messages: frozenset[MessageId] = frozenset()
    files: frozenset[str] = frozenset()
    demand: AnswerDemand = field(default_factory=AnswerDemand)

    def list_parts(self) -> list[ErasedPart]:
        """The documents and passages of the engine that go."""
        single = [ErasedPart(document, ids) for (_, document), ids in sorted(self.single.items()) if document]
        return [*(ErasedPart(document) for document in sorted(self.documents)), *single]


class ErasurePlanner:
    """Finds what an erasure takes. It reads only; who erases holds the locks."""

    def __init__(self, context: BotContext) -> None:
        self._context = context
        self._engine = context.engine_context.engine
        self._store = context.store

    async def plan_documents(self, keys: Iterable[str]) -> ErasurePlan:
        """The plan of forgetting documents as a whole."""
        return await self._build(frozenset(keys), ())

    async def plan_message(self, room: str, id_: str) -> ErasurePlan:
        """The plan of forgetting a message, its files, and the answer to it."""
        records = await self._store.messages.list_by_ids(room, [id_])
        files = [file.document for file in await self._store.files.list_by_messages(room, [id_])]
        return await self._build(frozenset(files), records, AnswerDemand(questions={room: frozenset({id_})}))

    async def plan_person(self, subject: Subject) -> ErasurePlan:
        """The plan of forgetting what a person wrote, shared and asked."""
        places = [
            Subject(subject.platform, workspace, subject.person) for workspace in dict.fromkeys((subject.workspace, ""))
        ]
        messages, files = list["MessageRecord"](), set[str]()
        for place in places:
            who = (place.platform, place.workspace, place.person)
            messages += await self._store.messages.list_by_author(*who)
            files |= {file.document for file in await self._store.files.list_by_author(*who)}
        written = frozenset(author_key(place.platform, place.workspace, place.person) for place in places)
        return await self._build(frozenset(files), messages, AnswerDemand(written, people=tuple(places)))

    async def plan_workspace(self, platform: str, workspace: str) -> ErasurePlan:
        """The plan of forgetting everything of a workspace."""
        joined = await self._store.channels.list_joined(platform, workspace)
        keys = {file.document for file in await self._store.files.list_by_workspace(platform, workspace)}
        if joined:
            scope = Scope(frozenset(), frozenset(channel.room for channel in joined))
            keys |= {document.key for document in await self._engine.documents.list(scope)}
        for source in await self._store.sources.list_in_workspace(platform, workspace):
            keys |= {info.key for info in await list_stored(self._context, source)}
        return await self._build(frozenset(keys), (), AnswerDemand(workspace=(platform, workspace)))

    async def plan_expired(self, oldest: datetime) -> ErasurePlan:
        """The plan of deleting messages, files and answers from before a time."""
        messages = await self._store.messages.list_before(oldest, NO_LIMIT)
        files = [file.document for file in await self._store.files.list_before(oldest)]
        return await self._build(frozenset(files), messages, AnswerDemand(before=oldest))

    async def _build(
        self, documents: frozenset[str], messages: Collection[MessageRecord], demand: AnswerDemand = NO_DEMAND
    ) -> ErasurePlan:
        """The plan of these documents and messages; `demand`: what takes answers besides them."""
        contained = {document: await self._store.messages.list_by_document(document) for document in sorted(documents)}
        every = {*messages, *(record for records in contained.values() for record in records)}
        single = defaultdict[tuple[str, str], set[str]](set)
        for message in messages:
            if message.document not in documents:
                single[message.room, message.document].add(message.id)
        asked = {(room, id_) for room, ids in (demand.questions or {}).items() for id_ in ids}
        changed = documents | {document for _, document in single if document}
        named = asked | {(message.room, message.id) for message in every}
        used = documents | demand.keys | {message_key(*message) for message in named}
        return ErasurePlan(
            documents,
            {place: frozenset(ids) for place, ids in single.items()},
            frozenset(named),
            frozenset(each for each, records in contained.items() if not records),
            replace(demand, keys=frozenset(used), documents=changed),
        )
