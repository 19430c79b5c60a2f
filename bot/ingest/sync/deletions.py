"""Messages absent from a listing are deleted only after the platform confirms each one.

A message whose state is unknown is checked again the next time.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from bot.errors import PlatformError
from bot.platform.models import Location

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from bot.context import BotContext
    from bot.ingest.documents import ConversationDocuments
    from bot.ingest.messages import MessageIngest
    from bot.platform.ports import ThreadPage
    from bot.store import FileRecord, MessageRecord

log = structlog.get_logger(__name__)

MIN_AGE = timedelta(minutes=1)  # younger messages may still be absent from a list
MAX_CHECKS = 200  # messages of a channel that are fetched one by one in one run
MAX_UNANSWERED = 10  # failed checks, after which the run ends
MAX_FILES = 50  # of a platform, in places that are not read
FILE_CHECK_WINDOW = timedelta(days=7)  # before the latest file


class DeletionCheck:
    """Checks missing messages, and forgets deleted ones."""

    def __init__(
        self,
        context: BotContext,
        documents: ConversationDocuments,
        hearing: MessageIngest,
    ) -> None:
        self._context = context
        self._documents = documents
        self._messages = hearing
        self._store = context.store
        self._clock = context.clock

    async def check_messages(self, location: Location, lacking: Sequence[MessageRecord]) -> bool:
        """Check messages that are missing from listings, and those that could not be confirmed before.

        False if some are too recent to tell, or could not be checked.
        """
        room, old = location.room, [record for record in lacking if not self._is_recent(record)]
        await self._store.unconfirmed_deletions.add(room, [message.id for message in old])
        existing, deleted, unanswered = await self._query_platform(location)
        await self._store.unconfirmed_deletions.record_checks(room, [*existing, *deleted, *unanswered])
        await self._store.unconfirmed_deletions.delete(room, existing - {message.id for message in old})
        await self.remove_deleted(location, deleted)
        return len(old) == len(lacking) and not await self._store.unconfirmed_deletions.has_unchecked(room)

    async def _query_platform(self, location: Location) -> tuple[set[str], set[str], set[str]]:
        """Fetch messages one by one: existing, certainly deleted, and unknown ones."""
        platform = self._context.platform_for(location)
        existing, deleted, unanswered = set[str](), set[str](), set[str]()
        for id_ in await self._store.unconfirmed_deletions.list_next(location.room, MAX_CHECKS):
            known = await self._store.messages.get(location.room, id_)
            thread = known.thread if known else ""
            try:
                found = await platform.fetch_message(replace(location, thread=thread), id_)
            except PlatformError as error:
                log.warning("sync.message_check_failed", channel=location.room, error=type(error).__name__)
                unanswered.add(id_)
            else:
                (deleted if found is None else existing).add(id_)
            if len(unanswered) >= MAX_UNANSWERED:
                break
        return existing, deleted, unanswered

    async def check_files(self, platform: str) -> bool:
        """Forget deleted files in places where the bot reads nothing else: DMs, and files of questions.

        False if some are too recent to tell.
        """
        latest, sure = await self._store.files.list_in_unindexed_channels(platform, MAX_FILES), True
        for file in [stored for stored in latest if stored.time >= latest[0].time - FILE_CHECK_WINDOW]:
            try:
                sure &= await self._check_file(file)
            except PlatformError as error:
                log.warning("sync.file_check_failed", channel=file.room, error=type(error).__name__)
        return sure

    async def _check_file(self, file: FileRecord) -> bool:
        known = await self._store.messages.get(file.room, file.message_id)
        if known is None:
            return True  # files of commands cannot be deleted
        location = replace(Location.from_room(file.room), thread=known.thread)
        message = await self._context.platform_for(location).fetch_message(location, file.message_id)
        if message is None:
            young = self._is_recent(known)
            await self.remove_deleted(location, [] if young else [file.message_id])
            return not young
        async with self._documents.lock(location.room):
            await self._messages.reconcile_files(message)
        return True

    async def remove_deleted(self, location: Location, ids: Collection[str]) -> None:
        """Delete messages that are confirmed to be deleted."""
        if ids:
            log.info("sync.deletions_confirmed", channel=location.room, messages=len(ids))
            async with self._documents.lock(location.room):
                await self._messages.remove_from_index(location, ids)

    def _is_recent(self, message: MessageRecord) -> bool:
        return message.time > self._clock.now() - MIN_AGE


def find_missing(listing: ThreadPage, known: Sequence[MessageRecord]) -> list[MessageRecord]:
    """The stored messages of a thread that its listing should contain. Pure.

    A complete listing should contain all of them; otherwise only those within its range.
    """
    listed = {message.id for message in listing.messages}
    lacking = [record for record in known if record.id not in listed]
    if listing.is_complete:
        return lacking
    replies = [message for message in listing.messages if message.location.thread not in {"", message.id}]
    reach = min((reply.time for reply in replies), default=None)
    return [record for record in lacking if reach is not None and record.time >= reach and record.id != record.thread]
