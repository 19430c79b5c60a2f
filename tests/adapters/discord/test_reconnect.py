"""Discord that cannot be reached is tried again, at the start and later; what it refuses is told in words."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

import pytest
from discord.gateway import DiscordWebSocket
from discord.http import Route

from adapters.discord import run
from bot.errors import PlatformError, SetupError
from bot.platform.events import MessageReceived
from bot.server import PlatformConnection
from engine.scheduling.supervisor import Supervisor
from tests.adapters.discord.recording_bot import Ear, settings_for
from tests.support.discord_server import FakeDiscord

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.bot import Bot
    from tests.adapters.discord.conftest import Town


@asynccontextmanager
async def serving(fake: FakeDiscord, home: Path, **given: str) -> AsyncIterator[tuple[Ear, asyncio.Task[None]]]:
    """The adapter, begun again as the program does."""
    base, gateway = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    ear, stop, supervisor = Ear(), asyncio.Event(), Supervisor(first_wait=0.01, longest_wait=0.05)
    task = PlatformConnection(
        "discord", lambda: run(cast("Bot", ear), settings_for(fake, home, **given), stop), stop
    ).start(supervisor)
    try:
        yield ear, task
    finally:
        stop.set()
        await asyncio.wait({task}, timeout=10)
        await supervisor.stop()
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = base, gateway


async def hears(fake: FakeDiscord, ear: Ear) -> None:
    """Somebody says something, and the bot is told."""
    guild = next(iter(fake.world.guilds.values()), None) or fake.guild("Harbour")
    ada, square = fake.member(guild, "Ada"), fake.channel(guild, "square")
    await ear.attached()
    await ada.says(square, "hello")
    assert (await ear.hears(MessageReceived)).message.text == "hello"
    assert ear.doubted
    assert ear.caught_up


@pytest.mark.parametrize("route", [("GET", "/users/@me"), ("GET", "/gateway/bot")])
@pytest.mark.parametrize("how", [{"trouble": "reset"}, {"status": 403}])
async def test_what_may_pass_at_the_start_is_tried_again(
    fake: FakeDiscord, tmp_path: Path, route: tuple[str, str], how: dict[str, Any]
) -> None:
    fake.fail_next(*route, **{"times": 12, **how})
    async with serving(fake, tmp_path, discord_gateway_url="") as (ear, task):
        await hears(fake, ear)
        assert not task.done()


async def test_a_gateway_that_is_down_at_the_first_attempt_is_tried_again(
    fake: FakeDiscord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discord.client.ExponentialBackoff.delay", lambda _: 0.01)
    serve, refused = fake.gateway.serve, 0

    async def down(request: Any) -> Any:
        nonlocal refused
        refused += 1
        if refused > 3:
            return await serve(request)
        raise ConnectionError

    monkeypatch.setattr(fake.gateway, "serve", down)
    async with serving(fake, tmp_path) as (ear, task):
        await hears(fake, ear)
        assert refused > 3
        assert not task.done()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("MESSAGE_CREATE", {"id": "1"}),
        ("MESSAGE_UPDATE", {"id": "x"}),
        ("INTERACTION_CREATE", {}),
        ("GUILD_CREATE", {"id": "1"}),
        ("MESSAGE_CREATE", []),
    ],
)
async def test_a_dispatch_that_cannot_be_parsed_is_left_out(town: Town, name: str, data: Any) -> None:
    town.fake.gateway.sessions.emit(name, data, 0)
    await town.ada.says(town.square, "hello")
    assert (await town.ear.hears(MessageReceived)).message.text == "hello"
    assert town.ear.caught_up == 1


async def test_one_that_tells_who_reads_what_is_not_left_out(fake: FakeDiscord, tmp_path: Path) -> None:
    fake.guild("Harbour")
    async with serving(fake, tmp_path) as (ear, task):
        await ear.attached()
        fake.gateway.sessions.emit("GUILD_ROLE_UPDATE", {"guild_id": next(iter(fake.world.guilds)), "role": 5}, 0)
        async with asyncio.timeout(10):
            while ear.caught_up < 2:  # noqa: ASYNC110 - it has no news
                await asyncio.sleep(0.01)
        await hears(fake, ear)
        assert not task.done()


async def test_a_server_of_which_a_part_is_not_understood_is_not_known(town: Town) -> None:
    place, guild = town.place(town.square), town.fake.world.guilds[town.guild.id]
    assert (await town.platform.fetch_channel(place)).kind == "open"
    town.fake.gateway.sessions.emit("GUILD_CREATE", {"id": guild.id, "roles": [], "channels": [{"id": 3}]}, 0)
    await town.ada.says(town.square, "hello")
    async with asyncio.timeout(5):
        while town.platform.client.get_guild(int(guild.id)) is not None:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.01)
    with pytest.raises(PlatformError):
        await town.platform.fetch_channel(place)


@pytest.mark.parametrize("code", [4004, 4013])
async def test_a_connection_that_is_refused_for_good_is_told_with_the_way_out(
    fake: FakeDiscord, tmp_path: Path, code: int
) -> None:
    fake.guild("Harbour")
    async with serving(fake, tmp_path) as (ear, task):
        await ear.attached()
        fake.gateway.disconnect(code)
        with pytest.raises(SetupError, match=str(code)) as refused:
            await asyncio.wait_for(task, 10)
        assert "THREADLORE_DISCORD_BOT_TOKEN" in refused.value.hint


async def test_a_wrong_token_is_not_tried_again(fake: FakeDiscord, tmp_path: Path) -> None:
    async with serving(fake, tmp_path, token="wrong") as (_, task):
        with pytest.raises(SetupError, match="does not accept the token"):
            await asyncio.wait_for(task, 10)


async def test_missing_intents_are_not_tried_again(tmp_path: Path) -> None:
    async with FakeDiscord(privileged=()) as fake, serving(fake, tmp_path) as (_, task):
        with pytest.raises(SetupError, match="read messages and members"):
            await asyncio.wait_for(task, 10)
