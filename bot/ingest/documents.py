"""Add messages and manual facts to documents and remove them, in the engine and the store.

The store decides first, then the engine follows, then the store records that it did: an interrupted step is repeated,
with the same result.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from bot import texts
from bot.errors import NotAllowed, PermissionDenied
from bot.i18n import gettext
from bot.ingest.conversations import (
    MessageRun,
    first_message,
    has_own_title,
    message_digest,
    rename_conversation,
    retitle_conversation,
    to_indexed_message,
    to_message_record,
)
from bot.ingest.shared_file import UploadsInWork
from bot.permissions.audience import home_space
from bot.permissions.managers import may_post
from bot.store import FileRecord, MessageRecord
from bot.store.models import message_key
from bot.store.schedules.sources import PREFIX
from bot.store.schedules.watches import NewsId, digest_statement
from bot.text.excerpts import source_title
from bot.text.markdown import sanitize_inline
from bot.text.speech.mentions import strip_mention
from engine import Document, Scope
from engine.errors import InvalidQuestion, NotFound
from engine.llm.offline.points.watched import list_statements

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Sequence
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime

    from bot.context import BotContext
    from bot.ingest.conversations import IndexedMessage
    from bot.platform.models import Location, Message
    from engine import Extraction, Passage

MAX_NEWS = 200  # statements of a new version of a document that are compared with standing requests


class ConversationDocuments:
    """The documents of conversations. A caller that changes a room holds its `lock`.

    `uploads_in_work`: files that will become documents.
    """

    def __init__(self, context: BotContext, uploads_in_work: UploadsInWork | None = None) -> None:
        self._context = context
        self._engine = context.engine_context.engine
        self._store = context.store
        self.uploads_in_work = uploads_in_work or UploadsInWork()

    def lock(self, room: str) -> AbstractAsyncContextManager[None]:
        """The lock that protects the state of a room from other tasks, here and in other processes."""
        return self._engine.processes.lease(f"room {room}")

    async def render_message(self, message: Message) -> IndexedMessage | None:
        """Render a message for its readers with current names; None if it has no text."""
        if not message.content.strip():
            return None
        platform, location = self._context.platform_for(message.location), message.location
        said = replace(message, text=strip_mention(message.text)) if message.addressed else message
        text = await platform.to_plain_text(location.workspace, said.content)
        link = platform.message_link(location, message.id)
        return to_indexed_message(
            message, await self._get_author_name(message), text, link, self._context.engine_context.count_tokens
        )

    async def add_run(self, run: MessageRun, location: Location, *, opened: bool = False) -> None:
        """Add messages to their document as passages; existing ones are unchanged."""
        records = [to_message_record(message, run.document) for message in run.messages]
        await self._store.messages.insert(records, run.thread, opened=opened)
        pending_ids = {record.id for record in await self._list_records(location.room, run) if not record.is_applied}
        if pending_ids:
            await self._move_root_to_thread(run, location)
            await self.note_watched(location, [record for record in records if record.id in pending_ids])
            await self._amend_or_add(
                run,
                location,
                [message.passage for message in run.messages if message.message.id in pending_ids],
                opened,
            )
            await self._store.messages.record_applied(location.room, pending_ids)

    async def edit_message(self, indexed: IndexedMessage, document: str) -> None:
        """Replace the text of a message, and redact answers that used it."""
        location, title = indexed.message.location, indexed.title
        key = message_key(location.room, indexed.message.id)
        reworded = await self._has_new_text(indexed, document, key)
        former = await self._find_former_title(indexed, document)
        keys = [key, document] if former else [key]
        async with self._redact_after(keys, document) if reworded or former else nullcontext():
            await self._amend_or_add(
                MessageRun(document, location.thread, title, (indexed,)), location, [indexed.passage], opened=False
            )
            if former:
                passage, named = indexed.passage, retitle_conversation(former, title)
                await self._engine.documents.retitle(document, named, passage.link, passage.time)
        await self.note_watched(location, [to_message_record(indexed, document)])  # only now is its text the new one
        await self._store.messages.update_digest(location.room, indexed.message.id, message_digest(indexed.message))
        await self._store.messages.record_applied(location.room, [indexed.message.id])

    async def remove_messages(self, messages: Collection[MessageRecord], *, forgets_author: bool = False) -> None:
        """Remove messages from their documents and the store. `forgets_author`: posted answers name them no more."""
        by_document = sorted(messages, key=lambda each: (each.room, each.document))
        for (room, document), group in groupby(by_document, key=lambda each: (each.room, each.document)):
            ids = [member.id for member in group]
            keys = [message_key(room, id_) for id_ in ids]
            found = await self._find_document(document, room)
            if found is not None and first_message(document) in ids and has_own_title(found.title):
                keys.append(document)  # the title is a text of what goes
            async with self._redact_after(keys, document):
                if found is not None:
                    await self._rename_sources(found, ids, posted=forgets_author)
                if document:
                    await self._remove_passages(document, room, drop=ids)
            await self._store.messages.delete(room, ids)

    async def forget_document(self, document: str) -> bool:
        """Forget a document; returns whether it existed."""
        records = await self._store.messages.list_by_document(document)
        async with self._redact_after(
            [document, *(message_key(record.room, record.id) for record in records)], document
        ):
            existed = await self._engine.documents.forget(document)
        await self._store.conversations.delete(document)
        await self._store.files.delete(document)
        if document.startswith(PREFIX):
            await self._store.watches.forget_news(document)
        return existed

    async def replace_document(self, document: Document, *, watched_in: Location | None = None) -> bool:
        """Ingest a new version of a document; if it changed, redact answers that used it.

        `watched_in`: a workspace of which standing requests are compared with what is new in it.
        """
        keys, pending = [document.key], self._store.pending_redactions
        cut_off = await pending.is_pending(document.key)
        await pending.add(keys, document.key)
        if watched_in is not None:
            await self._note_news(document, watched_in)
        changed = await self._engine.documents.add(document)
        if changed or cut_off:
            await self._store.answers.redact(keys, document.key)
        else:
            await pending.cancel(keys, document.key)
        return changed

    @asynccontextmanager
    async def _redact_after(self, keys: Collection[str], document: str) -> AsyncIterator[None]:
        """Redact answers that used these keys once the engine has changed; safe if the process stops in between."""
        await self._store.pending_redactions.add(keys, document)
        yield
        await self._store.answers.redact(keys, document)

    async def _has_new_text(self, indexed: IndexedMessage, document: str, key: str) -> bool:
        """Whether answers may have used other text of a message, also after an interrupted attempt."""
        if await self._store.pending_redactions.is_pending(key) or not await self._store.answers.is_used(key):
            return True
        before = await self._find_passage(document, indexed.message.id, indexed.message.location)
        return before is None or before.text.split() != indexed.passage.text.split()

    async def close_conversation(self, document: str) -> None:
        """Close a conversation, so that it is extracted as a whole."""
        with suppress(NotFound):
            await self._engine.documents.amend(document, is_open=False)
        await self._store.conversations.close(document)

    async def note_watched(self, location: Location, records: Collection[MessageRecord | FileRecord]) -> None:
        """Note new messages and files to compare with standing requests, where there are any."""
        start = await self._store.watches.find_start(location.platform, location.workspace)
        news = [record for record in records if start is not None and record.time >= start]
        if news:
            ids = [record.id if isinstance(record, MessageRecord) else record.document for record in news]
            await self._store.watches.add_candidates(location.room, ids, self._context.clock.now())

    async def _note_news(self, document: Document, workspace: Location) -> None:
        """Note a document that will be added, or the new statements of one that will be replaced."""
        watches = self._store.watches
        if await watches.find_start(workspace.platform, workspace.workspace) is None:
            return
        before, now = await self._find_document(document.key, document.room), self._context.clock.now()
        if before is None:
            await watches.add_candidates(document.room, [str(NewsId(document.key))], now)
            return
        former, present = (
            await asyncio.to_thread(_list_digests, before),
            await asyncio.to_thread(_list_digests, document),
        )
        await watches.forget_news(document.key, present.keys())
        news = [str(NewsId(document.key, place, digest)) for digest, place in present.items() if digest not in former]
        await watches.add_candidates(document.room, news[:MAX_NEWS], now)

    async def _list_records(self, room: str, run: MessageRun) -> list[MessageRecord]:
        """The stored messages of a run that belong to its document."""
        found = await self._store.messages.list_by_ids(room, [message.message.id for message in run.messages])
        return [message for message in found if message.document == run.document]

    async def _amend_or_add(
        self,
        run: MessageRun,
        location: Location,
        passages: Sequence[Passage],
        opened: bool,  # noqa: FBT001  - a map argument
    ) -> None:
        try:
            await self._engine.documents.amend(run.document, upsert=passages, is_open=True if opened else None)
        except NotFound:
            await self._engine.documents.add(await self._build_document(run, location, passages, opened))

    async def _build_document(
        self,
        run: MessageRun,
        location: Location,
        passages: Sequence[Passage],
        opened: bool,  # noqa: FBT001 - as in Document
    ) -> Document:
        channel = await self._context.audience.get_channel_info(location)
        return Document(
            key=run.document,
            space=home_space(channel),
            room=location.room,
            title=run.title if channel.kind == "direct" else f"#{channel.name}: {run.title}",
            passages=tuple(passages),
            time=passages[0].time,
            link=passages[0].link,
            kind="conversation",
            is_open=opened,
        )

    async def _move_root_to_thread(self, run: MessageRun, location: Location) -> None:
        """Move the root of a thread from its window to the thread."""
        root = await self._store.messages.get(location.room, run.thread) if run.thread else None
        if root is None or root.document in {"", run.document}:
            return
        passage = await self._find_passage(root.document, root.id, location)
        if passage:
            title = f"Thread by {passage.author}, {root.time:%Y-%m-%d}"
            await self._amend_or_add(
                MessageRun(run.document, run.thread, title, run.messages), location, [passage], opened=False
            )
            await self._remove_passages(root.document, location.room, drop=[root.id])
        await self._store.messages.move_to_document(location.room, root.id, run.document)

    async def list_passages(self, document: str, room: str) -> tuple[Passage, ...]:
        """The passages of a conversation; none if it is not in the engine."""
        found = await self._find_document(document, room)
        return found.passages if found else ()

    async def _find_document(self, document: str, room: str) -> Document | None:
        try:
            return await self._engine.documents.get(document, Scope(frozenset(), frozenset({room})))
        except NotFound:
            return None

    async def _find_former_title(self, indexed: IndexedMessage, document: str) -> str:
        """The title of a conversation that its first message gave it, if an edit changes it; "" otherwise."""
        message = indexed.message
        found = await self._find_document(document, message.location.room)
        if found is None or first_message(document) != message.id:
            return ""
        is_own = bool(message.title) or has_own_title(found.title)
        return found.title if is_own and retitle_conversation(found.title, indexed.title) != found.title else ""

    async def _find_passage(self, document: str, message: str, location: Location) -> Passage | None:
        passages = await self.list_passages(document, location.room)
        return next((passage for passage in passages if passage.key == message), None)

    async def _remove_passages(self, document: str, room: str, drop: Collection[str]) -> None:
        """Remove passages of a conversation, and name it after the first that is left."""
        with suppress(NotFound):
            await self._engine.documents.amend(document, remove=drop)
        left = await self._find_document(document, room)
        if left is None or (first_message(document) not in drop and has_own_title(left.title)):
            return
        first = left.passages[0]
        if (first.link, first.time) != (left.link, left.time) or first_message(document) in drop:
            title = rename_conversation(document, left.title, first)
            await self._engine.documents.retitle(document, title, first.link, first.time)

    async def _rename_sources(self, document: Document, drop: Collection[str], *, posted: bool) -> None:
        """Name a conversation in stored answers after the first passage that is left, before the others are removed.

        Its title names the author of the first one.
        """
        first = next((passage for passage in document.passages if passage.key not in drop), None)
        if first is None or has_own_title(document.title):
            return
        title = rename_conversation(document.key, document.title, first)
        former, named = (sanitize_inline(source_title(each, first.label)[0]) for each in (document.title, title))
        if former != named:
            await self._store.answers.rename_sources(document.key, former, named, posted=posted)

    async def _get_author_name(self, message: Message) -> str:
        """The author's name; their id if the platform does not provide one."""
        location = message.location
        try:
            return (await self._context.audience.get_person_at(location, message.author)).name
        except PermissionDenied:
            return message.author


@dataclass(frozen=True, slots=True)
class Poster:
    """Who adds a fact. `may_post`: whether their platform lets them post there; None if it did not say."""

    person: str
    may_post: bool | None = None


class ManualFacts:
    """Adds facts. Callers do not hold the lock of the room."""

    def __init__(self, context: BotContext, documents: ConversationDocuments) -> None:
        self._context = context
        self._documents = documents

    async def add_fact(self, location: Location, poster: Poster, facts: Extraction, time: datetime) -> str:
        """Add a fact to the space of its channel; returns its document's key.

        Raises NotAllowed for a person who may not post there, InvalidQuestion if nothing can be added there.
        """
        person = poster.person
        async with self._documents.lock(location.room):
            await self._check_may_post(location, poster)
            await self._check_allowed(location, person)
            space = await self._context.audience.get_home_space(location)
            key = await self._context.engine_context.engine.corrections.add_facts(
                space, location.room, facts, time=time
            )
            await self._context.store.files.insert(FileRecord(key, location.room, "", "", person, time))
        return key

    async def _check_may_post(self, location: Location, poster: Poster) -> None:
        if not await may_post(self._context.audience, location, poster.person, said=poster.may_post):
            raise NotAllowed(gettext(texts.CANNOT_WRITE), hint=gettext(texts.JOIN_HINT))

    async def _check_allowed(self, location: Location, person: str) -> None:
        store = self._context.store
        if not (await self._context.get_channel_settings(location.room)).ingest:
            raise InvalidQuestion(gettext("Reading is turned off in this channel, so nothing can be added to it."))
        direct = (await self._context.audience.get_channel(location)).kind == "direct"
        if not (direct or await store.channels.is_announced(location.room)):
            raise InvalidQuestion(gettext(texts.CHANNEL_NOT_INDEXED), hint=gettext(texts.INVITE_HINT))
        if notice := await self._context.find_opt_out(location, person):
            raise InvalidQuestion(notice)


def _list_digests(document: Document) -> dict[str, int]:
    """The digests of the statements in a document, each with the place of the first passage that has it."""
    passages = tuple(enumerate(document.passages))[::-1]
    return {digest_statement(text): place for place, each in passages for text in reversed(list_statements(each))}
