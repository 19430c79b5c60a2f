"""Being connected: commands are registered once, failures are retried or explained, connections come back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from adapters.discord import run
from adapters.discord.gateway import FILE_HOSTS, custom_file_origin, is_custom_api
from bot.bot import Bot
from bot.errors import PlatformError, SetupError
from bot.platform.events import ButtonPressed, MessageReceived
from bot.platform.models import Button, Card, Location
from bot.server import PlatformConnection
from bot.settings import Settings
from engine.clock import SYSTEM_CLOCK
from engine.scheduling.supervisor import Supervisor
from tests.adapters.discord.conftest import Town
from tests.adapters.discord.recording_bot import RecordingBot, connected, settings_for, until
from tests.adapters.recording_bot import MemoryStore
from tests.support.discord_server import FakeDiscord
from tests.support.patience import PATIENCE

START = Path(__file__).parents[3] / "docs" / "start.md"
COMMANDS = ("PUT", "/applications/{app}/commands")


@asynccontextmanager
async def serving(
    fake: FakeDiscord, home: Path, **given: str
) -> AsyncIterator[tuple[RecordingBot, asyncio.Task[None]]]:
    """The adapter, started again as the program does."""
    bot, stop, supervisor = (
        RecordingBot(fake.clock),
        asyncio.Event(),
        Supervisor(SYSTEM_CLOCK, first_wait=0.01, longest_wait=0.05),
    )
    bot.supervisor = supervisor
    settings = settings_for(fake, home, **given)
    task = PlatformConnection("discord", lambda: run(cast("Bot", bot), settings, stop), stop).start(supervisor)
    try:
        yield bot, task
    finally:
        stop.set()
        await asyncio.wait({task}, timeout=PATIENCE)
        await supervisor.stop()


async def receive_hello(fake: FakeDiscord, bot: RecordingBot) -> None:
    guild = next(iter(fake.world.guilds.values()), None) or fake.guild("Harbour")
    ada, square = fake.member(guild, "Ada"), fake.channel(guild, "square")
    await until(lambda: bot.reconciled)
    await ada.says(square, "hello")
    assert (await bot.wait_for(MessageReceived)).message.text == "hello"
    assert (bot.suspended > 0, bot.reconciled > 0) == (True, True)


async def test_commands_are_registered_when_they_differ_from_before(fake: FakeDiscord, tmp_path: Path) -> None:
    store = MemoryStore()
    for change, registrations in ((False, 1), (False, 1), (True, 2)):
        if change:
            [name] = [name for name in store.adapter_state.values if name[1].startswith("commands")]
            store.adapter_state.values[name] = "other"
        async with connected(fake, tmp_path, store) as bot:
            assert len(fake.calls_to(*COMMANDS)) == registrations
            assert (len(bot.platforms), bot.suspended, bot.reconciled, bot.active > 0) == (1, 0, 1, True)


async def test_commands_that_are_refused_do_not_prevent_a_connection(fake: FakeDiscord, tmp_path: Path) -> None:
    fake.fail_next(*COMMANDS, status=403)
    async with connected(fake, tmp_path) as bot:
        assert not any(name.startswith("commands") for _, name in bot.store.adapter_state.values)


async def test_the_invite_link_is_printed_and_in_the_papers(fake: FakeDiscord, tmp_path: Path) -> None:
    with capture_logs() as logs:
        async with connected(fake, tmp_path):
            await until(lambda: any(log["event"] == "discord.invite_link_created" for log in logs))
    [link] = {log["link"] for log in logs if log["event"] == "discord.invite_link_created"}
    assert f"client_id={fake.world.app.id}&" in link
    assert link.replace(f"client_id={fake.world.app.id}", "client_id=APPLICATION_ID") in START.read_text()


async def test_an_api_that_cannot_be_reached_is_explained(fake: FakeDiscord, tmp_path: Path) -> None:
    with pytest.raises(PlatformError, match="could not be reached"):
        async with connected(fake, tmp_path, api_base="http://127.0.0.1:9/api/v10"):
            pass


@pytest.mark.parametrize(("token", "message"), [("wrong", "does not accept the token"), ("", "token is not set")])
async def test_a_wrong_token_is_explained_and_not_retried(
    fake: FakeDiscord, tmp_path: Path, token: str, message: str
) -> None:
    async with serving(fake, tmp_path, bot_token=token) as (_, task):
        with pytest.raises(SetupError, match=message):
            await asyncio.wait_for(task, PATIENCE)


async def test_missing_intents_are_explained_and_not_retried(tmp_path: Path) -> None:
    async with FakeDiscord(privileged=()) as fake, serving(fake, tmp_path) as (_, task):
        with pytest.raises(SetupError, match="read messages and members") as caught:
            await asyncio.wait_for(task, PATIENCE)
    assert "Message Content Intent" in caught.value.hint


@pytest.mark.parametrize("code", [4004, 4013])
async def test_a_connection_that_is_refused_for_good_ends_with_a_hint(
    fake: FakeDiscord, tmp_path: Path, code: int
) -> None:
    async with serving(fake, tmp_path) as (bot, task):
        await until(lambda: bot.reconciled)
        fake.gateway.disconnect(code)
        with pytest.raises(SetupError, match=str(code)) as refused:
            await asyncio.wait_for(task, PATIENCE)
        assert "THREADLORE_DISCORD_BOT_TOKEN" in refused.value.hint


@pytest.mark.share(2)
@pytest.mark.parametrize("route", [("GET", "/users/@me"), ("GET", "/gateway/bot")], ids=["me", "gateway"])
@pytest.mark.parametrize("how", [{"trouble": "reset"}, {"status": 403}], ids=["reset", "403"])
async def test_transient_failures_of_the_start_are_retried(
    fake: FakeDiscord, tmp_path: Path, route: tuple[str, str], how: dict[str, Any]
) -> None:
    fake.fail_next(*route, times=6, **how)
    async with serving(fake, tmp_path, gateway_url="") as (bot, task):
        await receive_hello(fake, bot)
        assert not task.done()


async def test_a_gateway_that_is_down_at_first_is_retried(
    fake: FakeDiscord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve, refused = fake.gateway.serve, 0

    async def down(request: Any) -> Any:
        nonlocal refused
        refused += 1
        if refused > 3:
            return await serve(request)
        raise ConnectionError

    monkeypatch.setattr(fake.gateway, "serve", down)
    async with serving(fake, tmp_path) as (bot, task):
        await receive_hello(fake, bot)
        assert (refused > 3, task.done()) == (True, False)


async def test_a_lost_connection_resumes_and_an_invalid_session_catches_up(town: Town) -> None:
    town.fake.gateway.disconnect()
    await town.ada.says(town.square, "while you were away")
    assert (await town.bot.wait_for(MessageReceived)).message.text == "while you were away"
    assert (town.bot.reconciled, town.bot.suspended) == (1, 1)
    town.fake.gateway.invalidate()
    await until(lambda: town.bot.reconciled == 2)


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
async def test_an_event_that_cannot_be_parsed_is_skipped(town: Town, name: str, data: Any) -> None:
    town.fake.gateway.sessions.emit(name, data, 0)
    await town.ada.says(town.square, "hello")
    assert (await town.bot.wait_for(MessageReceived)).message.text == "hello"
    assert town.bot.reconciled == 1


BROKEN_EVENTS = [
    ("GUILD_ROLE_UPDATE", {"role": 5}),
    ("GUILD_ROLE_DELETE", {"role_id": {}}),
    ("GUILD_MEMBER_UPDATE", {"user": []}),
    ("GUILD_MEMBER_ADD", {}),
    ("CHANNEL_UPDATE", {"id": None, "type": "x"}),
    ("CHANNEL_CREATE", {"type": 0}),
    ("THREAD_LIST_SYNC", {"threads": 7}),
    ("MESSAGE_DELETE", {"id": "no number"}),
    ("MESSAGE_DELETE_BULK", {"ids": 5}),
]


@pytest.mark.share(3)
@pytest.mark.parametrize(("name", "data"), BROKEN_EVENTS)
async def test_a_server_of_which_an_event_cannot_be_parsed_is_read_anew(
    town: Town, name: str, data: dict[str, Any]
) -> None:
    """Without a new session, and with what changed unnoticed."""
    before = await town.platform.fetch_channel(town.location(town.cellar))
    town.square.overwrites = town.cellar.overwrites  # without an event
    town.bot.visibility.clear()
    town.fake.gateway.sessions.emit(name, data | {"guild_id": town.guild.id}, 0)
    await until(lambda: ("reconcile", town.guild.id) in town.bot.visibility)
    assert town.bot.visibility == [("suspend", town.guild.id), ("reconcile", town.guild.id)]
    channel = await town.platform.fetch_channel(town.location(town.square))
    assert (channel.kind, channel.members) == ("closed", before.members)
    await town.ada.says(town.square, "hello")
    assert (await town.bot.wait_for(MessageReceived)).message.text == "hello"
    assert (town.fake.gateway.identifies, town.bot.skipped) == (1, [name])


async def test_a_server_is_unknown_until_it_was_read_anew(town: Town) -> None:
    place = town.location(town.square)
    town.fake.fail_next("GET", "/guilds/{guild}/channels", status=404, code=0)
    town.fake.gateway.sessions.emit("GUILD_UPDATE", {"id": town.guild.id, "roles": 5}, 0)
    await until(lambda: town.bot.skipped)
    with pytest.raises(PlatformError):
        await town.platform.fetch_channel(place)
    await town.ada.says(town.square, "hello")
    assert (await town.bot.wait_for(MessageReceived)).message.location == place


async def test_a_server_whose_events_break_again_and_again_is_read_ever_more_rarely(town: Town) -> None:
    for number in range(3):
        town.fake.gateway.sessions.emit("GUILD_ROLE_UPDATE", {"guild_id": town.guild.id, "role": 5}, 0)
        await town.ada.says(town.square, f"hello {number}")
        await town.bot.wait_for(MessageReceived, number + 1)
        await until(lambda: town.bot.reconciled == 2)
    assert len(town.fake.calls_to("GET", "/guilds/{guild}/channels")) == 1
    assert town.fake.gateway.identifies == 1


async def test_an_event_without_a_server_begins_a_new_session(fake: FakeDiscord, tmp_path: Path) -> None:
    fake.guild("Harbour")
    async with serving(fake, tmp_path) as (bot, task):
        await until(lambda: bot.reconciled)
        fake.gateway.sessions.emit("GUILD_ROLE_UPDATE", {"role": 5}, 0)
        await until(lambda: bot.reconciled > 1)
        await receive_hello(fake, bot)
        assert not task.done()


async def test_buttons_of_a_former_run_work(fake: FakeDiscord, tmp_path: Path) -> None:
    guild = fake.guild("Harbour")
    ada, square = fake.member(guild, "Ada"), fake.channel(guild, "square")
    async with connected(fake, tmp_path) as bot:
        place = Location("discord", guild.id, square.id)
        message = await bot.platform.post(place, Card("Hello", None, (Button("👎", "down", "a1"),)))
    async with connected(fake, tmp_path) as bot:
        await ada.clicks(square.messages[message], "👎")
        assert (await bot.wait_for(ButtonPressed)).action == "down"


def test_files_come_from_discord_and_from_another_server_only_if_one_is_set(tmp_path: Path) -> None:
    other = {"discord_api_base": SecretStr("http://127.0.0.1:8080/api/v10")}
    settings = [Settings(data_dir=tmp_path), Settings(data_dir=tmp_path, adapter_settings=other)]
    found = [(is_custom_api(setting), custom_file_origin(setting)) for setting in settings]
    assert found == [(False, ""), (True, "http://127.0.0.1:8080")]
    assert "cdn.discordapp.com" in FILE_HOSTS
