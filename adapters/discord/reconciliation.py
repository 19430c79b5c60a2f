"""After each new session: compare the servers of a connection with what is known, each once its members are loaded."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

import discord
import structlog

from adapters.discord.gateway import load_members
from adapters.discord.translate import NAME
from engine.errors import EngineError

if TYPE_CHECKING:
    from bot.bot import Bot

log = structlog.get_logger(__name__)

# Discord accepts 120 requests a minute over a connection. The members of further servers are loaded at this interval
# (seconds), so that a question in a server whose members are not loaded yet finds one left.
LOADED_AT_ONCE, LOAD_INTERVAL = 10, 0.65
LOAD_TIMEOUT, LOAD_RETRY_SECONDS = 60.0, 5.0  # for the members of one server; before another attempt


class ClientShard(Protocol):
    """Which servers a client is connected for: one of `count` parts. It decides when a session begins."""

    number: int
    count: int

    def contains(self, workspace: str) -> bool:
        """Whether a server belongs to this shard."""

    async def begin_session(self, *, is_first: bool) -> None:
        """Wait until IDENTIFY may be sent."""

    def record_ready(self) -> None:
        """Use the servers of the client: it has received them."""


class SessionReconciliation:
    """Suspends and reconciles the visibility of a client's servers: as one if it has all, else each by itself."""

    def __init__(self, client: discord.Client, bot: Bot, shard: ClientShard) -> None:
        self._client = client
        self._bot = bot
        self._shard = shard
        self._loaded = 0  # servers in this session

    def suspend(self) -> None:
        """Suspend the visibility of all servers."""
        self._loaded = 0
        listed = {str(guild.id) for guild in self._client.guilds} if self._is_partial else {""}
        for workspace in sorted(listed):
            self._bot.suspend_visibility(NAME, workspace)

    async def run(self) -> None:
        """Reconcile all servers, one after another, until the connection ends."""
        for workspace in await self._list_workspaces():
            await self._load_members(workspace)
            if self._client.is_closed():
                return
            try:
                await self._bot.reconcile(NAME, workspace)
            except EngineError as error:  # the bot retries it
                log.warning("discord.reconciliation_failed", workspace=workspace, error=type(error).__name__)

    @property
    def _is_partial(self) -> bool:
        """Whether other connections have other servers."""
        return self._shard.count > 1

    async def _list_workspaces(self) -> list[str]:
        """The servers to reconcile, with those that the bot was removed from meanwhile; "" for all."""
        if not self._is_partial:
            return [""]
        known = {each for each in await self._bot.list_workspaces(NAME) if each and self._shard.contains(each)}
        return sorted(known | {str(guild.id) for guild in self._client.guilds})

    async def _load_members(self, workspace: str) -> None:
        """Load the members of a server, or of all, which a comparison needs."""
        for guild in self._client.guilds:
            if workspace not in ("", str(guild.id)) or guild.unavailable or guild.chunked:
                continue
            if self._loaded >= LOADED_AT_ONCE:
                await asyncio.sleep(LOAD_INTERVAL)
            self._loaded += 1
            await self._load_members_of(guild)

    async def _load_members_of(self, guild: discord.Guild) -> None:
        while not self._client.is_closed():
            try:
                await load_members(guild, LOAD_TIMEOUT)
            except (OSError, discord.ClientException) as error:
                log.warning("discord.members_not_loaded", workspace=guild.id, error=type(error).__name__)
                await asyncio.sleep(LOAD_RETRY_SECONDS)
            else:
                return
