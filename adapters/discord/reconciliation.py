"""Compare the servers of a connection with what is known after each new session, each once its members are loaded."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import discord
import structlog

from adapters.discord.gateway import load_members
from adapters.discord.translate import NAME
from engine.errors import EngineError
from engine.scheduling.supervisor import cancel_tasks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.discord.shards.shard import Shard
    from bot.bot import Bot

log = structlog.get_logger(__name__)

# Discord accepts 120 requests a minute over a connection. The members of further servers are loaded at this interval
# (seconds), so that a question in a server whose members are not loaded yet finds one left.
LOADED_AT_ONCE, LOAD_INTERVAL = 10, 0.65
LOAD_TIMEOUT, LOAD_RETRY_SECONDS = 60.0, 5.0  # for the members of one server; before another attempt
TASK = "discord server reconciliation"


class SessionReconciliation:
    """Suspends and reconciles the visibility of a client's servers, each by itself, as soon as its members are loaded.

    Servers in which a question waits come first.
    """

    def __init__(self, client: discord.Client, bot: Bot, shard: Shard) -> None:
        self._client = client
        self._bot = bot
        self._shard = shard
        self._session = 0  # number of the present one

    def suspend(self) -> None:
        """Suspend the visibility of all servers: a session begins."""
        self._session += 1
        for workspace in sorted(str(guild.id) for guild in self._client.guilds):
            self._bot.suspend_visibility(NAME, workspace)

    async def run(self) -> None:
        """Reconcile all servers, until the session ends."""
        session, loads, tasks = self._session, 0, list[asyncio.Task[None]]()
        waiting = await self._list_workspaces()
        try:
            while waiting and self._lasts(session):
                if loads >= LOADED_AT_ONCE and any(map(self._lacks_members, waiting)):
                    await asyncio.sleep(LOAD_INTERVAL)
                workspace = self._choose(waiting)
                waiting.remove(workspace)
                loads += self._lacks_members(workspace)
                tasks.append(self._bot.supervisor.spawn(TASK, self._reconcile(session, workspace)))
            await asyncio.gather(*tasks, return_exceptions=True)  # the supervisor has recorded them
        finally:
            await cancel_tasks(*tasks)

    def _choose(self, waiting: Sequence[str]) -> str:
        """The server to reconcile next: one in which a question waits, else one that needs no loading."""
        wanted = self._bot.list_wanted_workspaces(NAME)
        return min(waiting, key=lambda each: (each not in wanted, self._lacks_members(each)))

    def _lasts(self, session: int) -> bool:
        return session == self._session and not self._client.is_closed()

    async def _reconcile(self, session: int, workspace: str) -> None:
        while self._lacks_members(workspace) and self._lasts(session):
            await self._load_members(workspace)
        if not self._lasts(session):
            return
        try:
            await self._bot.reconcile(NAME, workspace)
        except EngineError as error:  # the bot retries it
            log.warning("discord.reconciliation_failed", workspace=workspace, error=type(error).__name__)

    async def _list_workspaces(self) -> list[str]:
        """The servers to reconcile, with those that the bot was removed from meanwhile; "" if there are none at all."""
        known = {
            workspace
            for workspace in await self._bot.list_workspaces(NAME)
            if workspace and self._shard.contains(workspace)
        }
        found = sorted(known | {str(guild.id) for guild in self._client.guilds})
        return found or ([""] if self._shard.count == 1 else [])

    def _find_guild(self, workspace: str) -> discord.Guild | None:
        return self._client.get_guild(int(workspace)) if workspace else None

    def _lacks_members(self, workspace: str) -> bool:
        """Whether the members of a server, which a comparison needs, are still to be loaded."""
        guild = self._find_guild(workspace)
        return guild is not None and not guild.unavailable and not guild.chunked

    async def _load_members(self, workspace: str) -> None:
        guild = self._find_guild(workspace)
        if guild is None:
            return
        try:
            await load_members(guild, LOAD_TIMEOUT)
        except (OSError, discord.ClientException) as error:
            log.warning("discord.members_not_loaded", workspace=guild.id, error=type(error).__name__)
            await asyncio.sleep(LOAD_RETRY_SECONDS)
