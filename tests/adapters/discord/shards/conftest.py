"""Two servers on two shards, and processes that share them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest

from adapters.discord import run
from adapters.discord.shards.shard_set import PROCESS_LEASES
from bot.bot import Bot
from bot.platform.events import MessageReceived
from bot.platform.models import Location
from engine.clock import SYSTEM_CLOCK
from engine.scheduling.supervisor import Supervisor
from tests.adapters.discord.recording_bot import RecordingBot, settings_for, until
from tests.support.discord_server import Channel, FakeDiscord, Guild, Person
from tests.support.member_processes import MemberProcesses


class Half:
    """A guild of one of two shards, with a channel and a member."""

    def __init__(self, fake: FakeDiscord, shard: int) -> None:
        self.guild: Guild = fake.guild(f"Half {shard}")
        while (int(self.guild.id) >> 22) % 2 != shard:
            fake.clock.advance(0.001)  # ids count milliseconds
            self.guild = fake.guild(f"Half {shard}")
        self.ada: Person = fake.member(self.guild, "Ada")
        self.square: Channel = fake.channel(self.guild, "square")
        self.location = Location("discord", self.guild.id, self.square.id)


@pytest.fixture
def halves(fake: FakeDiscord) -> list[Half]:
    return [Half(fake, shard) for shard in range(2)]


@pytest.fixture
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks and waits are short."""
    for name, seconds in (("LOOK_SECONDS", 0.05), ("FREE_SECONDS", 0.3), ("UNFAIR_SECONDS", 0.2)):
        monkeypatch.setattr(f"adapters.discord.shards.shard_set.{name}", seconds)
    for name, seconds in (("HANDOVER_SECONDS", 3.0), ("ANSWER_SECONDS", 0.1), ("POLL_SECONDS", 0.01)):
        monkeypatch.setattr(f"adapters.discord.shards.shard.{name}", seconds)


class Member:
    """One of several processes that serve the same application."""

    def __init__(self, bot: RecordingBot, task: asyncio.Task[None], stop: asyncio.Event) -> None:
        self.bot, self.task, self._stop = bot, task, stop

    def serves(self, half: Half) -> bool:
        return any(platform.serves(half.guild.id) for platform in self.bot.platforms)

    def heard(self, text: str) -> bool:
        return any(event.message.text == text for event in self.bot.all(MessageReceived))

    async def leave(self) -> None:
        """End as after a signal."""
        self._stop.set()
        await self.task

    async def die(self) -> None:
        """End without a word: its leases are free, as once the others have noticed."""
        self.task.cancel()
        await asyncio.wait({self.task})


class Cluster:
    """Processes on one database."""

    def __init__(self, fake: FakeDiscord, home: Path) -> None:
        self.fake, self.home = fake, home
        self.members: list[Member] = []

    def join(self, **given: str) -> Member:
        """Start another process."""
        bot, stop = RecordingBot(self.fake.clock), asyncio.Event()
        bot.supervisor = Supervisor(SYSTEM_CLOCK, first_wait=0.01, longest_wait=0.05)
        first = self.members[0].bot if self.members else None
        bot.processes = MemberProcesses(cast("MemberProcesses", first.processes) if first else None)
        bot.store = first.store if first else bot.store
        task = asyncio.create_task(run(cast("Bot", bot), settings_for(self.fake, self.home, **given), stop))
        self.members.append(Member(bot, task, stop))
        return self.members[-1]

    def served(self, halves: list[Half]) -> list[list[int]]:
        """The processes that serve each server."""
        return [[number for number, each in enumerate(self.members) if each.serves(half)] for half in halves]

    def count_processes(self) -> int:
        """How many take part."""
        leases = cast("MemberProcesses", self.members[0].bot.processes).holders
        return sum(name.startswith(PROCESS_LEASES) for name in leases)

    async def close(self) -> None:
        for member in self.members:
            await member.die()
            await member.bot.supervisor.stop()


@asynccontextmanager
async def open_cluster(fake: FakeDiscord, home: Path) -> AsyncIterator[Cluster]:
    cluster = Cluster(fake, home)
    try:
        yield cluster
    finally:
        await cluster.close()


@pytest.fixture
async def cluster(fake: FakeDiscord, brisk: None, tmp_path: Path) -> AsyncIterator[Cluster]:
    async with open_cluster(fake, tmp_path) as opened:
        yield opened


async def become(cluster: Cluster, halves: list[Half], expected: list[list[int]]) -> None:
    """Wait until these processes serve the servers."""
    await until(lambda: cluster.served(halves) == expected)
