"""Handle the events of channels: one method for each kind of event.

Every step may run again: the queue repeats an interrupted event. Within a room, events are handled one after another.
"""

from __future__ import annotations

import json
import math
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Literal

import structlog

from bot.errors import BadSetting, NotAllowed, PermissionDenied
from bot.ingest.channels import ChannelMembership, RoomVisibility
from bot.ingest.conversations import author_key
from bot.ingest.documents import ConversationDocuments, ManualFacts
from bot.ingest.erasure.service import Erasures
from bot.ingest.files import FileIngest
from bot.ingest.links.pages import LinkIngest
from bot.ingest.messages import MessageIngest
from bot.ingest.personal_files import PersonalFile
from bot.ingest.sources.service import SourceService
from bot.ingest.sync.backfill import Backfill
from bot.ingest.sync.deletions import DeletionCheck
from bot.ingest.sync.history_import import HistoryImport, ImportTarget
from bot.ingest.sync.jobs import PeriodicJobs
from bot.ingest.sync.missed import MissedMessages
from bot.ingest.sync.queue import SyncQueue
from bot.ingest.sync.reconcile import Reconciler
from bot.ingest.sync.retention import Retention, confirm_held
from bot.permissions.resolver import AudienceResolver
from bot.platform.events import (
    BotAdded,
    ChannelRemoved,
    FilesRemoved,
    MessageEdited,
    MessageReceived,
    MessagesDeleted,
    VisibilityChanged,
    WorkspaceJoined,
    WorkspaceLeft,
)
from bot.platform.history_source import SourcePlatform
from bot.platform.models import Location
from bot.store import Subject
from engine import Scope
from engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Mapping
    from datetime import datetime

    from bot.context import BotContext
    from bot.ingest.channels import VisibilityReport
    from bot.ingest.erasure.service import RemainingParts
    from bot.permissions.channel_facts import ChannelList
    from bot.permissions.import_destination import ImportDestination
    from bot.platform.events import PlatformEvent
    from bot.platform.history_source import HistorySource
    from bot.platform.models import Message
    from bot.store.erasure.receipts import BegunErasure
    from bot.store.schedules.retention import HeldDeletion
    from engine import Document, DocumentInfo

ContentKind = Literal["", "messages", "files"]  # of a channel; empty for both
CONTENT_KINDS: Mapping[ContentKind, frozenset[str]] = {
    "": frozenset({"conversation", "file"}),
    "messages": frozenset({"conversation"}),
    "files": frozenset({"file"}),
}  # of documents

log = structlog.get_logger(__name__)


class IngestService:
    """Ingests chat events. `files` ingests shared files, `links` linked pages, `manual_facts` what people add by hand.

    `sources`: what is read outside of the chat. `erasures`: what goes when something is forgotten, and the receipts.
    `run` does the background work: back-fill, reconciliation, retention, and the synchronization of sources.
    """

    def __init__(self, context: BotContext) -> None:
        self._context = context
        self._documents = ConversationDocuments(context)
        self.files = FileIngest(context, self._documents)
        self.links = LinkIngest(context, self._documents, self.files)
        self.manual_facts = ManualFacts(context, self._documents)
        self.sources = SourceService(context, self._documents, self.links.fetcher)
        self.erasures = Erasures(context)
        self._membership = ChannelMembership(context, self._documents)
        self._visibility = RoomVisibility(context, self._documents, self._membership)
        self._messages = MessageIngest(context, self._documents, self._membership)
        deletion_check = DeletionCheck(context, self._documents, self._messages)
        missed = MissedMessages(context)
        self._backfill = Backfill(context, self._documents, self._messages, self.files, self.links, missed)
        reconciler = Reconciler(context, self._backfill, deletion_check, missed)
        self._sync_queue = SyncQueue(context, self._documents, self._membership, self._backfill, reconciler)
        retention, updated = Retention(context, self._documents), self._membership.updated
        self._jobs = PeriodicJobs(context, retention, self._sync_queue, updated, self.sources)

    async def handle(self, event: PlatformEvent) -> None:
        """Ingest an event; questions and commands are ignored.

        A message that is answered although it was not addressed to the bot comes with `addressed` set.
        """
        match event:
            case MessageEdited(message):
                async with self._documents.lock(message.location.room):
                    now = await self._messages.apply_edit(message)
                if now.uploads:
                    await self.files.ingest(now, quiet=True)
            case VisibilityChanged(location):
                await self._visibility.handle_change(location)
            case WorkspaceLeft():
                await self._membership.leave_workspace(event)
            case FilesRemoved(location, uploads):
                await self._messages.remove_uploads(location, uploads)
            case MessageReceived(message):
                async with self._documents.lock(message.location.room):
                    await self._messages.ingest(message, addressed=event.addressed)
            case MessagesDeleted(location) | ChannelRemoved(location) | BotAdded(location) | WorkspaceJoined(location):
                async with self._documents.lock(location.room):
                    await self._handle_channel_event(event)
            case _:
                return

    async def _handle_channel_event(self, event: MessagesDeleted | ChannelRemoved | BotAdded | WorkspaceJoined) -> None:
        match event:
            case WorkspaceJoined():
                await self._membership.send_welcome(event)
            case MessagesDeleted(location, ids):
                await self._messages.delete_permanently(location, ids)
            case ChannelRemoved(location):
                await self._membership.forget_channel(location)
            case BotAdded(location):
                await self._membership.join(location)

    # Requests of people: remember or forget.

    async def confirm_retention(self) -> HeldDeletion:
        """Allow the deletion by age that waits for a confirmation. Raises NotFound if none waits."""
        return await confirm_held(self._context.store)

    async def add_message(self, message: Message) -> None:
        """Ingest a message that its author chose, even if it is from a time in which they had opted out."""
        async with self._documents.lock(message.location.room):
            await self._messages.ingest(message, addressed=False, is_explicit=True)

    async def ingest_told(self, message: Message) -> None:
        """Ingest a statement to the bot, unless there is a reason against it."""
        async with self._documents.lock(message.location.room):
            await self._messages.ingest_told(message)

    async def find_refusal(self, message: Message) -> str:
        """Why a statement to the bot is not kept, in the active language; empty if it is."""
        return await self._messages.find_refusal(message)

    async def ingest_unaddressed(self, message: Message) -> None:
        """Ingest a message that was first treated as a question to the bot."""
        async with self._documents.lock(message.location.room):
            await self._messages.ingest_unaddressed(message)

    async def list_channel_documents(self, location: Location, kind: ContentKind) -> list[DocumentInfo]:
        """The documents of a channel that were read from its messages, its files, or both."""
        scope, kinds = Scope(frozenset(), frozenset({location.room})), CONTENT_KINDS[kind]
        return [
            document
            for document in await self._context.engine_context.engine.documents.list(scope)
            if document.kind in kinds
        ]

    async def forget_document(self, document: str) -> bool:
        """Forget a document permanently; returns whether it existed."""
        store = self._context.store
        known = await store.files.get(document) or await store.conversations.get(document)
        if known is None:
            await self.sources.record_forgotten(document)
            await store.unread_files.delete(document)
            return await self._documents.forget_document(document)
        async with self._documents.lock(known.room):
            messages = [message.id for message in await store.messages.list_by_document(document)]
            await store.messages.add_tombstones(known.room, [document, *messages], requested=True)
            await store.unread_files.delete(document)
            return await self._documents.forget_document(document)

    async def replace_document(self, document: Document) -> bool:
        """Ingest a new version of a document; returns whether it changed. Redacts answers that used it."""
        return await self._documents.replace_document(document)

    async def open_personal_file(self, subject: Subject, name: str) -> PersonalFile:
        """Where an upload of a person is added. Raises NotAllowed if they opted out."""
        file = PersonalFile(self._context, self._documents, subject, name)
        await file.open()
        return file

    async def forget_message(self, location: Location, message: str) -> None:
        """Forget a message and its files permanently, even if it remains in the chat."""
        async with self._documents.lock(location.room):
            await self._messages.delete_permanently(location, [message], requested=True)

    async def complete_erasures(self) -> None:
        """Complete the erasures that a process began before it ended, and give their receipts."""
        for begun in await self._context.store.receipts.list_abandoned():
            receipt = begun.receipt
            try:
                await self._repeat_erasure(begun)
                await self.erase_again(await self.erasures.find_remaining(json.loads(receipt.document)))
                await self.erasures.complete(begun)
            except (BadSetting, OSError) as error:
                log.error("erasure.not_completed", receipt=receipt.id, error=type(error).__name__)  # noqa: TRY400 - no bug

    async def _repeat_erasure(self, begun: BegunErasure) -> None:
        """Forget a person or a workspace again, of whom more goes than a receipt names.

        Who asked to be read again meanwhile, and a workspace that the bot was added to again, keep what was written
        since.
        """
        target = begun.target
        place = (target.platform, target.workspace)
        if target.person:
            ends = await self._context.store.opt_outs.find_ends(*place, [target.person])
            end = ends.get(target.person)
            if end is None or end < begun.receipt.time:
                await self.forget_person(*place, target.person)
        elif target.workspace and not await self._was_read_since(*place, begun.receipt.time):
            await self._membership.delete_workspace(*place)

    async def _was_read_since(self, platform: str, workspace: str, since: datetime) -> bool:
        """Whether something of a workspace was read since a time, so that the bot was added again."""
        store = self._context.store
        for channel in await store.channels.list_joined(platform, workspace):
            newest = await store.messages.get_newest_time(channel.room)
            synced = await store.channels.get_synced_until(channel.room)
            if any(time is not None and time > since for time in (newest, synced)):
                return True
        return False

    async def erase_again(self, remaining: RemainingParts) -> None:
        """Erase what a receipt names and a restored backup brought back."""
        for document in remaining.documents:
            await self.forget_document(document)
        for room, group in groupby(sorted(remaining.messages), key=lambda each: each[0]):
            location, ids = Location.from_room(room), [id_ for _, id_ in group]
            async with self._documents.lock(room):
                await self._messages.delete_permanently(location, ids, requested=True)
        for answer in remaining.answers:
            await self._context.store.answers.redact_one(answer)

    def parse_link_part(self, platform: str) -> Callable[[str], str]:
        """What reads the id of a message from a part of a link of a platform."""
        return self._context.traits_of(platform).parse_link_part

    async def forget_workspace(self, platform: str, workspace: str) -> int:
        """Forget everything of a workspace; returns the number of its channels.

        Raises NotAllowed if the bot is still in it, and NotFound if nothing of it is stored.
        """
        if workspace in self._visibility.list_workspaces(platform):
            raise NotAllowed("The bot is still in this workspace.", hint="Uninstall or remove it there first.")
        channels = await self._context.store.channels.list_joined(platform, workspace)
        if not channels and not await self._context.store.files.list_by_workspace(platform, workspace):
            raise NotFound(f"There is no workspace {platform}:{workspace}.", hint="Room names start with it.")
        await self._membership.delete_workspace(platform, workspace)
        return len(channels)

    async def forget_person(self, platform: str, workspace: str, person: str) -> None:
        """Forget what a person wrote, shared and asked, and index nothing more of theirs."""
        store = self._context.store
        for where in {workspace, ""}:
            await store.opt_outs.opt_out(platform, where, person)
        for where in {workspace, ""}:
            messages = sorted(await store.messages.list_by_author(platform, where, person), key=lambda each: each.room)
            for room, group in groupby(messages, key=lambda each: each.room):
                async with self._documents.lock(room):
                    await self._documents.remove_messages(list(group), forgets_author=True)
            for file in await store.files.list_by_author(platform, where, person):
                async with self._documents.lock(file.room):
                    await self._documents.forget_document(file.document)
            await store.unread_files.delete_by_author(platform, where, person)
            await store.answers.redact([author_key(platform, where, person)])
            await store.answers.delete_by_asker(platform, where, person)
            await store.digests.delete_person(platform, where, person)
            await store.watches.delete_person(platform, where, person)
            await store.contradictions.delete_person(platform, where, person)
            await store.reports.delete(platform, where, person)
            await store.verified_answers.delete_by_person(platform, where, person)
            await store.experts.delete_person(platform, where, person)
            await store.sources.forget_person(Subject(platform, where, person))
            await store.audit.forget_person(platform, where, person)

    # History.

    async def start_backfill(self, location: Location, days: int) -> datetime:
        """Schedule the back-fill of a channel for some days; returns its beginning. It continues after a restart.

        Raises PermissionDenied if the bot may not read there, or not announce it.
        """
        async with self._documents.lock(location.room):
            if not await self._membership.join(location, days):
                raise PermissionDenied("This channel is not one that I may read.")
        since = self._membership.resolve_horizon(days)
        channel = await self._context.audience.get_channel_info(location)
        await self._context.store.channels.upsert(location.without_thread, channel.name, since)
        await self._context.store.backfill_cursors.start(location.room, since)
        self._membership.updated.set()
        return since

    @asynccontextmanager
    async def open_import(
        self, source: HistorySource, destination: ImportDestination | None = None
    ) -> AsyncIterator[HistoryImport]:
        """An import of the past of a workspace from an export; `run` does it."""
        platform = SourcePlatform(source, self._context.platforms)
        platforms = {platform.name: platform}
        audience = AudienceResolver(platforms, self._context.store, math.inf, self._context.clock)
        settings = self._context.settings
        if "index_bot_messages" not in settings.model_fields_set:  # the past is complete unless somebody says otherwise
            settings = settings.model_copy(update={"index_bot_messages": True})
        context = replace(self._context, platforms=platforms, audience=audience, settings=settings)
        documents = ConversationDocuments(context, self._documents.uploads_in_work)
        files = FileIngest(context, documents)
        target = ImportTarget(context, self._context.platforms, platform, destination)
        yield HistoryImport(context, documents, files, source, target)

    async def refresh_visibility(self, platform: str, workspace: str = "") -> VisibilityReport:
        """Refresh as `RoomVisibility.refresh`."""
        return await self._visibility.refresh(platform, workspace)

    async def start_reconciliation(self, platform: str, workspace: str = "") -> None:
        """Refresh visibility after a lost connection, and schedule a comparison of all channels concerned.

        Channels that the bot was added to are included. Another process that begins to compare a channel from now on
        does it for this one, too. Raises PlatformError as `refresh_visibility` does.
        """
        since = await self._context.store.read_shared_time()
        report = await self.refresh_visibility(platform, workspace)
        self._sync_queue.enqueue(report.unlisted, since)  # first, because they are hidden until then
        await self._jobs.enqueue_channels(platform, workspace or None, since)
        await self._enqueue_unannounced(platform, report.lists.values(), since)

    async def _enqueue_unannounced(self, platform: str, lists: Iterable[ChannelList], since: datetime | None) -> None:
        """Schedule channels that the bot was added to while it was offline."""
        announced = await self._context.store.channels.list_announced(platform)
        listed = [each for found in lists for room, each in found.channels.items() if room not in announced]
        self._sync_queue.enqueue_unannounced((channel.location for channel in listed if not channel.archived), since)

    @property
    def pending_syncs(self) -> set[Location]:
        """The channels that are not yet known to match the platform."""
        return self._sync_queue.pending_syncs

    async def run(self) -> None:
        """Run background jobs until cancelled."""
        await self._jobs.run()

    async def run_due_jobs(self, now: datetime | None = None) -> None:
        """Run the periodic jobs that are due."""
        await self._jobs.run_due(now or self._context.clock.now())

    async def run_sync(self) -> None:
        """Reconcile all channels that are due, and continue back-fills."""
        await self._sync_queue.run_pending()
