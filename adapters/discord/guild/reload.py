"""Read a server anew of which an event was lost; until then it is unknown, so that no wrong permissions are used."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import discord
import structlog

from adapters.discord.gateway import load_members
from adapters.discord.translate import NAME
from engine.errors import EngineError
from engine.scheduling.supervisor import backoff_seconds

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.bot import Bot
    from engine import Clock

log = structlog.get_logger(__name__)

LOAD_TIMEOUT = 60.0  # seconds for the members of a server
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 5.0, 600.0
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 60.0, 600.0  # from one read to the next
GONE = (discord.NotFound, discord.Forbidden)
TASK = "discord server reload"
MANY_READS = 3  # after which a server that is still not read is a problem that an operator should know


@dataclass(slots=True)
class GrowingPause:
    """The pause from one read to the next: none before the first, then doubled with each; it ends after a long rest."""

    clock: Clock
    _reads: int = 0
    _due: float = float("-inf")

    @property
    def reads(self) -> int:
        """Reads since the last long rest."""
        return self._reads

    @property
    def seconds_left(self) -> float:
        """Seconds until the next read."""
        return max(0.0, self._due - self.clock.monotonic())

    def record_read(self) -> None:
        """Record that a read begins."""
        now = self.clock.monotonic()
        if now - self._due > LONGEST_PAUSE_SECONDS:
            self._reads = 0
        self._reads += 1
        self._due = now + backoff_seconds(self._reads, FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS)


@dataclass(slots=True)
class _Reload:
    """The reload of one server. `is_reading`: what it reads may be from before an event that is lost now."""

    pause: GrowingPause
    is_reading: bool = False
    task: asyncio.Task[None] | None = None

    def stop_reading(self) -> None:
        """End a read that has begun; one that waits for its time goes on waiting."""
        if self.task is not None and self.is_reading:
            self.task.cancel()
            self.task, self.is_reading = None, False


class GuildReloads:
    """Reads servers anew, each at once for the first time, and at least a growing pause after the last time.

    Events that are lost while a reload waits for its time do not delay it.
    """

    def __init__(
        self, client: discord.Client, bot: Bot, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._client = client
        self._bot = bot
        self._sleep = sleep
        self._reloads: dict[int, _Reload] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        bot.supervisor.add_problem_source(self._describe_unread)

    def start(self, guild_id: int) -> None:
        """Forget a server and suspend its visibility, and read it anew."""
        self._bot.suspend_visibility(NAME, str(guild_id))
        if (guild := self._client.get_guild(guild_id)) is not None:
            self._client._connection._remove_guild(guild)  # noqa: SLF001  - the library has no public API for it
        reload = self._reloads.setdefault(guild_id, _Reload(GrowingPause(self._bot.clock)))
        reload.stop_reading()
        if reload.task is None or reload.task.done():
            reload.task = self._bot.supervisor.spawn(TASK, self._reload(guild_id, reload))
            self._tasks.add(reload.task)
            reload.task.add_done_callback(self._tasks.discard)

    def _describe_unread(self) -> list[str]:
        """The servers that are still not read after several tries, because events are lost meanwhile."""
        unread = [
            str(guild_id)
            for guild_id, reload in self._reloads.items()
            if reload.pause.reads >= MANY_READS and reload.task is not None and not reload.task.done()
        ]
        servers = ", ".join(unread)
        return [f"Discord's events about these servers cannot be read: {servers}."] if unread else []

    async def close(self) -> None:
        """Stop reading."""
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _reload(self, guild_id: int, reload: _Reload) -> None:
        wait = reload.pause.seconds_left
        for failures in count(1):
            await self._sleep(wait)
            reload.pause.record_read()
            reload.is_reading = True
            try:
                await self._read(guild_id)
            except GONE:
                return
            except Exception as error:  # noqa: BLE001 - the reply may be as unreadable as the event
                log.warning("discord.server_not_reloaded", workspace=guild_id, error=type(error).__name__)
            else:
                return
            reload.is_reading = False
            wait = backoff_seconds(failures, FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS)

    async def _read(self, guild_id: int) -> None:
        await self._load(guild_id)
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
