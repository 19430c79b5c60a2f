"""Read a server anew of which an event was lost; until then it is unknown, so that no wrong permissions are used."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import TYPE_CHECKING, Any

import discord
import structlog

from adapters.discord.gateway import load_members
from adapters.discord.translate import NAME
from engine import FeatureBreaker, backoff_seconds
from engine.errors import EngineError

if TYPE_CHECKING:
    from bot.bot import Bot

log = structlog.get_logger(__name__)

LOAD_TIMEOUT = 60.0  # seconds for the members of a server
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 5.0, 600.0
GONE = (discord.NotFound, discord.Forbidden)
TASK = "discord server reload"


class GuildReloads:
    """Reads servers anew, each at once for the first time, and at least a growing pause after the last time."""

    def __init__(self, client: discord.Client, bot: Bot) -> None:
        self._client = client
        self._bot = bot
        self._breakers: dict[int, FeatureBreaker] = {}
        self._running: dict[int, asyncio.Task[None]] = {}

    def start(self, guild_id: int) -> None:
        """Forget a server and suspend its visibility, and read it anew."""
        self._bot.suspend_visibility(NAME, str(guild_id))
        if (guild := self._client.get_guild(guild_id)) is not None:
            self._client._connection._remove_guild(guild)  # noqa: SLF001  - the library has no public API for it
        if (former := self._running.get(guild_id)) is not None:
            former.cancel()
        breaker = self._breakers.setdefault(guild_id, FeatureBreaker(self._bot.clock))
        wait = breaker.seconds_left
        breaker.record_refusal()
        self._running[guild_id] = self._bot.supervisor.spawn(TASK, self._reload(guild_id, wait))

    async def close(self) -> None:
        """Stop reading."""
        for task in self._running.values():
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def _reload(self, guild_id: int, wait: float) -> None:
        await asyncio.sleep(wait)
        for failures in count(1):
            try:
                await self._load(guild_id)
            except GONE:
                return
            except Exception as error:  # noqa: BLE001 - the reply may be as unreadable as the event
                log.warning("discord.server_not_reloaded", workspace=guild_id, error=type(error).__name__)
                await asyncio.sleep(backoff_seconds(failures, FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS))
            else:
                break
        try:
            await self._bot.reconcile(NAME, str(guild_id))
        except EngineError as error:  # the bot retries it
            log.warning("discord.reconciliation_failed", workspace=guild_id, error=type(error).__name__)

    async def _load(self, guild_id: int) -> None:
        """Give the library the server as a new session would, unless one did meanwhile."""
        guild = self._client.get_guild(guild_id)
        if guild is None or guild.unavailable:
            data = await self._fetch(guild_id)
            self._client._connection.parse_guild_create(data)  # noqa: SLF001 - as above
            guild = self._client.get_guild(guild_id)
        if guild is not None and not guild.chunked:
            await load_members(guild, LOAD_TIMEOUT)
            guild._member_count = len(guild.members)  # noqa: SLF001 - as above; the reply only estimates it

    async def _fetch(self, guild_id: int) -> Any:
        """The fields of GUILD_CREATE that matter here."""
        http, me = self._client.http, self._client.application_id or 0
        fetched: Any = await http.get_guild(guild_id)
        return {
            **fetched,
            "unavailable": False,
            "member_count": fetched.get("approximate_member_count", 0),
            "members": [await http.get_member(guild_id, self._client.user.id if self._client.user else me)],
            "channels": await http.get_all_guild_channels(guild_id),
            "threads": (await http.get_active_threads(guild_id))["threads"],
        }
