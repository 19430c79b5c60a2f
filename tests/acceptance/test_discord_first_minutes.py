"""A server that the bot was just added to: it says once what it needs, and who asks in vain is told who can help."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.support.discord_server.permissions import EVERYONE, Can
from tests.support.town.discord import House, living

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.discord_server import Channel, Guild, Person

pytestmark = pytest.mark.asyncio(loop_scope="module")

SWITCH = "`/settings setting:ingest value:on`"
QUESTION = "What is the password of the safe?"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with living(tmp_path_factory.mktemp("house")) as lived_in:
        yield lived_in


def hellos(house: House, person: Person, channel: Channel) -> list[str]:
    return [each.text for each in house.discord.sees(person, channel).posts if "Hello! I answer" in each.text]


async def test_a_server_is_told_once_what_the_bot_needs(house: House) -> None:
    guild = house.discord.guild("Fresh")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    market = house.discord.channel(guild, "market")
    await house.settled()
    [hello] = hellos(house, ada, square)
    assert SWITCH in hello
    assert "Manage Server" in hello
    assert "permissions" not in hello
    await house.restart()
    await house.settled()
    assert len(hellos(house, ada, square)) == 1
    assert hellos(house, ada, market) == []


async def test_it_speaks_where_it_may_and_names_what_it_lacks(house: House) -> None:
    guild = house.discord.guild("Narrow", bot=Can.VIEW_CHANNEL)
    house.discord.changes_role(guild, guild.roles[guild.id], EVERYONE & ~Can.ADD_REACTIONS)
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    house.discord.overwrites(square, house.discord.bot(guild), deny=Can.SEND_MESSAGES)
    market = house.discord.channel(guild, "market")
    await house.restart()
    await house.settled()
    assert hellos(house, ada, square) == []
    [hello] = hellos(house, ada, market)
    assert re.findall(r"I lack these permissions: ([^.]*)\.", hello) == ["Add Reactions"]


async def test_a_server_that_it_was_added_to_while_it_was_off_is_told_too(house: House) -> None:
    await house.end()
    guild: Guild = house.discord.guild("Away")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    await house.start()
    await house.settled()
    assert len(hellos(house, ada, square)) == 1


async def test_a_question_in_a_channel_that_is_not_switched_on_is_told_who_can_change_that(house: House) -> None:
    guild = house.discord.guild("Quiet")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    market = house.discord.channel(guild, "market")
    await house.switched_on(market)
    await ada.says(market, "The password of the safe is agate.")
    await house.settled()
    answer = await house.asks(ada, square, QUESTION)
    assert "agate" in answer
    assert "I do not read this channel" in answer
    assert SWITCH in answer
    assert "I do not read this channel" not in await house.asks(ada, market, QUESTION)
