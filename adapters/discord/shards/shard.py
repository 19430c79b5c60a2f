"""One shard: its lease, its client, and how another process takes it over without a gap."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from adapters.discord.client import DiscordClient
from adapters.discord.gateway import ignore_interactions, map_connection_errors
from adapters.discord.shards.session_starts import SessionStart
from adapters.discord.translate import NAME
from bot.errors import PlatformError
from engine.scheduling.supervisor import child_task

if TYPE_CHECKING:
    from adapters.discord.platform import DiscordPlatform
    from adapters.discord.shards.session_starts import SessionStarts
    from adapters.discord.shards.shard_set import ShardSet
    from bot.bot import Bot
    from bot.settings import Settings

SHARD_LEASES = f"{NAME} shard "  # followed by the number of shards, a slash, and that of the shard
READY_LEASES = f"{NAME} ready "  # the same, a blank, and the process: several may be ready for a while
HANDOVER_SECONDS = 30.0  # for another process to take a shard that was given up
ANSWER_SECONDS = 60.0  # afterwards, to finish the answers that were begun here
POLL_SECONDS = 0.5  # between two looks at whether another process is ready


class Shard:
    """One of `count` connections, over which the servers are distributed by their ids.

    `is_given_up`: other processes may have it. This one handles its events (`is_serving`) until another one is ready.
    """

    def __init__(self, owner: ShardSet, bot: Bot, settings: Settings, starts: SessionStarts, number: int) -> None:
        self.number = number
        self.count = owner.count
        self.client: DiscordClient | None = None
        self._owner = owner
        self._bot = bot
        self._settings = settings
        self._starts = starts
        self._start = SessionStart()
        self._given_up = asyncio.Event()
        self._is_replaced = False
        self._ready = asyncio.Event()

    @property
    def name(self) -> str:
        """The number of the shard and that of all shards, as in the names of leases."""
        return f"{self.count}/{self.number}"

    @property
    def is_given_up(self) -> bool:
        return self._given_up.is_set()

    @property
    def platform(self) -> DiscordPlatform | None:
        """The servers of the shard, once it has received them."""
        return self.client.platform if self.client is not None and self.client.has_servers else None

    @property
    def is_serving(self) -> bool:
        return self.platform is not None and not self._is_replaced

    def contains(self, workspace: str) -> bool:
        """Whether a server belongs to this shard. Direct messages (no server) belong to the first one."""
        return (int(workspace or 0) >> 22) % self.count == self.number

    def give_up(self) -> None:
        """Let another process have it."""
        self._given_up.set()

    async def run(self) -> None:
        """Keep the shard connected until it is given up and replaced; return at once if another process has it.

        Raises SetupError, PlatformError and StoreError.
        """
        if self.is_given_up:  # the connection failed during the hand-over
            return
        async with AsyncExitStack() as stack:
            lease = await stack.enter_async_context(AsyncExitStack())
            if not await lease.enter_async_context(self._bot.processes.try_lease(SHARD_LEASES + self.name)):
                return
            self._bot.expect_platform(NAME)
            await stack.enter_async_context(child_task(self._announce_ready(), "discord shard ready"))
            connected = await stack.enter_async_context(child_task(self._connect(), "discord connection"))
            given_up = await stack.enter_async_context(child_task(self._given_up.wait(), "discord shard given up"))
            await asyncio.wait({connected, given_up}, return_when=asyncio.FIRST_COMPLETED)
            if not connected.done():
                await lease.aclose()
                self._bot.processes.notify(SHARD_LEASES)
                if self.is_serving:
                    await self._hand_over()

    async def _connect(self) -> None:
        async with DiscordClient(self._bot, self._settings, self) as client:
            self.client = client
            try:
                with map_connection_errors(client):
                    await client.log_in()
                    self._start = await self._starts.request(self.number)
                    await client.connect()
                raise PlatformError("Discord closed the connection.")
            finally:
                self.client = None
                self._start.sent.set()
                client.platform.record_disconnect()

    async def begin_session(self, *, is_first: bool) -> None:
        """Wait until IDENTIFY may be sent; the first one of a connection was allowed before.

        Raises PlatformError if another process has the servers: this one only finishes answers.
        """
        if self._is_replaced:
            raise PlatformError("Another process is connected for these servers.")
        if not is_first:
            self._start = await self._starts.request(self.number)
        self._start.sent.set()

    def record_ready(self) -> None:
        """Use its servers from now on, in place of another process."""
        self._owner.attach()
        self._ready.set()

    async def _announce_ready(self) -> None:
        """Hold the lease that shows other processes that this one is ready."""
        await self._ready.wait()
        processes = self._bot.processes
        async with processes.lease(f"{READY_LEASES}{self.name} {processes.id}"):
            await asyncio.Event().wait()

    async def _hand_over(self) -> None:
        """Serve until another process is ready; then stay connected to finish the answers that were begun.

        Another process that has the shard may have to wait for hours before its session may begin.
        """
        waited = 0.0
        while self.is_serving and waited < HANDOVER_SECONDS and not await self._has_successor():
            await asyncio.sleep(POLL_SECONDS)
            waited = 0.0 if await self._is_taken() else waited + POLL_SECONDS
        self._is_replaced = True
        if self.client is not None:
            ignore_interactions(self.client)
        if not self._owner.is_leaving:
            await asyncio.sleep(ANSWER_SECONDS)

    async def _has_successor(self) -> bool:
        """Whether all shards are ready that its servers may belong to now, or nobody is there to take them."""
        if self._owner.is_leaving and not await self._owner.has_others():
            return True
        here, count = self._bot.processes.id, self._owner.count
        leases = await self._bot.processes.list_leases(READY_LEASES)
        ready = {(name.removeprefix(READY_LEASES).split()[0], process) for name, process in leases.items()}
        if count != self.count:
            return {f"{count}/{number}" for number in range(count)} <= {name for name, _ in ready}
        return any(name == self.name and process != here for name, process in ready)

    async def _is_taken(self) -> bool:
        """Whether another process has the shard, or any has one of the present number, if that is another one."""
        leases, count = await self._bot.processes.list_leases(SHARD_LEASES), self._owner.count
        if count != self.count:
            return any(name.startswith(f"{SHARD_LEASES}{count}/") for name in leases)
        here = self._bot.processes.id
        return leases.get(SHARD_LEASES + self.name, here) != here
