"""The setup of a Discord application: the link that invites it, and what Discord says about its token."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from discord.http import Route

from adapters.discord.guild.permissions import build_invite_url
from adapters.discord.setup import DiscordSetup, read_application_id
from bot.settings import Settings, load_settings
from tests.support.discord_server.server import FakeDiscord

SETUP = DiscordSetup()
TOKEN = "MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcDe.fGhIjKlMnOpQrStUvWxYz0123456789abcdefg"


@pytest.fixture(autouse=True)
def _same_address() -> Iterator[None]:
    base = Route.BASE
    yield
    Route.BASE = base


def settings(token: str, api: str = "") -> Settings:
    return load_settings(adapter_settings={"discord_bot_token": token, "discord_api_base": api or "http://127.0.0.1:9"})


def test_the_token_says_which_application_the_link_invites() -> None:
    assert read_application_id(TOKEN) == 123456789012345678
    assert [read_application_id(text) for text in ("fake.discord.token", "", "ä.b.c", "MTI.b.c")] == [0, 0, 0, 0]
    assert SETUP.list_last_steps(settings(TOKEN))[0].link == build_invite_url(123456789012345678)
    assert SETUP.list_last_steps(settings("fake.discord.token"))[0].link == ""


@pytest.mark.parametrize(
    ("intents", "states"), [(["members", "message_content"], ["ok", "ok"]), (["members"], ["ok", "failed"])]
)
async def test_discord_says_who_the_bot_is_and_what_it_may_read(intents: list[str], states: list[str]) -> None:
    async with FakeDiscord(privileged=intents) as discord:
        assert [check.state for check in await SETUP.check(settings(discord.token, discord.api))] == states
        [refused] = await SETUP.check(settings("another.discord.token", discord.api))
        assert refused.state == "failed"


async def test_the_token_of_a_person_is_refused() -> None:
    async with FakeDiscord() as discord:
        discord.world.app.bot = False
        [found] = await SETUP.check(settings(discord.token, discord.api))
    assert (found.state, found.text) == ("failed", "This is the token of a person.")


async def test_what_cannot_be_reached_is_unknown() -> None:
    [found] = await SETUP.check(settings(TOKEN))
    assert found.state == "unknown"
