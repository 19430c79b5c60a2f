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
from tests.support.discord_server import Can
from tests.support.gossip import QUESTION, told
from tests.support.town.discord import PATIENCE, House, living

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.discord_server import Channel, Person

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with living(tmp_path_factory.mktemp("house")) as lived_in:
        yield lived_in


async def test_a_channel_that_becomes_restricted_takes_its_words_along(house: House) -> None:
    discord = house.discord
    guild = discord.guild("Overwrites")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square, market = discord.channel(guild, "square"), discord.channel(guild, "market")
    everyone = guild.roles[guild.id]
    await house.safe({square: "agate", market: "beryl"})
    assert told(await house.asks(bob, square, QUESTION)) == "agate beryl"
    close(house, market, ada)
    right_after = await asyncio.gather(
        house.asks(bob, square, QUESTION), house.whispers(bob, square, QUESTION), house.answered(ada, square, QUESTION)
    )
    assert [told(text) for text in right_after] == ["agate"] * 3
    assert await _space(house, market) == f"discord:{guild.id}:{market.id}"
    assert told(await house.asks(ada, market, QUESTION)) == "agate beryl"
    discord.overwrites(market, everyone)
    await house.settled()
    assert await _space(house, market) == f"discord:{guild.id}:open"
    assert told(await house.asks(bob, square, QUESTION)) == "agate beryl"


def close(house: House, channel: Channel, *people: Person) -> None:
    """A channel is for these people alone from now on."""
    assert channel.guild is not None
    for one in (*people, house.discord.bot(channel.guild)):
        house.discord.overwrites(channel, one, allow=Can.VIEW_CHANNEL)
    house.discord.overwrites(channel, channel.guild.roles[channel.guild.id], deny=Can.VIEW_CHANNEL)


async def test_names_of_a_channel_are_suggested_no_more_once_it_is_restricted(house: House) -> None:
    discord = house.discord
    guild = discord.guild("Names")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square, market = discord.channel(guild, "square"), discord.channel(guild, "market")
    await house.switched_on(square, market)
    await ada.says(market, "Quillon Abernathy meets Barnaby Finch at Marrowgate Abbey.")
    await house.read_up()
    assert await bob.autocompletes("graph", "name", "Quil", here=square) == ["Quillon Abernathy"]
    close(house, market, ada)
    assert await bob.autocompletes("graph", "name", "Quil", here=square) == []
    assert "Marrowgate" not in await house.calls(bob, square, "graph", name="Quillon Abernathy")
    assert await ada.autocompletes("graph", "name", "Quil", here=square) == ["Quillon Abernathy"]


@pytest.mark.parametrize("away", ["stopped", "cut off"])
async def test_a_channel_that_was_restricted_while_the_bot_was_away_is_not_told_of(house: House, away: str) -> None:
    discord = house.discord
    guild = discord.guild(f"Away, {away}")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square, market = discord.channel(guild, "square"), discord.channel(guild, "market")
    await house.safe({square: "agate", market: "beryl"})
    if away == "stopped":
        await house.end()
        close(house, market, ada)
        await house.start()
    else:
        discord.gateway.invalidate()
        discord.gateway.drop()
        close(house, market, ada)
        await discord.ready()
    assert told(await house.asks(bob, square, QUESTION)) == "agate"
    await house.caught_up()
    assert await _space(house, market) == f"discord:{guild.id}:{market.id}"
    assert told(await house.asks(ada, market, QUESTION)) == "agate beryl"


async def test_a_role_that_loses_its_powers_closes_what_it_opened(house: House) -> None:
    discord = house.discord
    guild = discord.guild("Powers")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square, market = discord.channel(guild, "square"), discord.channel(guild, "market")
    everyone = guild.roles[guild.id]
    for one in (everyone, discord.bot(guild)):
        discord.overwrites(square, one, allow=Can.VIEW_CHANNEL | Can.READ_MESSAGE_HISTORY)
    discord.overwrites(market, ada, allow=Can.VIEW_CHANNEL | Can.READ_MESSAGE_HISTORY)
    await house.safe({square: "agate", market: "beryl"})
    assert told(await house.asks(bob, square, QUESTION)) == "agate beryl"
    discord.changes_role(guild, everyone, everyone.permissions & ~Can.READ_MESSAGE_HISTORY)
    assert told(await house.asks(bob, square, QUESTION)) == "agate"
    assert told(await house.whispers(bob, square, QUESTION)) == "agate"
    assert told(await house.whispers(ada, square, QUESTION)) == "agate beryl"
    assert await _space(house, market) == f"discord:{guild.id}:{market.id}"


async def test_a_channel_that_becomes_age_restricted_takes_its_words_along(house: House) -> None:
    discord = house.discord
    guild = discord.guild("Grown up")
    bob = discord.member(guild, "Bob")
    square, market = discord.channel(guild, "square"), discord.channel(guild, "market")
    await house.safe({square: "agate", market: "beryl"})
    assert told(await house.asks(bob, square, QUESTION)) == "agate beryl"
    discord.restricts_age(market)
    assert told(await house.asks(bob, square, QUESTION)) == "agate"
    assert await _space(house, market) == f"discord:{guild.id}:adult"
    assert "beryl" in await house.asks(bob, market, QUESTION)
    assert told(await house.in_private(bob, QUESTION)) == "agate"


async def test_who_leaves_while_he_is_answered_in_private_is_told_nothing_further(house: House) -> None:
    discord = house.discord
    guild, other = discord.guild("Left"), discord.guild("Stayed")
    ada = discord.member(guild, "Ada")
    discord.member(other, ada.user)
    square, hall = discord.channel(guild, "square"), discord.channel(other, "hall")
    await house.safe({square: "agate", hall: "beryl"})
    go = house.script("whisper slowly", "It is agate, ", "and then coral [1].")
    await ada.dms(f"whisper slowly: {QUESTION}")
    dm = discord.dm(ada)
    await discord.until(lambda: "agate" in house.said(ada, dm))
    discord.removes(ada)
    await house.heard()
    go.set()
    await house.settled()
    assert texts.WITHDRAWN in house.said(ada, dm)
    assert told(house.said(ada, dm)) == ""


async def test_who_is_put_out_of_a_private_thread_is_told_nothing_further_of_it(house: House) -> None:
    discord = house.discord
    guild = discord.guild("Put out")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square = discord.channel(guild, "square")
    corner = await ada.opens_thread(square, "corner", private=True)
    await ada.adds(corner, bob, discord.bot(guild))
    await house.safe({square: "agate", corner: "beryl"}, by=ada)
    go = house.script("murmur slowly", "It is beryl, ", "and then coral [1].")
    used = await bob.slash("ask", here=square, question=f"murmur slowly: {QUESTION}", private=True)
    await discord.until(lambda: used.original and "beryl" in used.original.content)
    await ada.puts_out(corner, bob)
    await house.heard()
    go.set()
    assert texts.WITHDRAWN in await house.answer(bob, used)
    assert told(house.all_read_by(bob)) == ""


async def test_who_loses_a_role_hears_nothing_further_of_its_channel(house: House) -> None:
    discord = house.discord
    guild = discord.guild("Leaving")
    cooks = discord.role(guild, "cooks")
    ada, bob = discord.member(guild, "Ada", roles=[cooks]), discord.member(guild, "Bob", roles=[cooks])
    square, kitchen = discord.channel(guild, "square"), discord.channel(guild, "kitchen", only=[cooks])
    await house.safe({square: "agate", kitchen: "beryl"})
    go = house.script("tell me slowly", "The first half, and then… ", "the second half [1].")
    asked = await house.mentions(ada, kitchen, "tell me slowly the password of the safe")
    alone = await bob.slash("ask", here=square, question="tell me slowly the password of the safe", private=True)
    await discord.until(lambda: asked.thread and "first half" in house.said(bob, asked.thread))
    await discord.until(lambda: alone.original and "first half" in alone.original.content)
    discord.takes(bob, cooks)
    await house.heard()
    go.set()
    await house.settled()
    assert asked.thread is not None
    assert "the second half" in house.said(ada, asked.thread)
    assert discord.sees(bob, asked.thread).hidden
    assert "half" not in house.all_read_by(bob)
    assert texts.WITHDRAWN in await house.answer(bob, alone)
    assert told(await house.whispers(bob, square, QUESTION)) == "agate"


async def test_an_answer_on_its_way_is_taken_back_when_its_source_is_restricted(house: House) -> None:
    discord = house.discord
    guild = discord.guild("Midway")
    bob = discord.member(guild, "Bob")
    square, market = discord.channel(guild, "square"), discord.channel(guild, "market")
    await house.safe({market: "beryl"})
    go = house.script("spell it slowly", "It is beryl, ", "and nothing else [1].")
    asked = await house.mentions(bob, square, "spell it slowly: the password of the safe")
    await discord.until(lambda: asked.thread and "beryl" in house.said(bob, asked.thread))
    close(house, market)
    await house.heard()
    go.set()
    await house.settled()
    assert texts.WITHDRAWN in house.all_read_by(bob)
    assert "beryl" not in house.all_read_by(bob)


async def test_a_shared_answer_is_not_shared_any_more_once_its_source_is_restricted(house: House) -> None:
    discord = house.discord
    guild = discord.guild("Too late")
    bob, cleo = discord.member(guild, "Bob"), discord.member(guild, "Cleo")
    square, market = discord.channel(guild, "square"), discord.channel(guild, "market")
    await house.safe({square: "agate", market: "beryl"})
    used = await bob.slash("ask", here=square, question=QUESTION, private=True)
    assert told(await house.answer(bob, used)) == "agate beryl"
    close(house, market, bob)
    assert used.original is not None
    assert texts.NOT_SHARED in await house.answer(bob, await bob.clicks(used.original, "Share to channel"))
    assert told(house.all_read_by(cleo)) == ""


async def test_an_answer_is_taken_back_once_a_channel_that_it_used_was_closed(house: House) -> None:
    discord = house.discord
    guild = discord.guild("Sources")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square, market = discord.channel(guild, "square"), discord.channel(guild, "market")
    await house.safe({square: "agate", market: "beryl"})
    assert told(await house.asks(ada, square, QUESTION)) == "agate beryl"
    close(house, market, ada)
    await house.settled()
    await house.discord.until(lambda: texts.SOURCE_REMOVED in house.said(bob, square), PATIENCE)
    assert "beryl" not in await house.calls(bob, square, "sources")
    assert "beryl" not in house.all_read_by(bob)
    assert told(await house.asks(bob, square, QUESTION)) == "agate"


async def _space(house: House, channel: Channel) -> str:
    """Where the documents of a channel lie."""
    assert channel.guild is not None
    room = f"discord:{channel.guild.id}:{channel.id}"
    [listed] = await house.engine.documents(Scope(frozenset(), frozenset({room})))
    return listed.space
