"""Import the past of a workspace from an export, channel by channel from the oldest message, and where it goes.

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
from bot.permissions.audience import home_space, parse_workspace_space
from bot.platform.history_source import ImportStats
from bot.text.format import EPOCH
from engine import Scope
from engine.scheduling.processes import has_others

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from bot.context import BotContext
    from bot.ingest.documents import ConversationDocuments
    from bot.ingest.files import FileIngest
    from bot.permissions.import_destination import ImportDestination
    from bot.platform.history_source import HistorySource, SourcePlatform
    from bot.platform.models import Channel, Location, Message
    from bot.platform.ports import Platform


log = structlog.get_logger(__name__)

OF_BOTS, WITHOUT_TEXT = "messages of apps, which are not read here", "messages without text"
NOT_INDEXED = "messages that are not indexed: their authors opted out, or they were forgotten"
UNFETCHED = "files that could not be fetched"
MAX_HELD_MESSAGES = 2000  # messages without a pause, beyond which a window is cut anyway
NO_READERS = "closed channels that --channel-map does not name"
NOT_CLOSED = "channels whose channel of --channel-map is not a private one that I can look up"
WAS_CLOSED = "channels that an earlier import kept closed"


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
                self.stats.omissions.note("channels that a manager turned off", channel.name)
                continue
            if refusal := await self._target.prepare(channel):
                self.stats.omissions.note(refusal, channel.name)
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
            space = await self._target.settle_space(channel.location)
            await self._store.imported_spaces.add_home(space)
        self.spaces.add(space)
        held: list[Message] = []
        while (page := await asyncio.to_thread(next, pages, None)) is not None:
            finished, held = split_before_silence([*held, *self._within_retention(channel, page)])
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

    def _within_retention(self, channel: Channel, messages: Sequence[Message]) -> list[Message]:
        days = self._context.settings.retention_days
        oldest = self._context.clock.now() - timedelta(days=days) if days else EPOCH
        kept = [message for message in messages if message.time >= oldest]
        beyond = len(messages) - len(kept)
        self.stats.omissions.note("messages beyond the retention period", channel.name, count=beyond)
        return kept

    async def _import_messages(self, channel: Channel, messages: Sequence[Message], *, edits: bool) -> None:
        """Ingest new messages, and apply edits."""
        location = channel.location
        known = {
            message.id: message for message in await self._store.messages.list_by_ids(location.room, _ids(messages))
        }
        new = [message for message in messages if message.id not in known or not known[message.id].is_applied]
        self.stats.seen += len(messages)
        if new:
            await self._backfill.ingest_messages(location, messages)
            found = await self._store.messages.list_by_ids(location.room, _ids(new))
            stored = {message.id for message in found if message.is_applied}
            self.stats.new += len(stored)
            await self._note_unindexed(channel, [message for message in new if message.id not in stored])
        for message in messages:
            before = known.get(message.id)
            if edits and before and message.edited and is_edited(message, before.digest):
                await self._backfill.apply_edit(message, before.digest)
                self.stats.edited += 1
            if message.uploads:
                await self._import_files(channel, message)

    async def _note_unindexed(self, channel: Channel, messages: Sequence[Message]) -> None:
        """Count the messages that did not become passages, by reason; files are read by themselves."""
        reads_bots = await self._context.indexes_bot_messages(channel.location.room)
        for message in messages:
            is_silent = not message.content.strip()
            reason = OF_BOTS if message.by_bot and not reads_bots else WITHOUT_TEXT if is_silent else NOT_INDEXED
            self.stats.omissions.note(reason, channel.name)

    async def _import_files(self, channel: Channel, message: Message) -> None:
        """Ingest the files of a message that are not documents yet."""
        room = message.location.room
        before = await self._store.files.list_by_messages(room, [message.id])
        known = {file.upload_id for file in before if file.is_applied}
        missing = tuple(upload for upload in message.uploads if upload.id not in known)
        if not missing or not await self._messages.is_indexable(message):
            return
        try:
            outcomes = await self._files.ingest(replace(message, uploads=missing), quiet=True, with_question=True)
        except PlatformError as error:
            log.warning("import.file_fetch_failed", channel=room, error=type(error).__name__)
            for upload in missing:
                self.stats.omissions.note(UNFETCHED, channel.name, upload.name)
            return
        refused = [outcome for outcome in outcomes if isinstance(outcome, RejectedFile)]
        self.stats.files += len(outcomes) - len(refused)
        for outcome in refused:
            self.stats.omissions.note(f"files: {outcome.reason}", channel.name, outcome.name)
        async with self._documents.lock(room):
            for file in await self._store.files.list_by_messages(room, [message.id]):
                if not file.is_applied:
                    await self._documents.forget_document(file.document)


def _ids(messages: Sequence[Message]) -> list[str]:
    return [message.id for message in messages]


class ImportTarget:
    """The spaces of an import. `context` and `source` belong to it; `platforms` are those that are attached now."""

    def __init__(
        self,
        context: BotContext,
        platforms: Mapping[str, Platform],
        source: SourcePlatform,
        destination: ImportDestination | None,
    ) -> None:
        self._context = context
        self._platforms = platforms
        self._source = source
        self._destination = destination

    async def prepare(self, channel: Channel) -> str:
        """Decide the space of a channel, if a person says where it is read; why it is left out, else ""."""
        if self._destination is None:
            return ""
        space, room = self._destination.find_home(channel), channel.location.room
        if not space:
            return NO_READERS
        if parse_workspace_space(space) and not await self._was_open(room):
            return WAS_CLOSED
        target = self._destination.find_channel(channel)
        if target is not None and not await self._is_closed(target):
            return NOT_CLOSED
        self._source.spaces[room] = space
        return ""

    async def settle_space(self, location: Location) -> str:
        """Move what is known of a channel to its space, never from a narrower one to a wider one; returns the space.

        The caller holds the lock of the room, or an older look-up could undo what a change of the audience did.
        """
        room, engine = location.room, self._context.engine_context.engine
        if room not in self._source.spaces and (
            room in await self._list_spaces(room) or await self._is_elsewhere(room)
        ):
            self._source.closed_rooms.add(room)
        await self._context.store.imported_spaces.set(room, self._source.spaces.get(room, ""))
        self._context.audience.invalidate(location)
        home = home_space(await self._context.audience.get_channel(location))
        await self._context.store.unread_files.move_room(room, home)
        await engine.documents.move_room(room, home)
        return home

    async def _list_spaces(self, room: str) -> set[str]:
        """The spaces of what is known of a room."""
        known = await self._context.engine_context.engine.documents.list(Scope(frozenset(), frozenset({room})))
        return {channel.space for channel in known}

    async def _was_open(self, room: str) -> bool:
        """Whether everything that is known of a room is in a space of a workspace."""
        return all(parse_workspace_space(space) for space in await self._list_spaces(room))

    async def _is_closed(self, target: Location) -> bool:
        """Whether only its members can read a channel, as far as can be known: without a connection it stays unread."""
        platform = self._platforms.get(target.platform)
        if platform is None:
            return True
        try:
            found = await platform.fetch_channel(target)
        except (PlatformError, ValueError):  # the latter: an id that the platform cannot have
            return False
        return found.kind == "closed" and not found.shared

    async def _is_elsewhere(self, room: str) -> bool:
        """Whether other processes work on the data, and the bot is not in the channel: its audience is unknown here."""
        processes = self._context.engine_context.engine.processes
        return await has_others(processes) and not await self._context.store.channels.is_announced(room)
