"""Import the past of a workspace from an export: channel by channel, from the oldest message to the newest.

What is stored already is skipped, so that an interrupted import, and a newer export, continue where the last one ended.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from bot.errors import PlatformError
from bot.ingest.conversations import is_edited, split_before_silence
from bot.ingest.files import RejectedFile
from bot.ingest.messages import MessageIngest
from bot.ingest.sync.backfill import Backfill
from bot.platform.history_source import ImportStats
from bot.text.format import EPOCH

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from bot.context import BotContext
    from bot.ingest.documents import ConversationDocuments
    from bot.ingest.files import FileIngest
    from bot.ingest.sync.import_target import ImportTarget
    from bot.platform.history_source import HistorySource
    from bot.platform.models import Channel, Location, Message

log = structlog.get_logger(__name__)

NOT_INDEXED = "messages that are not indexed: of bots, without text, opted out, forgotten"
MAX_HELD_MESSAGES = 2000  # messages without a pause, beyond which a window is cut anyway


class SettingsOnly:
    """Decides as `ChannelMembership.ensure_joined` which channels are read: all but those that a manager turned off."""

    def __init__(self, context: BotContext) -> None:
        self._context = context

    async def ensure_joined(self, location: Location) -> bool:
        """Whether a channel may be read."""
        return (await self._context.get_channel_settings(location.room)).ingest


class HistoryImport:
    """One import. `context`, `documents`, `files` and `target` belong to it; their platform is the source's.

    `spaces`: those of the channels that were imported so far.
    """

    def __init__(
        self,
        context: BotContext,
        documents: ConversationDocuments,
        files: FileIngest,
        source: HistorySource,
        target: ImportTarget,
    ) -> None:
        self._context = context
        self._documents = documents
        self._files = files
        self._source = source
        self._target = target
        self._messages = MessageIngest(context, documents, SettingsOnly(context))
        self._backfill = Backfill(context, documents, self._messages, files)
        self._store = context.store
        self.stats = ImportStats()
        self.spaces: set[str] = set()

    async def run(self) -> AsyncIterator[Channel]:
        """Import everything; yields the channel that is being imported, once for each page. Raises EngineError."""
        for channel in await asyncio.to_thread(self._source.list_channels):
            if not (await self._context.get_channel_settings(channel.location.room)).ingest:
                self.stats.omissions["channels that a manager turned off"] += 1
                continue
            if refusal := await self._target.prepare(channel):
                self.stats.omissions[refusal] += 1
                continue
            yield channel
            async for _ in self._import_channel(channel):
                yield channel
            self.stats.channels += 1

    async def _import_channel(self, channel: Channel) -> AsyncIterator[None]:
        """Import one channel; yields after each page."""
        location, pages = channel.location, self._source.read_pages(channel.location)
        edits = await self._may_know_newer_texts(location.room)
        await self._store.channels.upsert_imported(location, channel.name, self._source.until)  # now it is reconciled
        async with self._documents.lock(location.room):
            self.spaces.add(await self._target.settle_space(channel.location))
        held: list[Message] = []
        while (page := await asyncio.to_thread(next, pages, None)) is not None:
            finished, held = split_before_silence([*held, *self._within_retention(page)])
            if len(held) > MAX_HELD_MESSAGES:
                finished, held = [*finished, *held], []
            await self._import_messages(channel, finished, edits=edits)
            yield
        await self._import_messages(channel, held, edits=edits)
        yield

    async def _may_know_newer_texts(self, room: str) -> bool:
        """Whether texts of the source may be newer than the stored ones.

        They are not if a newer export was imported, or if the bot is in the channel, where it receives every edit.
        """
        until = await self._store.channels.get_imported_until(room)
        return not await self._store.channels.is_announced(room) and (until is None or until <= self._source.until)

    def _within_retention(self, messages: Sequence[Message]) -> list[Message]:
        days = self._context.settings.retention_days
        oldest = self._context.clock.now() - timedelta(days=days) if days else EPOCH
        kept = [each for each in messages if each.time >= oldest]
        if len(kept) < len(messages):
            self.stats.omissions["messages beyond the retention period"] += len(messages) - len(kept)
        return kept

    async def _import_messages(self, channel: Channel, messages: Sequence[Message], *, edits: bool) -> None:
        """Ingest new messages, and apply edits."""
        location = channel.location
        known = {each.id: each for each in await self._store.messages.list_by_ids(location.room, _ids(messages))}
        new = [each for each in messages if each.id not in known or not known[each.id].is_applied]
        self.stats.seen += len(messages)
        if new:
            await self._backfill.ingest_messages(location, messages)
            found = await self._store.messages.list_by_ids(location.room, _ids(new))
            stored = sum(each.is_applied for each in found)
            self.stats.new += stored
            self.stats.omissions[NOT_INDEXED] += len(new) - stored
        for message in messages:
            before = known.get(message.id)
            if edits and before and message.edited and is_edited(message, before.digest):
                await self._backfill.apply_edit(message, before.digest)
                self.stats.edited += 1
            if message.uploads:
                await self._import_files(message)

    async def _import_files(self, message: Message) -> None:
        """Ingest the files of a message that are not documents yet."""
        room = message.location.room
        before = await self._store.files.list_by_messages(room, [message.id])
        known = {each.upload_id for each in before if each.is_applied}
        missing = tuple(each for each in message.uploads if each.id not in known)
        if not missing or not await self._messages.is_indexable(message):
            return
        try:
            outcomes = await self._files.ingest(replace(message, uploads=missing), quiet=True, with_question=True)
        except PlatformError as error:
            log.warning("import.file_fetch_failed", channel=room, error=type(error).__name__)
            self.stats.omissions["files that could not be fetched"] += len(missing)
            return
        refused = [each for each in outcomes if isinstance(each, RejectedFile)]
        self.stats.files += len(outcomes) - len(refused)
        self.stats.omissions.update(f"files: {each.reason}" for each in refused)
        async with self._documents.lock(room):
            for file in await self._store.files.list_by_messages(room, [message.id]):
                if not file.is_applied:
                    await self._documents.forget_document(file.document)


def _ids(messages: Sequence[Message]) -> list[str]:
    return [each.id for each in messages]
