"""Being connected: commands are registered once, refusals are told in words, connections come back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from adapters.discord.api.endpoints import FILE_HOSTS, custom_file_origin, is_custom_api
from adapters.discord.interactions.command_sync import SYNC_FILE
from bot.errors import PlatformError
from bot.platform.events import ButtonPressed, MessageReceived
from bot.platform.models import Button, Card, Location
from bot.settings import Settings
from tests.adapters.discord.recording_bot import Ear, connected
from tests.support.discord_server import FakeDiscord

if TYPE_CHECKING:
    from tests.adapters.discord.conftest import Town

README = Path(__file__).parents[3] / "README.md"
COMMANDS = ("PUT", "/applications/{app}/commands")


async def test_commands_are_registered_when_they_are_others_than_before(fake: FakeDiscord, tmp_path: Path) -> None:
    async with connected(fake, tmp_path):
        assert len(fake.calls_to(*COMMANDS)) == 1
    async with connected(fake, tmp_path):
        assert len(fake.calls_to(*COMMANDS)) == 1
    known = json.loads((tmp_path / SYNC_FILE).read_text())
    (tmp_path / SYNC_FILE).write_text(json.dumps(dict.fromkeys(known, "other")))
    async with connected(fake, tmp_path):
        assert len(fake.calls_to(*COMMANDS)) == 2


async def test_the_link_that_invites_the_bot_is_printed_and_stands_in_the_readme(
    fake: FakeDiscord, tmp_path: Path
) -> None:
    with capture_logs() as logs:
        async with connected(fake, tmp_path):
            await fake.wait_for(lambda: any(each["event"] == "discord.invite_link_created" for each in logs))
    [link] = {each["link"] for each in logs if each["event"] == "discord.invite_link_created"}
    assert f"client_id={fake.world.app.id}&" in link
    assert link.replace(f"client_id={fake.world.app.id}", "client_id=APPLICATION_ID") in README.read_text()


async def test_commands_that_are_refused_do_not_keep_the_bot_away(fake: FakeDiscord, tmp_path: Path) -> None:
    fake.fail_next(*COMMANDS, status=403)
    async with connected(fake, tmp_path):
        assert not (tmp_path / SYNC_FILE).exists()


async def test_a_wrong_token_is_told_in_words(fake: FakeDiscord, tmp_path: Path) -> None:
    with pytest.raises(PlatformError, match="does not accept the token"):
        async with connected(fake, tmp_path, token="wrong"):
            pass


async def test_a_missing_token_is_told_in_words(fake: FakeDiscord, tmp_path: Path) -> None:
    with pytest.raises(PlatformError, match="token is not set"):
        async with connected(fake, tmp_path, token=""):
            pass


async def test_intents_that_are_switched_off_are_told_in_words(tmp_path: Path) -> None:
    async with FakeDiscord(privileged=()) as fake:
        with pytest.raises(PlatformError, match="read messages and members") as caught:
            async with connected(fake, tmp_path):
                pass
    assert "Message Content Intent" in caught.value.hint


async def test_the_gateway_is_asked_for_where_only_the_api_is_set(fake: FakeDiscord, tmp_path: Path) -> None:
    async with connected(fake, tmp_path, discord_gateway_url="") as ear:
        assert ear.platforms


async def test_a_server_that_is_not_there_is_told_in_words(fake: FakeDiscord, tmp_path: Path) -> None:
    with pytest.raises(PlatformError, match="could not be reached"):
        async with connected(fake, tmp_path, discord_api_base="http://127.0.0.1:9/api/v10"):
            pass


async def test_a_lost_connection_goes_on_where_it_was(town: Town) -> None:
    town.fake.gateway.disconnect()
    await town.ada.says(town.square, "while you were away")
    assert (await town.ear.hears(MessageReceived)).message.text == "while you were away"
    assert (town.ear.caught_up, town.ear.doubted) == (1, 1)


async def test_a_connection_that_begins_anew_asks_to_catch_up(town: Town) -> None:
    town.fake.gateway.invalidate()
    await town.fake.wait_for(lambda: town.ear.caught_up == 2, 10.0)


async def test_buttons_of_a_former_run_work(fake: FakeDiscord, tmp_path: Path) -> None:
    guild = fake.guild("Harbour")
    ada, square = fake.member(guild, "Ada"), fake.channel(guild, "square")
    async with connected(fake, tmp_path) as ear:
        place = Location("discord", guild.id, square.id)
        message = await ear.platform.post(place, Card("Hello", None, (Button("👎", "down", "a1"),)))
    async with connected(fake, tmp_path, Ear()) as ear:
        await ada.clicks(square.messages[message], "👎")
        assert (await ear.hears(ButtonPressed)).action == "down"


def test_files_come_from_discord_and_from_another_server_only_if_one_is_set(tmp_path: Path) -> None:
    usual = Settings(data_dir=tmp_path)
    other = Settings(
        data_dir=tmp_path, adapter_settings={"discord_api_base": SecretStr("http://127.0.0.1:8080/api/v10")}
    )
    assert (is_custom_api(usual), custom_file_origin(usual)) == (False, "")
    assert (is_custom_api(other), custom_file_origin(other)) == (True, "http://127.0.0.1:8080")
    assert "cdn.discordapp.com" in FILE_HOSTS
