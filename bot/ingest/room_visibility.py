"""Keep each room in the space of its current audience: after a change, and after a lost connection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from bot.errors import PlatformError
from bot.platform.models import Location

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from bot.context import BotContext
    from bot.ingest.channels import ChannelMembership
    from bot.ingest.documents import ConversationDocuments
    from bot.permissions.channel_facts import ChannelList
    from bot.permissions.shared_audiences import Comparison

log = structlog.get_logger(__name__)


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
