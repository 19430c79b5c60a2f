"""A server of which events are lost again and again is read again and again, ever more rarely."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import discord
import pytest

from adapters.discord.guild.reload import LONGEST_PAUSE_SECONDS, GrowingPause, GuildReloads
from bot.bot import Bot
from tests.adapters.discord.recording_bot import RecordingBot, until
from tests.support.clock import ManualClock, ShiftedClock

GUILD = 7


class EmptyServer:
    """The HTTP calls of a reload, to a server without channels; the next `failures` of them fail.

    A read waits while `gate` is closed; `read_at`: seconds since the beginning, in tens.
    """

    def __init__(self, clock: ShiftedClock) -> None:
        self.gate = asyncio.Event()
        self.gate.set()
        self.failures = 0
        self.read_at: list[float] = []
        self._clock = clock
        self._began = clock.monotonic()

    async def get_guild(self, _: int) -> dict[str, Any]:
        self.read_at.append(round((self._clock.monotonic() - self._began) / 10) * 10)
        await self.gate.wait()
        if self.failures:
            self.failures -= 1
            raise ValueError
        return {}

    async def get_member(self, *_: int) -> dict[str, Any]:
        return {}

    async def get_all_guild_channels(self, _: int) -> list[Any]:
        return []

    async def get_active_threads(self, _: int) -> dict[str, Any]:
        return {"threads": []}


class Client:
    """The parts of the library's client that a reload uses; it keeps no server."""

    def __init__(self, clock: ShiftedClock) -> None:
        self.http = EmptyServer(clock)
        self.application_id, self.user = 1, None
        self._connection = self

    def get_guild(self, _: int) -> None:
        """It is never in the cache."""

    def parse_guild_create(self, _: dict[str, Any]) -> None:
        """It is not kept."""


@pytest.fixture
def clock() -> ShiftedClock:
    return ShiftedClock()


@pytest.fixture
def bot(clock: ShiftedClock) -> RecordingBot:
    return RecordingBot(clock)


@pytest.fixture
def client(clock: ShiftedClock) -> Client:
    return Client(clock)


@pytest.fixture
async def reloads(client: Client, bot: RecordingBot, clock: ShiftedClock) -> AsyncIterator[GuildReloads]:
    made = GuildReloads(cast("discord.Client", client), cast("Bot", bot), clock.sleep)
    yield made
    await made.close()


async def let_run() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def lose_events(reloads: GuildReloads, clock: ShiftedClock, seconds: int) -> None:
    """One each ten seconds."""
    for _ in range(seconds // 10):
        reloads.start(GUILD)
        await let_run()
        clock.advance(10)
        await let_run()


async def test_events_that_keep_being_lost_do_not_delay_the_next_read(
    reloads: GuildReloads, client: Client, bot: RecordingBot, clock: ShiftedClock
) -> None:
    await lose_events(reloads, clock, 1800)
    assert client.http.read_at == [0, 60, 180, 420, 900, 1500]
    assert bot.reconciled == 6
    assert bot.visibility[-1] == ("suspend", str(GUILD))
    clock.advance(600)
    await until(lambda: bot.visibility[-1] == ("reconcile", str(GUILD)))


async def test_a_read_of_what_was_before_a_lost_event_does_not_count(
    reloads: GuildReloads, client: Client, bot: RecordingBot, clock: ShiftedClock
) -> None:
    client.http.gate.clear()
    reloads.start(GUILD)
    await let_run()
    reloads.start(GUILD)
    client.http.gate.set()
    await let_run()
    assert (client.http.read_at, bot.reconciled) == ([0], 0)
    clock.advance(60)
    await until(lambda: bot.reconciled)
    assert client.http.read_at == [0, 60]


async def test_a_server_that_cannot_be_read_in_time_is_a_problem_until_it_was(
    reloads: GuildReloads, client: Client, bot: RecordingBot, clock: ShiftedClock
) -> None:
    client.http.gate.clear()
    await lose_events(reloads, clock, 60)
    assert bot.supervisor.list_problems() == []
    await lose_events(reloads, clock, 600)
    assert bot.supervisor.list_problems() == [f"Discord's events about these servers cannot be read: {GUILD}."]
    client.http.gate.set()
    clock.advance(600)
    await until(lambda: bot.reconciled)
    await until(lambda: not bot.supervisor.list_problems())


async def test_a_failed_read_is_repeated_and_not_delayed_by_another_event(
    reloads: GuildReloads, client: Client, bot: RecordingBot, clock: ShiftedClock
) -> None:
    client.http.failures = 3
    await lose_events(reloads, clock, 40)
    assert (len(client.http.read_at), bot.reconciled) == (4, 1)


def test_the_pause_is_short_again_after_a_long_rest() -> None:
    pause = GrowingPause(clock := ManualClock())
    assert pause.seconds_left == 0
    for _ in range(4):
        pause.record_read()
    assert pause.seconds_left == 480
    clock.advance(480 + LONGEST_PAUSE_SECONDS + 1)
    pause.record_read()
    assert pause.seconds_left == 60
