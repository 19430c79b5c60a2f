"""Begin sessions one after another, over all processes: Discord limits how many begin at once, and how many a day."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog

from adapters.discord.translate import NAME
from engine.scheduling.supervisor import cancel_tasks

if TYPE_CHECKING:
    import discord

    from bot.bot import Bot

log = structlog.get_logger(__name__)

TASK = "discord session start"
IDENTIFY_SECONDS = 5.5  # between two IDENTIFY of one bucket; Discord's limit is 5 seconds
CONNECT_SECONDS = 30.0  # to send IDENTIFY after it was allowed


@dataclass(slots=True)
class SessionStart:
    """The permission to send IDENTIFY once; `sent` is set when it is sent."""

    granted: asyncio.Event = field(default_factory=asyncio.Event)
    sent: asyncio.Event = field(default_factory=asyncio.Event)


class SessionStarts:
    """Permissions to send IDENTIFY. `http` asks Discord for its limits, which count the sessions of all processes.

    A bucket (shard modulo `max_concurrency`) is a lease until IDENTIFY_SECONDS after an IDENTIFY. It is marked in the
    database meanwhile, so that whoever gets it from a process that ended waits first.
    """

    def __init__(self, bot: Bot, http: discord.http.HTTPClient) -> None:
        self._bot = bot
        self._http = http
        self._holding: set[asyncio.Task[None]] = set()

    async def request(self, shard: int) -> SessionStart:
        """Wait until a shard may begin a session. Raises StoreError and the library's errors."""
        start = SessionStart()
        holding = self._bot.supervisor.spawn(TASK, self._hold(await self._find_bucket(shard), start))
        self._holding.add(holding)
        holding.add_done_callback(self._holding.discard)
        holding.add_done_callback(lambda _: start.granted.set())
        try:
            await start.granted.wait()
        except BaseException:
            holding.cancel()
            raise
        if holding.done():
            holding.result()
        return start

    async def close(self) -> None:
        """End all permissions."""
        await cancel_tasks(*self._holding)

    async def _find_bucket(self, shard: int) -> int:
        """The bucket of a shard, once sessions are left."""
        while True:
            _, _, limit = await self._http.get_bot_gateway()
            if limit["remaining"] > 0:
                return shard % limit["max_concurrency"]
            seconds = limit["reset_after"] / 1000
            log.warning("discord.sessions_used_up", seconds=seconds)
            await asyncio.sleep(max(seconds, IDENTIFY_SECONDS))

    async def _hold(self, bucket: int, start: SessionStart) -> None:
        name, state = f"identify {bucket}", self._bot.store.adapter_state
        async with self._bot.processes.lease(f"{NAME} {name}"):
            if await state.get(NAME, name):
                await asyncio.sleep(IDENTIFY_SECONDS)
            await state.set(NAME, name, "used")
            start.granted.set()
            with suppress(TimeoutError):  # `wait_for` can swallow a cancellation on Python 3.11
                async with asyncio.timeout(CONNECT_SECONDS):
                    await start.sent.wait()
            await asyncio.sleep(IDENTIFY_SECONDS)
            await state.set(NAME, name, "")
