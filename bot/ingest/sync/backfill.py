"""Ingest the history of a channel, when the bot joins it and after downtime.

A back-fill goes from the newest messages to the oldest, page by page, and stores its position. A page is ingested up to
its last pause, so that repeating it after a crash gives the same documents.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import structlog

from bot.errors import PermissionDenied
from bot.ingest.conversations import (
    MessageRun,
    find_page_boundary,
    group_into_runs,
    merge_runs,
    split_at_silence,
    thread_key,
    to_unindexed_record,
)
from bot.ingest.messages import is_for_bot
from bot.ingest.shared_file import SharedFiles
from engine.scheduling.supervisor import gather_or_cancel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.context import BotContext
    from bot.ingest.conversations import IndexedMessage
    from bot.ingest.documents import ConversationDocuments
    from bot.ingest.files import FileIngest
    from bot.ingest.links.pages import LinkIngest
    from bot.ingest.messages import MessageIngest
    from bot.ingest.sync.missed import MissedMessages
    from bot.platform.models import Location, Message
    from bot.store.channels import BackfillCursor

log = structlog.get_logger(__name__)

CONCURRENT_RUNS = 32  # documents that are written at once, because those that wait together share a transaction
MAX_HELD_MESSAGES = 2000  # messages without a pause, beyond which a window is cut anyway
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 5.0, 900.0  # seconds before a retry; doubled after each


class Backfill:
    """Ingests the history of channels; `links` reads the pages that recent messages link to.

    `missed` queues the questions to the bot that it did not receive; None where the bot was not asked.
    """

    def __init__(
        self,
        context: BotContext,
        documents: ConversationDocuments,
        hearing: MessageIngest,
        file_ingest: FileIngest,
        links: LinkIngest | None = None,
        missed: MissedMessages | None = None,
    ) -> None:
        self._context = context
        self._missed = missed
        self._documents = documents
        self._messages = hearing
        self._files = file_ingest
        self._links = links
        self._store = context.store

    async def list_due_workspaces(self) -> set[tuple[str, str]]:
        """The platforms and workspaces with back-fills that are due."""
        return await self._store.backfill_cursors.list_due_workspaces(self._context.clock.time())

    async def run_due(self, platform: str, workspace: str, now: float | None = None) -> bool:
        """Run one back-fill of a workspace that is due (seconds since 1970) to its end.

        False if there is none that no other process runs.
        """
        processes = self._context.engine_context.engine.processes
        now = self._context.clock.time() if now is None else now
        for due in await self._store.backfill_cursors.list_due(now, platform, workspace):
            if not self._context.serves(due.location):
                continue
            async with processes.try_lease(f"back-fill {due.location.room}") as is_held:
                cursor = await self._store.backfill_cursors.get(due.location.room) if is_held else None
                if cursor == due:
                    await self._run(due)
                    return True
        return False

    async def _run(self, cursor: BackfillCursor) -> None:
        room = cursor.location.room
        try:
            if not (await self._context.get_channel_settings(room)).ingest:
                await self._store.backfill_cursors.cancel(room)
            elif await self._run_cursor(cursor):
                await self._store.backfill_cursors.finish(cursor)
        except PermissionDenied as error:
            log.warning("sync.backfill_denied", channel=room)
            self._context.denials.note(error, cursor.location)
            await self._store.backfill_cursors.cancel(room)
        except Exception as error:  # noqa: BLE001 - one channel that cannot be read must not keep the others waiting
            delay = min(MAX_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2**cursor.attempts)
            log.warning("sync.backfill_retry_scheduled", channel=room, error=type(error).__name__, delay_seconds=delay)
            await self._store.backfill_cursors.delay(room, self._context.clock.time() + delay)

    async def _run_cursor(self, cursor: BackfillCursor) -> bool:
        """Ingest all pages; false if the back-fill was cancelled or restarted in the meantime."""
        open_run: list[Message] = []
        platform = self._context.platform_for(cursor.location)
        async for page in platform.history(cursor.location, cursor.since, cursor.before):
            finished, open_run = split_at_silence([*open_run, *page])
            if len(open_run) > MAX_HELD_MESSAGES:
                finished, open_run = [*open_run, *finished], []
            await self.ingest(cursor.location, finished)
            if not await self._store.backfill_cursors.advance(cursor, find_page_boundary(finished, open_run)):
                return False
        await self.ingest(cursor.location, open_run)
        return True

    async def ingest(self, location: Location, messages: Sequence[Message]) -> None:
        """Ingest the new messages among these, and their files."""
        await self.ingest_messages(location, messages)
        for message in messages:
            if message.uploads:
                await self.ingest_files(message)

    async def ingest_messages(self, location: Location, messages: Sequence[Message]) -> None:
        """Ingest the new messages among these; their files are recorded as pending."""
        if self._missed is not None:
            await self._missed.enqueue(messages)
        new = await self._select_new(location, messages)
        indexed = await self._render(new)
        wordless = {message.id for message in new} - {message.message.id for message in indexed}
        stored = await self._render(await self._select_stored(location, messages)) if new else []
        async with self._documents.lock(location.room):
            unknown = await self._select_new(location, messages)
            for message in unknown:
                await self._record_pending_files(message)
            ids = {message.id for message in unknown}
            remaining = [message for message in indexed if message.message.id in ids]
            runs = await self._build_runs(location, remaining, stored)
            await self._write_runs(location, [run for run in runs if not run.thread])
            await self._write_runs(location, [run for run in runs if run.thread])  # moves roots out of windows
            silent = [
                message for message in messages if is_for_bot(message) or (message.uploads and message.id in wordless)
            ]
            await self._store.messages.insert([to_unindexed_record(message) for message in silent])
        for message in unknown:
            await self._ingest_links(message)

    async def _write_runs(self, location: Location, runs: Sequence[MessageRun]) -> None:
        """Write runs of different documents."""
        for start in range(0, len(runs), CONCURRENT_RUNS):
            batch = runs[start : start + CONCURRENT_RUNS]
            await gather_or_cancel(*(self._documents.add_run(run, location) for run in batch))

    async def apply_edit(self, message: Message, digest: str) -> None:
        """Apply an edit if the stored digest is still this one."""
        room = message.location.room
        async with self._documents.lock(room):
            known = await self._store.messages.get(room, message.id)
            if known is not None and known.digest == digest:
                await self._messages.apply_edit(message)
        await self._ingest_links(message)

    async def _ingest_links(self, message: Message) -> None:
        if self._links is not None:
            await self._links.ingest(message)

    async def _record_pending_files(self, message: Message) -> None:
        """Record the files of a message as pending, so that a crash does not lose them."""
        for upload in message.uploads:
            await self._store.files.insert(SharedFiles(message).build_record(upload))

    async def ingest_files(self, message: Message) -> None:
        """Ingest the files of a past message; unreadable attachments are ignored."""
        room = message.location.room
        known = await self._store.files.list_by_messages(room, [message.id])
        missing = {upload.id for upload in message.uploads} - {file.upload_id for file in known if file.is_applied}
        if missing and await self._messages.is_indexable(message):
            await self._files.ingest(message, quiet=True)
        async with self._documents.lock(room):
            for file in await self._store.files.list_by_messages(room, [message.id]):
                if not file.is_applied:
                    await self._documents.forget_document(file.document)

    async def _select_new(self, location: Location, messages: Sequence[Message]) -> list[Message]:
        known = await self._store.messages.list_by_ids(location.room, [message.id for message in messages])
        settled = {message.id for message in known if message.is_applied}
        return await self._messages.select_indexable(
            location, [message for message in messages if message.id not in settled]
        )

    async def _select_stored(self, location: Location, messages: Sequence[Message]) -> list[Message]:
        """The messages that are indexed already."""
        known = await self._store.messages.list_by_ids(location.room, [message.id for message in messages])
        indexed = {message.id for message in known if message.is_applied and message.document}
        return [message for message in messages if message.id in indexed]

    async def _render(self, messages: Sequence[Message]) -> list[IndexedMessage]:
        return [found for message in messages if (found := await self._documents.render_message(message))]

    async def _build_runs(
        self, location: Location, indexed: Sequence[IndexedMessage], stored: Sequence[IndexedMessage]
    ) -> list[MessageRun]:
        """Group messages into documents; assignments from before a crash are kept."""
        page = [*indexed, *stored]
        known = await self._store.messages.list_by_ids(location.room, [message.message.id for message in page])
        assigned = {message.id: message.document for message in known}
        roots = await self._store.messages.list_thread_roots(location.room, [message.message.id for message in page])
        runs = group_into_runs(page, location.room, roots, assigned)
        interrupted = sorted(
            (message for message in indexed if assigned.get(message.message.id)),
            key=lambda each: assigned[each.message.id],
        )
        for document, group in groupby(interrupted, key=lambda each: assigned[each.message.id]):
            spoken = tuple(group)
            thread = spoken[0].message.location.thread
            is_in_thread = document == thread_key(location.room, thread)
            runs.append(MessageRun(document, thread if is_in_thread else "", spoken[0].title, spoken))
        return merge_runs(runs)
