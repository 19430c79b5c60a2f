"""Ingest, edit and delete single messages and their files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from bot import texts
from bot.i18n import gettext
from bot.ingest.conversations import (
    EMPTY_DIGEST,
    MessageRun,
    StoredWindow,
    choose_window,
    is_edited,
    message_digest,
    posted_digest,
    thread_key,
    to_unindexed_record,
)
from bot.ingest.shared_file import LINK_PREFIX
from bot.store import FILES_ONLY
from bot.store.models import message_key
from bot.text.excerpts import content_words, has_any_word
from bot.text.format import EPOCH
from bot.text.speech.addressed import classify_addressed
from engine.parsers.chat_export import CONVERSATION_GAP

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from bot.context import BotContext
    from bot.ingest.conversations import IndexedMessage
    from bot.ingest.documents import ConversationDocuments
    from bot.platform.models import Location, Message, Upload
    from bot.store import MessageRecord


def is_for_bot(message: Message) -> bool:
    """Whether a message asks the bot or commands it; what it is told is a message like any other."""
    if message.calls_another:
        return False
    return message.addressed and classify_addressed(message.text) not in {"statement", "aside"}


class ReadChannels(Protocol):
    """Decides which channels are read."""

    async def ensure_joined(self, location: Location) -> bool:
        """Whether a channel is read; joins it if the bot was added unnoticed."""


class MessageIngest:
    """Applies message events to documents. The caller holds the lock of the room."""

    def __init__(self, context: BotContext, documents: ConversationDocuments, membership: ReadChannels) -> None:
        self._context = context
        self._documents = documents
        self._membership = membership
        self._store = context.store

    async def ingest(self, message: Message, *, addressed: bool, is_explicit: bool = False) -> None:
        """Ingest a new message; one that asks the bot is stored, but not indexed.

        `is_explicit`: its author asked for it, even if they had opted out at its time.
        """
        room = message.location.room
        known = await self._store.messages.get(room, message.id)
        if addressed:
            await self._record_addressed(message, known)
        elif not (known and known.is_applied) and await self.is_indexable(message, is_explicit=is_explicit):
            await self._index(message, known)

    async def ingest_told(self, message: Message) -> None:
        """Ingest a statement to the bot, unless `find_refusal` has a reason against it.

        Direct messages are kept in the space of their author.
        """
        room = message.location.room
        known = await self._store.messages.get(room, message.id)
        is_gone = bool(await self._store.messages.find_tombstones(room, [message.id]))
        if not (is_gone or (known and known.is_applied) or await self.find_refusal(message)):
            await self._index(replace(message, addressed=True), known)

    async def find_refusal(self, message: Message) -> str:
        """Why a statement to the bot is not kept, in the active language; empty if it is. Raises PlatformError."""
        location = message.location
        if notice := await self._context.find_opt_out(location, message.author, message.time):
            return notice
        if (await self._context.audience.get_channel_info(location)).kind == "direct":
            return ""
        chosen = await self._context.get_channel_settings(location.room)
        is_read = await self._membership.ensure_joined(location) and chosen.content != FILES_ONLY
        return "" if is_read else gettext(texts.CHANNEL_NOT_INDEXED)

    async def ingest_unaddressed(self, message: Message) -> None:
        """Ingest a message that was first treated as a question to the bot."""
        await self._store.messages.delete(message.location.room, [message.id])
        await self.ingest(message, addressed=False)

    async def apply_edit(self, message: Message) -> Message:
        """Compare a message with the stored one and apply changes; returns it with its new files only."""
        room = message.location.room
        new_uploads = () if message.own else await self.reconcile_files(message)
        if message.own or await self._store.messages.find_tombstones(room, [message.id]):
            return replace(message, uploads=())
        known = await self._store.messages.get(room, message.id)
        if known is None or (not known.document and known.digest == EMPTY_DIGEST):
            await self._store.messages.delete(room, [message.id])
            await self._ingest_late(message)
        elif known.document and not (known.is_applied and known.digest == message_digest(message)):
            indexed = None if is_for_bot(message) else await self._documents.render_message(message)
            if indexed:
                await self._documents.edit_message(indexed, known.document)
            else:
                await self._documents.remove_messages([known])
        elif not known.document and is_edited(message, known.digest):
            await self._edit_unindexed(message)
            if message.addressed and not is_for_bot(message):  # a question became a statement
                await self._store.messages.delete(room, [message.id])
                await self.ingest_told(message)
        return replace(message, uploads=new_uploads)

    async def _edit_unindexed(self, message: Message) -> None:
        """Edit a message without a passage, such as a question, and redact the old text in answers."""
        room = message.location.room
        await self._store.answers.redact([message_key(room, message.id)])
        await self._edit_question(message)
        await self._store.messages.update_digest(room, message.id, posted_digest(message))

    async def _edit_question(self, message: Message) -> None:
        """Store the edited question; redact its answer if it repeats words that only the old question had."""
        answer = await self._store.answers.get_by_message(message.location.without_thread, message.id)
        if answer is None or answer.message_id != message.id:
            return
        shown = " ".join(f"{source.title} {source.excerpt}" for source in answer.sources)
        if has_any_word(
            content_words(answer.question) - content_words(message.posted) - content_words(shown), answer.text
        ):
            await self._store.answers.redact_one(answer.id)
        await self._store.answers.update_question(answer.id, message.posted)

    async def delete_permanently(self, location: Location, ids: Collection[str], *, requested: bool = False) -> None:
        """Delete messages and their files, and never ingest them again.

        `requested`: a person asked for the deletion, and the platform may still have them.
        """
        await self._store.messages.add_tombstones(location.room, ids, requested=requested)
        await self.remove_from_index(location, ids)

    async def remove_from_index(self, location: Location, ids: Collection[str]) -> None:
        """Remove messages and their files from the index; they are ingested again if they appear again."""
        room = location.room
        await self._store.answers.redact([message_key(room, id_) for id_ in ids])
        await self._documents.remove_messages(await self._store.messages.list_by_ids(room, ids))
        for file in await self._store.files.list_by_messages(room, ids):
            await self._documents.forget_document(file.document)
        await self._store.unread_files.delete_by_messages(room, ids)
        await self._store.answers.delete_by_messages(room, ids)

    async def remove_uploads(self, location: Location, uploads: Collection[str]) -> None:
        """Remove files, in one channel or everywhere."""
        whole = f"{location.platform}:{location.workspace}:"
        await self._store.messages.add_tombstones(location.room if location.channel else whole, uploads)
        for file in await self._store.files.list_by_uploads(whole, uploads):
            if not location.channel or file.room == location.room:
                await self._documents.forget_document(file.document)
        await self._store.unread_files.delete_by_uploads(whole, uploads, location.room if location.channel else "")

    async def is_indexable(self, message: Message, *, is_explicit: bool = False) -> bool:
        """Whether a message may be indexed at all."""
        return bool(await self.select_indexable(message.location, [message], is_explicit=is_explicit))

    async def select_indexable(
        self, location: Location, messages: Sequence[Message], *, is_explicit: bool = False
    ) -> list[Message]:
        """The messages of a channel that may be indexed at all."""
        bots = any(message.by_bot for message in messages) and await self._context.indexes_bot_messages(location.room)
        ours = [
            message for message in messages if not (message.own or is_for_bot(message) or (message.by_bot and not bots))
        ]
        if not ours or not await self._membership.ensure_joined(location):
            return []
        if (await self._context.get_channel_settings(location.room)).content == FILES_ONLY:
            return []
        authors = {our.author for our in ours}
        opted_out_until = await self._store.opt_outs.find_ends(location.platform, location.workspace, authors)
        gone = await self._store.messages.find_tombstones(location.room, [our.id for our in ours])

        def is_opted_out(message: Message) -> bool:
            until = opted_out_until.get(message.author, EPOCH)
            return until is None or (message.time < until and not is_explicit)

        return [our for our in ours if our.id not in gone and not is_opted_out(our)]

    async def _record_addressed(self, message: Message, known: MessageRecord | None) -> None:
        if await self._store.messages.find_tombstones(message.location.room, [message.id]):
            return
        if known and known.document:
            await self._documents.remove_messages([known])
        await self._store.messages.insert([to_unindexed_record(message)])

    async def _ingest_late(self, message: Message) -> None:
        """An edit arrived before its message, or belongs to one from before the bot joined."""
        horizon = await self._store.channels.get_horizon(message.location.room)
        if (horizon is None or message.time >= horizon) and await self.is_indexable(message):
            await self._index(message, None)

    async def _index(self, message: Message, known: MessageRecord | None) -> None:
        indexed = await self._documents.render_message(message)
        if indexed is None:
            await self._store.messages.insert([to_unindexed_record(message)] if message.uploads else [])
            return
        document = known.document if known else await self._resolve_document(indexed)
        run = MessageRun(document, message.location.thread, indexed.title, (indexed,))
        await self._documents.add_run(run, message.location, opened=True)

    async def _resolve_document(self, indexed: IndexedMessage) -> str:
        message = indexed.message
        room, root = message.location.room, message.location.thread
        if root or await self._store.messages.list_thread_roots(room, [message.id]):
            return thread_key(room, root or message.id)
        since, until = message.time - CONVERSATION_GAP, message.time + CONVERSATION_GAP
        nearby = await self._store.conversations.list_overlapping(room, since, until)
        return choose_window(
            indexed,
            [StoredWindow(record, await self._documents.list_passages(record.document, room)) for record in nearby],
        )

    async def reconcile_files(self, message: Message) -> tuple[Upload, ...]:
        """Forget files that a message no longer has, also those that are still being read; returns the new ones."""
        room, now = message.location.room, {upload.id for upload in message.uploads}
        in_work = self._documents.uploads_in_work.list_by_message(room, message.id)
        await self._store.messages.add_tombstones(room, in_work - now)
        await self._store.unread_files.delete_others(room, message.id, now)
        before = await self._store.files.list_by_messages(room, [message.id])
        for file in before:
            if file.upload_id not in now and not file.upload_id.startswith(LINK_PREFIX):
                await self._store.messages.add_tombstones(room, [file.upload_id])
                await self._documents.forget_document(file.document)
        return tuple(upload for upload in message.uploads if upload.id not in {file.upload_id for file in before})
