"""A server that the bot was just added to: it says once what it needs, and who asks in vain is told who can help."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.support.discord_server.permissions import EVERYONE, Permission
from tests.support.town.discord_bot import DiscordBotFixture, open_discord_bot

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.discord_server import Channel, Guild, Person

pytestmark = pytest.mark.asyncio(loop_scope="module")

SWITCH = "`/settings setting:ingest value:on`"
QUESTION = "What is the password of the safe?"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[DiscordBotFixture]:
    async with open_discord_bot(tmp_path_factory.mktemp("house")) as lived_in:
        yield lived_in


def greeting_posts(house: DiscordBotFixture, person: Person, channel: Channel) -> list[str]:
    return [each.text for each in house.discord.sees(person, channel).posts if "Hello! I answer" in each.text]


async def test_new_server_is_greeted_once_with_missing_permissions(house: DiscordBotFixture) -> None:
    guild = house.discord.guild("Fresh")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    market = house.discord.channel(guild, "market")
    await house.wait_until_idle()
    [hello] = greeting_posts(house, ada, square)
    assert SWITCH in hello
    assert "Manage Server" in hello
    assert "permissions" not in hello
    await house.restart()
    await house.wait_until_idle()
    assert len(greeting_posts(house, ada, square)) == 1
    assert greeting_posts(house, ada, market) == []


async def test_greeting_goes_where_the_bot_can_post(house: DiscordBotFixture) -> None:
    guild = house.discord.guild("Narrow", bot=Permission.VIEW_CHANNEL)
    house.discord.changes_role(guild, guild.roles[guild.id], EVERYONE & ~Permission.ADD_REACTIONS)
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    house.discord.overwrites(square, house.discord.bot(guild), deny=Permission.SEND_MESSAGES)
    market = house.discord.channel(guild, "market")
    await house.restart()
    await house.wait_until_idle()
    assert greeting_posts(house, ada, square) == []
    [hello] = greeting_posts(house, ada, market)
    assert re.findall(r"I'm missing these permissions: ([^.]*)\.", hello) == ["Add Reactions"]


async def test_server_added_during_downtime_is_greeted(house: DiscordBotFixture) -> None:
    await house.stop()
    guild: Guild = house.discord.guild("Away")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    await house.start()
    await house.wait_until_idle()
    assert len(greeting_posts(house, ada, square)) == 1


async def test_question_in_a_disabled_channel_says_who_can_enable_it(house: DiscordBotFixture) -> None:
    guild = house.discord.guild("Quiet")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    market = house.discord.channel(guild, "market")
    await house.enable_ingest(market)
    await ada.says(market, "The password of the safe is agate.")
    await house.wait_until_idle()
    answer = await house.ask_by_command(ada, square, QUESTION)
    assert "agate" in answer
    assert "I'm not indexing this channel" in answer
    assert SWITCH in answer
    assert "I'm not indexing this channel" not in await house.ask_by_command(ada, market, QUESTION)
