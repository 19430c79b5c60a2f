"""The shards of this process: which it takes and gives up, how many there are, and one platform for all of them."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from adapters.common.router import RoutedCalls
from adapters.discord.gateway import MoreShardsRequired
from adapters.discord.replies.render import MAX_PART_LENGTH
from adapters.discord.replies.reply import EDIT_INTERVAL
from adapters.discord.settings import TRAITS
from adapters.discord.shards.session_starts import SessionStarts
from adapters.discord.shards.shard import SHARD_LEASES, Shard
from adapters.discord.translate import NAME
from bot.errors import BadSetting, NotConnected, SetupError
from bot.platform.ports import MessageLimits
from engine.scheduling.supervisor import cancel_tasks

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import discord

    from adapters.discord.platform import DiscordPlatform
    from bot.bot import Bot
    from bot.platform.models import Location
    from bot.settings import Settings


log = structlog.get_logger(__name__)

LOOK_TASK, SHARD_TASK = "discord shards", "discord shard"
PROCESS_LEASES = f"{NAME} process "  # followed by the id of a process that takes part
COUNT = "shards"  # the name of their number in the database
FATAL = (SetupError, BadSetting)
LOOK_SECONDS, LONELY_LOOK_SECONDS = 2.0, 60.0  # between two looks at who has what; where no others can be
FREE_SECONDS = 5.0  # after which any process takes a free shard
UNFAIR_SECONDS = 10.0  # after which a surplus is given up
LEAVE_SECONDS = 25.0  # for others to take over when this process ends


class ShardSet:
    """The shards of one process. `wanted`: the number of shards that is set; 0: what Discord recommends."""

    def __init__(self, bot: Bot, settings: Settings, http: discord.http.HTTPClient, wanted: int) -> None:
        self.count = 0
        self.is_leaving = False
        self._bot = bot
        self._settings = settings
        self._http = http
        self._wanted = wanted
        self._starts = SessionStarts(bot, http)
        self._running: dict[Shard, asyncio.Task[None]] = {}
        self._platform = ShardRouter(self._running)
        self._news = asyncio.Event()
        self._free_since: dict[int, float] = {}
        self._unfair_since: float | None = None

    async def agree_on_count(self) -> None:
        """Set the number of shards for all processes. Raises StoreError and discord.GatewayNotFound.

        A recommendation only replaces a smaller number, so that processes that start later change nothing.
        """
        stored = await self._load_count()
        count = self._wanted or max(stored, (await self._http.get_bot_gateway())[0])
        if count != stored:
            log.info("discord.shard_count_set", shards=count, before=stored)
            await self._bot.store.adapter_state.set(NAME, COUNT, str(count))
            self._bot.processes.notify(SHARD_LEASES)

    async def run(self) -> None:
        """Have a fair share of the shards until cancelled. Raises SetupError for what only the operator can fix."""
        self._bot.processes.subscribe(SHARD_LEASES, self._news.set)
        looking = self._bot.supervisor.run(LOOK_TASK, self._look_repeatedly, fatal=FATAL)
        try:
            await looking
        finally:
            await cancel_tasks(looking, *self._running.values())
            await self._starts.close()

    async def leave(self) -> None:
        """Give all shards up, and wait until other processes are ready for them."""
        self.is_leaving = True
        self._news.set()
        for shard in self._running:
            shard.give_up()
        if self._running and not self._bot.processes.lost.is_set():
            await asyncio.wait(self._running.values(), timeout=LEAVE_SECONDS)

    async def has_others(self) -> bool:
        """Whether another process takes part. Raises StoreError."""
        processes = self._bot.processes
        return any(process != processes.id for process in (await processes.list_leases(PROCESS_LEASES)).values())

    def attach(self) -> None:
        """Use the servers of a shard that became ready."""
        self._bot.attach(self._platform)

    async def _look_repeatedly(self) -> None:
        """Take part until this process leaves: then nothing is left for it."""
        processes = self._bot.processes
        async with processes.lease(f"{PROCESS_LEASES}{processes.id}"):
            while not self.is_leaving:
                self._news.clear()
                await self._look()
                with suppress(TimeoutError):  # `wait_for` can swallow a cancellation on Python 3.11
                    async with asyncio.timeout(LOOK_SECONDS if processes.id else LONELY_LOOK_SECONDS):
                        await self._news.wait()
        processes.notify(SHARD_LEASES)
        await asyncio.Event().wait()

    async def _look(self) -> None:
        """Take free shards and give up others, as the others hold theirs now. Raises SetupError, StoreError."""
        await self._discard_ended()
        await self._follow_count()
        holdings = await self._load_holdings()
        while (shard := self._choose_free(holdings)) is not None:
            self._start(shard)
            holdings = holdings.with_mine(shard)
        self._share(holdings)
        if not self._running:
            self._bot.stand_by(NAME)

    async def _discard_ended(self) -> None:
        for shard, task in list(self._running.items()):
            if not task.done():
                continue
            del self._running[shard]
            try:
                task.result()
            except MoreShardsRequired:
                await self.agree_on_count()
                if await self._load_count() == shard.count:
                    raise

    async def _follow_count(self) -> None:
        """Give up all shards once there shall be another number; the new ones begin meanwhile."""
        count = await self._load_count()
        if count != self.count:
            self.count = count
            self._free_since.clear()
            for shard in self._running:
                shard.give_up()

    async def _load_count(self) -> int:
        return int(await self._bot.store.adapter_state.get(NAME, COUNT) or 0)

    async def _load_holdings(self) -> ShardHoldings:
        processes = self._bot.processes
        leases = await processes.list_leases(NAME)
        prefix = f"{SHARD_LEASES}{self.count}/"
        taking = {shard.number: processes.id for shard in self._running if not shard.is_given_up}
        held = {int(name.removeprefix(prefix)): id_ for name, id_ in leases.items() if name.startswith(prefix)}
        taking_part = frozenset(id_ for name, id_ in leases.items() if name.startswith(PROCESS_LEASES))
        return ShardHoldings(processes.id, self.count, taking_part, {**taking, **held})

    def _choose_free(self, holdings: ShardHoldings) -> int | None:
        """A free shard to take: it is the turn of this process, or nobody took it for FREE_SECONDS."""
        now, free = self._bot.clock.monotonic(), holdings.free
        self._free_since = {shard: self._free_since.get(shard, now) for shard in free}
        if free and holdings.is_next():
            return free[0]
        return next((shard for shard in free if now - self._free_since[shard] >= FREE_SECONDS), None)

    def _start(self, number: int) -> None:
        shard = Shard(self, self._bot, self._settings, self._starts, number)
        task = self._bot.supervisor.run(SHARD_TASK, shard.run, fatal=FATAL)
        task.add_done_callback(lambda _: self._news.set())
        self._running[shard] = task

    def _share(self, holdings: ShardHoldings) -> None:
        """Give up one shard if another process has lacked it for UNFAIR_SECONDS."""
        surplus = holdings.find_surplus()
        if surplus is None:
            self._unfair_since = None
            return
        now = self._bot.clock.monotonic()
        self._unfair_since = now if self._unfair_since is None else self._unfair_since
        if now - self._unfair_since < UNFAIR_SECONDS:
            return
        self._unfair_since = None
        for shard in self._running:
            if shard.number == surplus and not shard.is_given_up:
                log.info("discord.shard_given_up", shard=shard.name)
                shard.give_up()


@dataclass(frozen=True, slots=True)
class ShardHoldings:
    """The shards 0 to `count - 1` as the process `me` sees them: each that is held, and the process that holds it.

    `processes`: the ids of all that take part.
    """

    me: int
    count: int
    processes: frozenset[int]
    holders: Mapping[int, int]

    @property
    def free(self) -> list[int]:
        """The shards that nobody holds."""
        return [shard for shard in range(self.count) if shard not in self.holders]

    def is_next(self) -> bool:
        """Whether this process takes the next free shard: it has the fewest, and of several such the lowest id."""
        held = self._count_held()
        return min(held, key=lambda process: (held[process], process)) == self.me

    def find_surplus(self) -> int | None:
        """A shard to give up: this process has the most, and two more than another. Nothing is while one is free."""
        held = self._count_held()
        richest = max(held, key=lambda process: (held[process], process))
        if self.free or richest != self.me or held[self.me] - min(held.values()) <= 1:
            return None
        return max(shard for shard, process in self.holders.items() if process == self.me)

    def with_mine(self, shard: int) -> ShardHoldings:
        """The holdings once this process has one more shard."""
        return ShardHoldings(self.me, self.count, self.processes, {**self.holders, shard: self.me})

    def _count_held(self) -> Mapping[int, int]:
        counts = Counter(self.holders.values())
        return {process: counts[process] for process in self.processes | {self.me}}


class ShardRouter(RoutedCalls):
    """The servers of some shards. A call for another one raises NotConnected: its members and channels are unknown."""

    name = NAME
    traits = TRAITS
    limits = MessageLimits(max_length=MAX_PART_LENGTH, write_interval=EDIT_INTERVAL)
    listable_workspaces: Collection[str] = ()  # look-ups are free: the library caches all channels

    def __init__(self, shards: Collection[Shard]) -> None:
        self.shards = shards

    def get_workspace(self, workspace: str) -> DiscordPlatform:
        for shard in sorted(self.shards, key=lambda each: each.is_given_up):
            if shard.contains(workspace) and (found := shard.platform) is not None:
                return found
        raise NotConnected("There is no connection for this server here.")

    def serves(self, workspace: str) -> bool:
        """Whether this process handles the events of a server, or those outside of servers."""
        return any(shard.is_serving and shard.contains(workspace) for shard in self.shards)

    def forget_cached(self, location: Location) -> None:
        """Do nothing: the connection of this process reports every change."""
