"""Channel membership: join, announce, leave, and move documents when the audience changes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from bot import texts
from bot.errors import ChannelGone, PermissionDenied, PlatformError
from bot.i18n import use_language
from bot.ingest.conversations import thread_key
from bot.ingest.erasure.service import Erasures
from bot.ingest.sources.removal import SourceRemoval
from bot.permissions.audience import home_space, workspace_space
from bot.platform.models import Card, Location
from bot.store.access.audit_log import SYSTEM, AuditEvent
from engine import Scope

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from bot.context import BotContext
    from bot.ingest.documents import ConversationDocuments
    from bot.permissions.channel_facts import ChannelList
    from bot.permissions.shared_audiences import Comparison
    from bot.platform.events import WorkspaceJoined, WorkspaceLeft
    from bot.platform.models import ListedChannel


log = structlog.get_logger(__name__)

WELCOME_HINT = "welcome"  # the hint shown when the bot joins a workspace
ANNOUNCE_RETRY_SECONDS = 60.0  # seconds before a retry where the bot may not post


class ChannelMembership:
    """The channels that the bot is in. `updated`: a new one was joined.

    The caller holds the lock of the room; `leave_workspace` and `delete_workspace` take it themselves.
    """

    def __init__(self, context: BotContext, documents: ConversationDocuments) -> None:
        self._context = context
        self._documents = documents
        self._store = context.store
        self._clock = context.clock
        self._sources = SourceRemoval(context, documents)
        self._erasures = Erasures(context)
        self._next_announcement: dict[str, float] = {}
        self.updated = asyncio.Event()

    async def join(self, location: Location, days: int | None = None) -> bool:
        """Join a channel; false if it is not read. `days`: of its history, if it is new.

        It is not read where ingestion is off, or where the bot may not announce itself.
        """
        if not (await self._context.get_channel_settings(location.room)).ingest:
            return False
        channel = await self._context.audience.get_channel_info(location)
        if channel.kind == "direct":
            return False
        if not await self._store.channels.is_announced(location.room):
            past = self._find_default_past(location) if days is None else days
            if not await self._announce(location, past):
                return False
            since = self.resolve_horizon(past)
            await self._store.channels.upsert(location.without_thread, channel.name, since)
            await self._store.channels.record_synced_until(
                location.room, await self._store.read_shared_time() or self._clock.now()
            )
            await self._store.backfill_cursors.start(location.room, since)
            await self._store.channels.record_announced(location.room)
            if await self._store.channels.is_imported(location.room):
                await self.update_space(location)
            self.updated.set()
        return True

    def _find_default_past(self, location: Location) -> int:
        """The days of a new channel's history that are read without being asked for."""
        reads = self._context.traits_of(location.platform).reads_past(location.workspace)
        return self._context.settings.backfill_days if reads else 0

    async def _announce(self, location: Location, days: int) -> bool:
        """Post the announcement in a channel; false if the bot may not post."""
        now = self._clock.monotonic()
        if now < self._next_announcement.get(location.room, now):
            return False
        with use_language(await self._context.find_channel_language(location)):
            welcome = texts.channel_welcome(self._context.traits_of(location.platform), days)
            card = Card(f"{welcome}\n{self._context.disclosure.describe()}")
        try:
            await self._context.platform_for(location).post(location.without_thread, card)
        except PermissionDenied as error:
            self._context.denials.note(error, location)
            log.warning("channel.post_permission_denied", channel=location.room)
            self._next_announcement[location.room] = now + ANNOUNCE_RETRY_SECONDS
            return False
        return True

    async def send_welcome(self, installed: WorkspaceJoined) -> None:
        """Post the one-time announcement of a workspace, unless some of its channels are read already."""
        location, hints = installed.location, self._store.hints
        if not location.channel:
            log.warning("workspace.welcome_skipped", platform=location.platform, workspace=location.workspace)
            return
        if not await hints.record_if_new(location.platform, location.workspace, WELCOME_HINT):
            return
        if await self._store.channels.list_joined(location.platform, location.workspace):
            return
        try:
            with use_language(await self._context.find_channel_language(location)):
                welcome = texts.workspace_welcome(self._context.traits_of(location.platform), installed.lacking)
                card = Card(f"{welcome}\n{self._context.disclosure.describe()}")
            await self._context.platform_for(location).post(location.without_thread, card)
        except BaseException:
            await hints.delete(location.platform, location.workspace, WELCOME_HINT)
            raise

    async def ensure_joined(self, location: Location) -> bool:
        """Whether a channel is read; joins it if the bot was added unnoticed."""
        known = await self._store.channels.is_announced(location.room)
        return (await self._context.get_channel_settings(location.room)).ingest if known else await self.join(location)

    def resolve_horizon(self, days: int) -> datetime:
        """The instant that many days ago, within the retention period."""
        kept = self._context.settings.retention_days
        return self._clock.now() - timedelta(days=min(days, kept) if kept else days)

    async def refresh(self, location: Location) -> bool:
        """Move a channel to its current space after downtime; false if the channel is gone and was forgotten.

        Raises WorkspaceGone if the bot is no longer in the workspace, and PlatformError if that is unknown.
        """
        audience, imported = self._context.audience, await self._is_only_imported(location.room)
        try:
            there = await audience.find_listed_channel(location) is not None
            listable = audience.channel_lists.is_listable(location.platform, location.workspace)
            if not there and not (imported and listable):
                there = (await audience.get_channel(location)).has_bot
        except ChannelGone:
            there = False
        if not there and imported:
            await self.hide_channel(location)
            return False
        if not there:
            log.warning("channel.removed", channel=location.room)
            await self.forget_channel(location)
            return False
        await self.update_space(location)
        return True

    async def _is_only_imported(self, room: str) -> bool:
        """Whether a channel was imported, and the bot was never in it."""
        return await self._store.channels.is_imported(room) and not await self._store.channels.is_announced(room)

    async def forget_channel(self, location: Location) -> None:
        """Forget everything of a deleted thread or channel."""
        if location.thread:
            await self._forget_thread(location)
            return
        await self._sources.remove_of_room(location.room)
        scope = Scope(frozenset(), frozenset({location.room}))
        for document in await self._context.engine_context.engine.documents.list(scope):
            await self._documents.forget_document(document.key)
        await self._context.engine_context.engine.documents.forget_room(location.room)
        await self._store.messages.delete_channel(location)
        await self._store.answers.delete_in_channel(location)
        await self._store.backfill_cursors.cancel(location.room)
        await self._store.channels.delete(location)
        await self._store.digests.delete(location.room)
        await self._store.verified_answers.delete_in_channel(location)
        await self._store.experts.delete_in_channel(location.room)

    async def _forget_thread(self, location: Location) -> None:
        messages = await self._store.messages.list_by_thread(location.room, location.thread)
        ids = [message.id for message in messages]
        await self._store.messages.add_tombstones(location.room, ids)
        for file in await self._store.files.list_by_messages(location.room, ids):
            await self._documents.forget_document(file.document)
        await self._store.unread_files.delete_by_messages(location.room, ids)
        await self._documents.forget_document(thread_key(location.room, location.thread))
        await self._store.messages.delete(location.room, ids)
        await self._store.answers.delete_in_channel(location)
        await self._store.verified_answers.delete_in_channel(location)

    async def update_space(self, location: Location, listed: ListedChannel | None = None) -> None:
        """Move a channel's documents to the space of its current audience. Raises PlatformError.

        Then they are hidden from everyone but the channel itself. `listed`: its current facts from a list.
        """
        trouble: PlatformError | None = None
        try:
            home = home_space(listed) if listed else await self._find_home(location)
        except PlatformError as error:
            home = location.room  # the audience is unknown: use the channel's own space
            trouble = None if isinstance(error, PermissionDenied) else error
        await self._store.unread_files.move_room(location.room, home)
        moved = await self._context.engine_context.engine.documents.move_room(location.room, home)
        if moved:
            log.info("channel.visibility_updated", channel=location.room, documents=moved)
        widest = home == workspace_space(location.platform, location.workspace)
        await self._store.answers.recheck_after_move(location.room, home, check=not widest)
        if trouble is not None:
            raise trouble

    async def _find_home(self, location: Location) -> str:
        """The space of a channel's audience; its own where nobody would report that the audience changes."""
        audience = self._context.audience
        if await self._is_only_imported(location.room) and not (await audience.get_channel(location)).has_bot:
            return location.room
        return await audience.get_home_space(location)

    async def hide_channel(self, location: Location) -> None:
        """Hide the documents of a channel from all others: the bot may have been removed from it."""
        await self._store.unread_files.move_room(location.room, location.room)
        moved = await self._context.engine_context.engine.documents.move_room(location.room, location.room)
        if moved:
            log.info("channel.hidden", channel=location.room, documents=moved)

    async def leave_workspace(self, ended: WorkspaceLeft) -> None:
        """The bot was removed from a workspace: hide its data, or delete it if the setting says so."""
        purged = bool(self._context.settings.delete_data_on_uninstall) or ended.purge
        log.warning("workspace.left", platform=ended.platform, workspace=ended.workspace, deleted=purged)
        await self._store.hints.delete(ended.platform, ended.workspace, WELCOME_HINT)
        if purged:
            where = f"{ended.platform}:{ended.workspace}"
            erasure = await self._erasures.try_measure(
                self._erasures.planner.plan_workspace(ended.platform, ended.workspace)
            )
            async with self._erasures.completing("uninstall", {"workspace": where}, erasure):
                await self.delete_workspace(ended.platform, ended.workspace)
            entry = AuditEvent("forget-workspace", "done", SYSTEM, workspace=where)
            await self._erasures.record("uninstall", {"workspace": where}, erasure, entry)

    async def delete_workspace(self, platform: str, workspace: str) -> None:
        """Delete everything of a workspace."""
        for location in await self._store.channels.list_joined(platform, workspace):
            async with self._documents.lock(location.room):
                await self.forget_channel(location)
        for file in await self._store.files.list_by_workspace(platform, workspace):
            async with self._documents.lock(file.room):
                await self._documents.forget_document(file.document)
        await self._sources.remove_of_workspace(platform, workspace)
        await self._store.delete_workspace(platform, workspace)


@dataclass(frozen=True, slots=True)
class VisibilityReport:
    """Channels that the list of their workspace lacks, which are hidden, and the lists by workspace."""

    unlisted: Sequence[Location]
    lists: Mapping[str, ChannelList]


class RoomVisibility:
    """Moves rooms to the spaces of their audiences; takes the locks of rooms itself."""

    def __init__(self, context: BotContext, documents: ConversationDocuments, membership: ChannelMembership) -> None:
        self._context = context
        self._documents = documents
        self._membership = membership

    async def handle_change(self, location: Location) -> None:
        """Move the rooms of a location whose audience changed. Raises PlatformError."""
        audience = self._context.audience
        comparison = await audience.shared.begin_comparison(audience.clock.monotonic())
        audience.invalidate(location)
        known = await self._context.store.channels.list_joined(location.platform, location.workspace)
        troubles = await self._update_spaces([location.without_thread] if location.channel else known)
        await audience.shared.end_comparison(location, comparison)
        if troubles:
            raise troubles[0]

    async def refresh(self, platform: str, workspace: str = "") -> VisibilityReport:
        """Move rooms of a workspace, or of all, to the spaces of their current audiences; suspend these until then.

        One process does so at a time; what it began after this call is enough for this process, too. Raises
        PlatformError if channels cannot be listed: then nothing was moved, and it must be called again.
        """
        audience, everything = self._context.audience, Location(platform, workspace, "")
        audience.shared.save_suspension(everything, audience.suspend(everything))
        async with self._context.engine_context.engine.processes.lease(f"compare {platform}:{workspace}"):
            comparison = await audience.shared.begin_comparison(audience.clock.monotonic())
            if not audience.is_suspended(everything):
                return VisibilityReport((), {})
            return await self._compare(everything, comparison)

    async def _compare(self, everything: Location, comparison: Comparison) -> VisibilityReport:
        """List the channels of a workspace, or of all, and move rooms accordingly."""
        audience, platform, workspace = self._context.audience, everything.platform, everything.workspace
        audience.invalidate(everything)  # lists from before the comparison
        lists = await self._list_channels(platform, workspace)
        known = await self._context.store.channels.list_joined(platform, workspace or None)
        found = {workspace: each.channels for workspace, each in lists.items()}
        unlisted = [channel for channel in known if channel.room not in found.get(channel.workspace, (channel.room,))]
        await self._hide_channels(unlisted)
        for name in dict.fromkeys(channel.workspace for channel in known):
            here = [channel for channel in known if channel.workspace == name and channel not in unlisted]
            await self._update_spaces(here, lists.get(name))
        await audience.shared.end_comparison(everything, comparison)
        return VisibilityReport(unlisted, lists)

    async def _list_channels(self, platform: str, workspace: str) -> Mapping[str, ChannelList]:
        """The channels of each listable workspace, or of one."""
        lists = self._context.audience.channel_lists
        listable = [listed for listed in self.list_workspaces(platform) if workspace in ("", listed)]
        return {listed: await lists.get_list(platform, listed) for listed in listable}

    def list_workspaces(self, platform: str) -> Collection[str]:
        """The workspaces whose channels can be listed."""
        found = self._context.platforms.get(platform)
        return found.listable_workspaces if found is not None else ()

    async def _update_spaces(
        self, locations: Sequence[Location], found: ChannelList | None = None
    ) -> list[PlatformError]:
        """Move rooms to the spaces of their current audiences; returns the errors."""
        troubles, lists = [], self._context.audience.channel_lists
        for location in locations:
            try:
                async with self._documents.lock(location.room):
                    await self._context.audience.shared.synchronize()  # newer than the list
                    listed = (
                        found.channels.get(location.room)
                        if found and location.room not in lists.list_stale_channels(found)
                        else None
                    )
                    await self._membership.update_space(location, listed)
            except PlatformError as error:
                log.warning("ingest.visibility_update_failed", channel=location.room, error=type(error).__name__)
                troubles.append(error)
        return troubles

    async def _hide_channels(self, locations: Sequence[Location]) -> None:
        for location in locations:
            async with self._documents.lock(location.room):
                await self._membership.hide_channel(location)
