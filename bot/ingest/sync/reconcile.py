"""Compare stored messages with the platform's history after downtime: new, edited and deleted ones.

The comparison starts somewhat before the last complete one; events received in the meantime, and an interrupted
comparison, do not move that start.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from bot.errors import ChannelGone, PermissionDenied, PlatformError, WorkspaceGone
from bot.ingest.conversations import is_edited, split_at_silence
from bot.ingest.sync.deletions import find_missing
from bot.platform.ports import ThreadPage
from bot.text.format import EPOCH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from bot.context import BotContext
    from bot.ingest.sync.backfill import Backfill
    from bot.ingest.sync.deletions import DeletionCheck
    from bot.ingest.sync.missed import MissedMessages
    from bot.platform.models import Location, Message
    from bot.store import FileRecord, MessageRecord

log = structlog.get_logger(__name__)

OVERLAP = timedelta(days=1)  # before the last comparison, to find edits and deletions
ACTIVE_THREAD_WINDOW = timedelta(days=7)  # after its last message, a thread is no longer compared
MAX_THREADS = 50  # of a channel
MAX_REPLIES = 200  # of a thread
FILE_BATCH = 50  # files of a channel


@dataclass(frozen=True, slots=True)
class ChannelScan:
    """One comparison of a channel; messages since `oldest` are ingested.

    `stored_digests`: by message id. `seen_ids`: messages of the platform; `messages_with_files`: those with files.
    """

    location: Location
    stored_digests: Mapping[str, str]
    oldest: datetime
    seen_ids: set[str] = field(default_factory=set)
    messages_with_files: dict[str, Message] = field(default_factory=dict)


class Reconciler:
    """Compares stored channels with their platform; `missing` checks messages that lists lack.

    `missed` finds what was said to the bot in direct messages while it was away.
    """

    def __init__(self, context: BotContext, past: Backfill, missing: DeletionCheck, missed: MissedMessages) -> None:
        self._missed = missed
        self._context = context
        self._backfill = past
        self._deletion_check = missing
        self._store = context.store
        self._clock = context.clock

    async def reconcile(self, location: Location, since: datetime | None = None) -> bool:
        """Ingest new messages of a channel, and apply changes. Raises PlatformError.

        False if it is incomplete and must be repeated. `since`: its history need not be read if a process began to do
        so later than that; what could not be confirmed or fetched then is tried again.
        """
        room, began = location.room, await self._store.read_shared_time() or self._clock.now()
        compared = await self._store.channels.get_synced_until(room)
        if compared is None or not await self._is_indexed(room):
            return True
        if since is not None and compared > since:
            scan = ChannelScan(location, {}, EPOCH)
            sure = await self._deletion_check.check_messages(location, [])
            return await self._ingest_pending_files(scan) and sure
        newest = await self._store.messages.get_newest_time(room) or compared
        until = min(newest, compared)
        before = await self._store.messages.list_between(room, until - OVERLAP, newest)
        scan = ChannelScan(location, _digests_by_id(before), await self._get_oldest(room))
        await self._scan_channel(scan, until - OVERLAP)
        lacking = await self._scan_threads(scan, until - ACTIVE_THREAD_WINDOW)
        lacking += [record for record in before if record.thread in {"", record.id}]
        sure = await self._deletion_check.check_messages(
            location, [thread for thread in lacking if thread.id not in scan.seen_ids]
        )
        had = await self._ingest_pending_files(scan)
        await self._store.channels.record_synced_until(room, began)
        return sure and had

    async def reconcile_unread(self, platform: str) -> bool:
        """Compare what is known of places outside of read channels: files, and direct messages with the bot.

        False if it is incomplete and must be repeated.
        """
        await self._missed.check_direct(platform)
        return await self._deletion_check.check_files(platform)

    async def _is_indexed(self, room: str) -> bool:
        """Whether a channel is or was read: stored messages must still match the platform."""
        return (await self._context.get_channel_settings(room)).ingest or await self._store.channels.is_announced(room)

    async def _get_oldest(self, room: str) -> datetime:
        """The time from which on messages of a channel are ingested."""
        since = await self._store.channels.get_horizon(room) or EPOCH
        kept = self._context.settings.retention_days
        return max(since, self._clock.now() - timedelta(days=kept)) if kept else since

    async def _scan_channel(self, scan: ChannelScan, since: datetime) -> None:
        """Compare the messages of a channel since a time with the stored ones."""
        open_run: list[Message] = []
        async for page in self._context.platform_for(scan.location).history(scan.location, since):
            scan.seen_ids.update(message.id for message in page)
            finished, open_run = split_at_silence([*open_run, *page])
            await self._apply_changes(scan, finished)
        await self._apply_changes(scan, open_run)

    async def _scan_threads(self, scan: ChannelScan, since: datetime) -> list[MessageRecord]:
        """Compare the threads with recent messages; returns missing messages."""
        room, lacking = scan.location.room, []
        for window in await self._store.conversations.list_active_since(room, since, MAX_THREADS):
            inside = await self._store.messages.list_by_thread(room, window.thread)
            root = await self._store.messages.list_by_ids(room, [window.thread])
            known = list({message.id: message for message in [*inside, *root]}.values())
            location = replace(scan.location, thread=window.thread)
            listing = await self._scan_thread(replace(scan, location=location, stored_digests=_digests_by_id(known)))
            if listing.thread_exists:
                lacking += find_missing(listing, known)
            else:
                lacking += root
                await self._deletion_check.remove_deleted(scan.location, [message.id for message in inside])
        return lacking

    async def _scan_thread(self, scan: ChannelScan) -> ThreadPage:
        """Compare the newest messages of a thread with the stored ones. A hidden thread is skipped."""
        try:
            listing = await self._context.platform_for(scan.location).fetch_thread(scan.location, MAX_REPLIES)
        except (ChannelGone, WorkspaceGone):
            raise
        except PermissionDenied as error:
            self._context.denials.note(error, scan.location)
            log.warning("sync.thread_access_denied", channel=scan.location.room, error=type(error).__name__)
            return ThreadPage(is_complete=False)
        scan.seen_ids.update(message.id for message in listing.messages)
        await self._apply_changes(replace(scan, location=scan.location.without_thread), listing.messages)
        return listing

    async def _apply_changes(self, scan: ChannelScan, messages: Sequence[Message]) -> None:
        """Apply edits, and ingest new and interrupted messages."""
        for message in messages:
            stored = scan.stored_digests.get(message.id, "")
            if stored and is_edited(message, stored):
                await self._backfill.apply_edit(message, stored)
        await self._backfill.ingest_messages(
            scan.location, [message for message in messages if message.time >= scan.oldest]
        )
        scan.messages_with_files.update({message.id: message for message in messages if message.uploads})

    async def _ingest_pending_files(self, scan: ChannelScan) -> bool:
        """Ingest pending files; false if some could not be fetched."""
        had, after = True, ""
        while pending := await self._store.files.list_pending(scan.location.room, FILE_BATCH, after):
            after = pending[-1].document
            for file in {record.message_id: record for record in pending}.values():
                had &= await self._ingest_file(scan, file)
        return had

    async def _ingest_file(self, scan: ChannelScan, file: FileRecord) -> bool:
        try:
            message = scan.messages_with_files.get(file.message_id) or await self._find_message(scan.location, file)
            if message is not None:
                await self._backfill.ingest_files(message)
        except PlatformError as error:
            log.warning("sync.file_fetch_failed", channel=file.room, error=type(error).__name__)
            return False
        return True

    async def _find_message(self, location: Location, file: FileRecord) -> Message | None:
        """The current message of a file; forgets it if it was deleted."""
        known = await self._store.messages.get(file.room, file.message_id)
        thread = known.thread if known else ""
        message = await self._context.platform_for(location).fetch_message(
            replace(location, thread=thread), file.message_id
        )
        if message is None:
            await self._deletion_check.remove_deleted(location, [file.message_id])
        return message


def _digests_by_id(known: Sequence[MessageRecord]) -> dict[str, str]:
    return {record.id: record.digest for record in known}
