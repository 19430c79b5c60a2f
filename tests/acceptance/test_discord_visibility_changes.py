"""Who may read changes on Discord while the bot speaks, or just before: what is told changes with it, at once.

The language tells all that it is shown, so what is not told was never in its reach. People look at their screens.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from bot import texts
from engine.models import Scope
from tests.support.discord_server import Permission
from tests.support.town.discord_bot import TIMEOUT_SECONDS, DiscordBotFixture, open_discord_bot
from tests.support.verbatim_language import QUESTION, find_secrets

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.discord_server import Channel, Person

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[DiscordBotFixture]:
    async with open_discord_bot(tmp_path_factory.mktemp("house")) as lived_in:
        yield lived_in


async def test_restricted_channel_hides_its_messages(house: DiscordBotFixture) -> None:
    discord = house.discord
    guild = discord.guild("Overwrites")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square, market = discord.channel(guild, "square"), discord.channel(guild, "market")
    everyone = guild.roles[guild.id]
    await house.post_passwords({square: "agate", market: "beryl"})
    assert find_secrets(await house.ask_by_command(bob, square, QUESTION)) == "agate beryl"
    restrict_channel(house, market, ada)
    right_after = await asyncio.gather(
        house.ask_by_command(bob, square, QUESTION),
        house.ask_privately(bob, square, QUESTION),
        house.ask_by_mention(ada, square, QUESTION),
    )
    assert [find_secrets(text) for text in right_after] == ["agate"] * 3
    assert await _channel_space(house, market) == f"discord:{guild.id}:{market.id}"
    assert find_secrets(await house.ask_by_command(ada, market, QUESTION)) == "agate beryl"
    discord.overwrites(market, everyone)
    await house.wait_until_idle()
    assert await _channel_space(house, market) == f"discord:{guild.id}:open"
    assert find_secrets(await house.ask_by_command(bob, square, QUESTION)) == "agate beryl"


def restrict_channel(house: DiscordBotFixture, channel: Channel, *people: Person) -> None:
    """A channel is for these people alone from now on."""
    assert channel.guild is not None
    for one in (*people, house.discord.bot(channel.guild)):
        house.discord.overwrites(channel, one, allow=Permission.VIEW_CHANNEL)
    house.discord.overwrites(channel, channel.guild.roles[channel.guild.id], deny=Permission.VIEW_CHANNEL)


async def test_restricted_channel_suggests_no_names(house: DiscordBotFixture) -> None:
    discord = house.discord
    guild = discord.guild("Names")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square, market = discord.channel(guild, "square"), discord.channel(guild, "market")
    await house.enable_ingest(square, market)
    await ada.says(market, "Quillon Abernathy meets Barnaby Finch at Marrowgate Abbey.")
    await house.close_conversations()
    assert await bob.autocompletes("graph", "name", "Quil", here=square) == ["Quillon Abernathy"]
    restrict_channel(house, market, ada)
    assert await bob.autocompletes("graph", "name", "Quil", here=square) == []
    assert "Marrowgate" not in await house.run_command(bob, square, "graph", name="Quillon Abernathy")
    assert await ada.autocompletes("graph", "name", "Quil", here=square) == ["Quillon Abernathy"]


@pytest.mark.parametrize("away", ["stopped", "cut off"])
async def test_channel_restricted_during_downtime_is_hidden(house: DiscordBotFixture, away: str) -> None:
    discord = house.discord
    guild = discord.guild(f"Away, {away}")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square, market = discord.channel(guild, "square"), discord.channel(guild, "market")
    await house.post_passwords({square: "agate", market: "beryl"})
    if away == "stopped":
        await house.stop()
        restrict_channel(house, market, ada)
        await house.start()
    else:
        discord.gateway.invalidate()
        discord.gateway.disconnect()
        restrict_channel(house, market, ada)
        await discord.wait_until_connected()
    assert find_secrets(await house.ask_by_command(bob, square, QUESTION)) == "agate"
    await house.wait_for_backfill()
    assert await _channel_space(house, market) == f"discord:{guild.id}:{market.id}"
    assert find_secrets(await house.ask_by_command(ada, market, QUESTION)) == "agate beryl"


async def test_role_losing_permissions_closes_its_channels(house: DiscordBotFixture) -> None:
    discord = house.discord
    guild = discord.guild("Powers")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square, market = discord.channel(guild, "square"), discord.channel(guild, "market")
    everyone = guild.roles[guild.id]
    for one in (everyone, discord.bot(guild)):
        discord.overwrites(square, one, allow=Permission.VIEW_CHANNEL | Permission.READ_MESSAGE_HISTORY)
    discord.overwrites(market, ada, allow=Permission.VIEW_CHANNEL | Permission.READ_MESSAGE_HISTORY)
    await house.post_passwords({square: "agate", market: "beryl"})
    assert find_secrets(await house.ask_by_command(bob, square, QUESTION)) == "agate beryl"
    discord.changes_role(guild, everyone, everyone.permissions & ~Permission.READ_MESSAGE_HISTORY)
    assert find_secrets(await house.ask_by_command(bob, square, QUESTION)) == "agate"
    assert find_secrets(await house.ask_privately(bob, square, QUESTION)) == "agate"
    assert find_secrets(await house.ask_privately(ada, square, QUESTION)) == "agate beryl"
    assert await _channel_space(house, market) == f"discord:{guild.id}:{market.id}"


async def test_age_restricted_channel_hides_its_messages(house: DiscordBotFixture) -> None:
    discord = house.discord
    guild = discord.guild("Grown up")
    bob = discord.member(guild, "Bob")
    square, market = discord.channel(guild, "square"), discord.channel(guild, "market")
    await house.post_passwords({square: "agate", market: "beryl"})
    assert find_secrets(await house.ask_by_command(bob, square, QUESTION)) == "agate beryl"
    discord.restricts_age(market)
    assert find_secrets(await house.ask_by_command(bob, square, QUESTION)) == "agate"
    assert await _channel_space(house, market) == f"discord:{guild.id}:adult"
    assert "beryl" in await house.ask_by_command(bob, market, QUESTION)
    assert find_secrets(await house.ask_in_dm(bob, QUESTION)) == "agate"


async def test_member_leaving_during_a_private_answer_gets_no_more(house: DiscordBotFixture) -> None:
    discord = house.discord
    guild, other = discord.guild("Left"), discord.guild("Stayed")
    ada = discord.member(guild, "Ada")
    discord.member(other, ada.user)
    square, hall = discord.channel(guild, "square"), discord.channel(other, "hall")
    await house.post_passwords({square: "agate", hall: "beryl"})
    go = house.script_answer("whisper slowly", "It is agate, ", "and then coral [1].")
    await ada.dms(f"whisper slowly: {QUESTION}")
    dm = discord.dm(ada)
    await discord.wait_for(lambda: "agate" in house.bot_text(ada, dm))
    discord.removes(ada)
    await house.wait_until_received()
    go.set()
    await house.wait_until_idle()
    assert texts.ANSWER_WITHDRAWN in house.bot_text(ada, dm)
    assert find_secrets(house.bot_text(ada, dm)) == ""


async def test_member_removed_from_a_private_thread_gets_no_more(house: DiscordBotFixture) -> None:
    discord = house.discord
    guild = discord.guild("Put out")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square = discord.channel(guild, "square")
    corner = await ada.opens_thread(square, "corner", private=True)
    await ada.adds(corner, bob, discord.bot(guild))
    await house.post_passwords({square: "agate", corner: "beryl"}, by=ada)
    go = house.script_answer("murmur slowly", "It is beryl, ", "and then coral [1].")
    used = await bob.slash("ask", here=square, question=f"murmur slowly: {QUESTION}", private=True)
    await discord.wait_for(lambda: used.original and "beryl" in used.original.content)
    await ada.removes_from_thread(corner, bob)
    await house.wait_until_received()
    go.set()
    assert texts.ANSWER_WITHDRAWN in await house.answer_text(bob, used)
    assert find_secrets(house.all_bot_text(bob)) == ""


async def test_member_losing_a_role_gets_no_more_of_its_channel(house: DiscordBotFixture) -> None:
    discord = house.discord
    guild = discord.guild("Leaving")
    cooks = discord.role(guild, "cooks")
    ada, bob = discord.member(guild, "Ada", roles=[cooks]), discord.member(guild, "Bob", roles=[cooks])
    square, kitchen = discord.channel(guild, "square"), discord.channel(guild, "kitchen", only=[cooks])
    await house.post_passwords({square: "agate", kitchen: "beryl"})
    go = house.script_answer("tell me slowly", "The first half, and then… ", "the second half [1].")
    asked = await house.post_mention(ada, kitchen, "tell me slowly the password of the safe")
    alone = await bob.slash("ask", here=square, question="tell me slowly the password of the safe", private=True)
    await discord.wait_for(lambda: asked.thread and "first half" in house.bot_text(bob, asked.thread))
    await discord.wait_for(lambda: alone.original and "first half" in alone.original.content)
    discord.revokes(bob, cooks)
    await house.wait_until_received()
    go.set()
    await house.wait_until_idle()
    assert asked.thread is not None
    assert "the second half" in house.bot_text(ada, asked.thread)
    assert discord.sees(bob, asked.thread).hidden
    assert "half" not in house.all_bot_text(bob)
    assert texts.ANSWER_WITHDRAWN in await house.answer_text(bob, alone)
    assert find_secrets(await house.ask_privately(bob, square, QUESTION)) == "agate"


async def test_streaming_answer_is_redacted_when_its_source_closes(house: DiscordBotFixture) -> None:
    discord = house.discord
    guild = discord.guild("Midway")
    bob = discord.member(guild, "Bob")
    square, market = discord.channel(guild, "square"), discord.channel(guild, "market")
    await house.post_passwords({market: "beryl"})
    go = house.script_answer("spell it slowly", "It is beryl, ", "and nothing else [1].")
    asked = await house.post_mention(bob, square, "spell it slowly: the password of the safe")
    await discord.wait_for(lambda: asked.thread and "beryl" in house.bot_text(bob, asked.thread))
    restrict_channel(house, market)
    await house.wait_until_received()
    go.set()
    await house.wait_until_idle()
    assert texts.ANSWER_WITHDRAWN in house.all_bot_text(bob)
    assert "beryl" not in house.all_bot_text(bob)


async def test_answer_cannot_be_shared_once_its_source_closes(house: DiscordBotFixture) -> None:
    discord = house.discord
    guild = discord.guild("Too late")
    bob, cleo = discord.member(guild, "Bob"), discord.member(guild, "Cleo")
    square, market = discord.channel(guild, "square"), discord.channel(guild, "market")
    await house.post_passwords({square: "agate", market: "beryl"})
    used = await bob.slash("ask", here=square, question=QUESTION, private=True)
    assert find_secrets(await house.answer_text(bob, used)) == "agate beryl"
    restrict_channel(house, market, bob)
    assert used.original is not None
    assert texts.ANSWER_NOT_SHARED in await house.answer_text(bob, await bob.clicks(used.original, "Share to channel"))
    assert find_secrets(house.all_bot_text(cleo)) == ""


async def test_answer_is_redacted_once_its_source_channel_closes(house: DiscordBotFixture) -> None:
    discord = house.discord
    guild = discord.guild("Sources")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square, market = discord.channel(guild, "square"), discord.channel(guild, "market")
    await house.post_passwords({square: "agate", market: "beryl"})
    assert find_secrets(await house.ask_by_command(ada, square, QUESTION)) == "agate beryl"
    restrict_channel(house, market, ada)
    await house.wait_until_idle()
    await house.discord.wait_for(lambda: texts.SOURCE_REMOVED in house.bot_text(bob, square), TIMEOUT_SECONDS)
    assert "beryl" not in await house.run_command(bob, square, "sources")
    assert "beryl" not in house.all_bot_text(bob)
    assert find_secrets(await house.ask_by_command(bob, square, QUESTION)) == "agate"


async def _channel_space(house: DiscordBotFixture, channel: Channel) -> str:
    """Where the documents of a channel lie."""
    assert channel.guild is not None
    room = f"discord:{channel.guild.id}:{channel.id}"
    [listed] = await house.engine.list_documents(Scope(frozenset(), frozenset({room})))
    return listed.space
