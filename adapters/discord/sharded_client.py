"""A client with several gateway connections (shards), each for a part of the guilds.

A shard that reconnects suspends the visibility of its own guilds alone, and reconciles them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord
import structlog

from adapters.discord.client import DiscordClient
from adapters.discord.gateway import forget_absent_guilds
from adapters.discord.translate import NAME
from engine.errors import EngineError

if TYPE_CHECKING:
    from bot.bot import Bot
    from bot.settings import Settings

log = structlog.get_logger(__name__)


class ShardedDiscordClient(DiscordClient, discord.AutoShardedClient):
    """Receives Discord's events over `shard_count` connections; None: over as many as Discord recommends."""

    def __init__(self, bot: Bot, settings: Settings, shard_count: int | None) -> None:
        super().__init__(bot, settings, shard_count=shard_count)
        self._absent_guilds: dict[int, set[int]] = {}  # by shard, those that its last READY no longer listed
        self._is_started = False
        forget_absent_guilds(self, self._record_absent)

    def _record_absent(self, shard: int, guilds: set[int]) -> None:
        self._absent_guilds.setdefault(shard, set()).update(guilds)

    async def on_ready(self) -> None:
        """Reconcile everything once all shards are ready for the first time."""
        if not self._is_started:
            self._is_started = True  # from now on, a shard that reconnects answers for its own guilds
            await super().on_ready()

    async def on_connect(self) -> None:
        """Ignore this: each shard reports its own connection."""

    async def on_disconnect(self) -> None:
        """Ignore this: each shard reports its own disconnection."""

    async def on_resumed(self) -> None:
        """Ignore this: each shard reports its own."""

    async def on_shard_connect(self, shard: int) -> None:
        """Suspend visibility when a session of a shard starts: changes since its last one are unknown."""
        self.platform.record_connect(shard)
        for workspace in self._list_workspaces(shard) if self._is_started else [""]:
            self._bot.suspend_visibility(NAME, workspace)

    async def on_shard_ready(self, shard: int) -> None:
        """Reconcile the guilds of a shard after a new session; the bot may have been added to some meanwhile."""
        if not self._is_started:
            return
        workspaces = self._list_workspaces(shard)
        self._absent_guilds.pop(shard, None)
        for workspace in workspaces:
            try:
                await self._bot.reconcile(NAME, workspace)
            except EngineError as error:  # the bot retries it
                log.warning("discord.reconciliation_failed", workspace=workspace, error=type(error).__name__)
        for guild in self.guilds:
            if guild.shard_id == shard:
                await self._emit_installed(guild)

    async def on_shard_disconnect(self, shard: int) -> None:
        self.platform.record_disconnect(shard)

    async def on_shard_resumed(self, shard: int) -> None:
        self.platform.record_connect(shard)

    def _list_workspaces(self, shard: int) -> list[str]:
        """The guilds of a shard, with those that the bot was removed from during a disconnection."""
        present = {guild.id for guild in self.guilds if guild.shard_id == shard}
        return [str(guild) for guild in sorted(present | self._absent_guilds.get(shard, set()))]
