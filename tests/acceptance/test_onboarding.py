"""How the bot introduces itself on Discord, and what it says where it does not read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.support.discord_server import Permission
from tests.support.discord_server.permissions import EVERYONE

if TYPE_CHECKING:
    from tests.support.town.discord import DiscordTown
    from tests.support.town.live_bot import LiveBot

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.platforms("discord")]
ENABLE = "`/settings setting:ingest value:on`"


def greetings(live: LiveBot[DiscordTown], channel: str) -> list[str]:
    return [each.text for each in live.town.bot_posts("ada", channel) if "Hello! I answer" in each.text]


@pytest.mark.parametrize("away", [False, True], ids=["there", "away"])
async def test_new_server_is_greeted_once(live: LiveBot[DiscordTown], *, away: bool) -> None:
    if away:
        await live.stop()
    live.town.begin_guild("Fresh")
    live.town.add_channel("square")
    live.town.add_channel("market")
    await (live.start() if away else live.wait_until_idle())
    await live.wait_until_idle()
    [hello] = greetings(live, "square")
    assert ENABLE in hello
    assert "Manage Server" in hello
    assert "permissions" not in hello
    await live.restart()
    await live.wait_until_idle()
    assert [len(greetings(live, name)) for name in ("square", "market")] == [1, 0]


async def test_greeting_goes_where_the_bot_can_post(live: LiveBot[DiscordTown]) -> None:
    town = live.town
    town.begin_guild("Narrow", powers=Permission.VIEW_CHANNEL)
    town.discord.changes_role(town.guild, town.guild.roles[town.guild.id], EVERYONE & ~Permission.ADD_REACTIONS)
    town.discord.overwrites(town.add_channel("square"), town.bot_member, deny=Permission.SEND_MESSAGES)
    town.add_channel("market")
    await live.restart()
    await live.wait_until_idle()
    assert greetings(live, "square") == []
    [hello] = greetings(live, "market")
    assert re.findall(r"I'm missing these permissions: ([^.]*)\.", hello) == ["Add Reactions"]


async def test_question_in_a_disabled_channel_says_who_can_enable_it(live: LiveBot[DiscordTown]) -> None:
    live.town.add_channel("square")
    live.town.add_channel("market")
    await live.post_passwords(market="agate")
    answer = await live.ask("ada", "square", way="command")
    assert "agate" in answer
    assert "I'm not indexing this channel" in answer
    assert ENABLE in answer
    assert "I'm not indexing this channel" not in await live.ask("ada", "market", way="command")
