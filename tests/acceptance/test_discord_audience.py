"""Nobody learns on Discord what they may not read: each row of who reads a reply, with secrets planted around it.

The language tells all that it is shown, so what is not told was never in its reach. People look at their screens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from bot import texts
from tests.support.discord_server import Can
from tests.support.gossip import QUESTION, told
from tests.support.town.discord import House, living, owner

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with living(tmp_path_factory.mktemp("house")) as lived_in:
        yield lived_in


async def test_where_everyone_reads_only_what_everyone_reads_is_told(house: House) -> None:
    discord = house.discord
    guild = discord.guild("Everyone")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square, market = discord.channel(guild, "square"), discord.channel(guild, "market")
    cellar = discord.channel(guild, "cellar", only=[ada])
    await house.safe({square: "agate", market: "beryl", cellar: "coral"})
    assert told(await house.asks(bob, square, QUESTION)) == "agate beryl"
    assert told(await house.asks(ada, market, QUESTION)) == "agate beryl"
    assert told(await house.answered(ada, square, QUESTION)) == "agate beryl"
    assert "coral" not in house.all_read_by(bob)


async def test_a_channel_of_one_role_tells_its_own_beside_what_everyone_reads(house: House) -> None:
    discord = house.discord
    guild = discord.guild("Roles")
    cooks, smiths = discord.role(guild, "cooks"), discord.role(guild, "smiths")
    ada, bob = discord.member(guild, "Ada", roles=[cooks, smiths]), discord.member(guild, "Bob", roles=[cooks])
    square = discord.channel(guild, "square")
    kitchen, forge = discord.channel(guild, "kitchen", only=[cooks]), discord.channel(guild, "forge", only=[smiths])
    await house.safe({square: "agate", kitchen: "beryl", forge: "coral"})
    assert told(await house.asks(ada, kitchen, QUESTION)) == "agate beryl"
    assert told(await house.answered(ada, forge, QUESTION)) == "agate coral"
    assert told(await house.asks(ada, square, QUESTION)) == "agate"
    assert told(house.all_read_by(bob)) == "agate beryl"


async def test_a_channel_of_single_members_tells_its_own_beside_what_everyone_reads(house: House) -> None:
    discord = house.discord
    guild = discord.guild("Members")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square = discord.channel(guild, "square")
    cellar, attic = discord.channel(guild, "cellar", only=[ada, bob]), discord.channel(guild, "attic", only=[ada])
    await house.safe({square: "agate", cellar: "beryl", attic: "coral"})
    assert told(await house.asks(ada, cellar, QUESTION)) == "agate beryl"
    assert told(await house.answered(ada, attic, QUESTION)) == "agate coral"
    assert told(house.all_read_by(bob)) == "agate beryl"


@pytest.mark.parametrize("denied", [Can.VIEW_CHANNEL, Can.READ_MESSAGE_HISTORY])
async def test_a_channel_that_is_denied_to_somebody_is_not_for_everyone(house: House, denied: Can) -> None:
    discord = house.discord
    guild = discord.guild("Denied")
    newcomers = discord.role(guild, "newcomers")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob", roles=[newcomers])
    cleo = discord.member(guild, "Cleo")
    square = discord.channel(guild, "square")
    lounge, porch = discord.channel(guild, "lounge"), discord.channel(guild, "porch")
    discord.overwrites(lounge, newcomers, deny=denied)
    discord.overwrites(porch, cleo, deny=denied)
    await house.safe({square: "agate", lounge: "beryl", porch: "coral"})
    assert told(await house.asks(ada, square, QUESTION)) == "agate"
    assert told(await house.asks(ada, lounge, QUESTION)) == "agate beryl"
    assert told(await house.whispers(ada, square, QUESTION)) == "agate beryl coral"
    assert told(await house.whispers(bob, square, QUESTION)) == "agate coral"
    assert told(await house.whispers(cleo, square, QUESTION)) == "agate beryl"


async def test_what_is_age_restricted_is_told_among_its_like_alone(house: House) -> None:
    discord = house.discord
    guild = discord.guild("Adults")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square = discord.channel(guild, "square")
    tavern, casino = discord.channel(guild, "tavern", nsfw=True), discord.channel(guild, "casino", nsfw=True)
    backroom = discord.channel(guild, "backroom", nsfw=True, only=[ada])
    await house.safe({square: "agate", tavern: "beryl", casino: "coral", backroom: "diamond"})
    assert told(await house.asks(ada, square, QUESTION)) == "agate"
    assert told(await house.whispers(ada, square, QUESTION)) == "agate"
    assert told(await house.in_private(ada, QUESTION)) == "agate"
    assert "beryl coral" in told(await house.asks(ada, tavern, QUESTION))
    assert told(await house.whispers(ada, tavern, QUESTION)) == "agate beryl coral diamond"
    assert "diamond" not in await house.whispers(bob, tavern, QUESTION)
    within = told(await house.asks(ada, backroom, QUESTION))
    assert "beryl coral diamond" in within
    assert "diamond" not in house.all_read_by(bob)


async def test_a_private_thread_is_for_those_who_are_in_it(house: House) -> None:
    discord = house.discord
    guild = discord.guild("Threads")
    ada, bob, cleo = (discord.member(guild, name) for name in ("Ada", "Bob", "Cleo"))
    square = discord.channel(guild, "square")
    corner = await ada.opens_thread(square, "corner", private=True)
    await ada.adds(corner, bob, discord.bot(guild))
    await house.safe({square: "agate", corner: "beryl"}, by=ada)
    assert told(await house.asks(ada, square, QUESTION)) == "agate"
    assert told(await house.whispers(cleo, square, QUESTION)) == "agate"
    assert told(await house.whispers(bob, square, QUESTION)) == "agate beryl"
    assert told(await house.asks(bob, corner, QUESTION)) == "agate beryl"
    await ada.puts_out(corner, bob)
    assert told(await house.whispers(bob, square, QUESTION)) == "agate"
    assert "beryl" not in house.all_read_by(cleo)


async def test_a_reply_for_one_person_draws_on_what_that_person_reads(house: House) -> None:
    discord = house.discord
    guild = discord.guild("Alone")
    cooks = discord.role(guild, "cooks")
    ada, bob = discord.member(guild, "Ada", roles=[cooks]), discord.member(guild, "Bob")
    square, kitchen = discord.channel(guild, "square"), discord.channel(guild, "kitchen", only=[cooks])
    attic = discord.channel(guild, "attic", only=[bob])
    await house.safe({square: "agate", kitchen: "beryl", attic: "coral"})
    assert told(await house.whispers(ada, square, QUESTION)) == "agate beryl"
    assert told(await house.whispers(bob, square, QUESTION)) == "agate coral"
    assert told(house.said(ada, square)) == "agate beryl"
    assert told(house.said(bob, square)) == "agate coral"
    assert told(house.said(owner(discord, guild), square)) == ""


async def test_a_direct_message_draws_on_all_guilds_that_both_are_in(house: House) -> None:
    discord = house.discord
    north, south = discord.guild("North"), discord.guild("South")
    ada, bob = discord.member(north, "Ada"), discord.member(north, "Bob")
    here = discord.member(south, ada.user)
    square, cellar = discord.channel(north, "square"), discord.channel(north, "cellar", only=[ada])
    harbour, vault = discord.channel(south, "harbour"), discord.channel(south, "vault", only=[here])
    office = discord.channel(south, "office", only=[])
    await house.safe({square: "agate", cellar: "beryl", harbour: "coral", vault: "diamond", office: "emerald"})
    assert told(await house.in_private(ada, QUESTION)) == "agate beryl coral diamond"
    assert told(await house.in_private(bob, QUESTION)) == "agate"
    discord.removes(here)
    before = len(discord.sees(ada, discord.dm(ada)).posts)
    await house.in_private(ada, QUESTION)
    after = discord.sees(ada, discord.dm(ada)).posts[before:]
    assert told("\n".join(post.text for post in after)) == "agate beryl"


async def test_what_not_all_may_read_is_not_shared_to_a_channel(house: House) -> None:
    discord = house.discord
    guild = discord.guild("Sharing")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square, cellar = discord.channel(guild, "square"), discord.channel(guild, "cellar", only=[ada])
    await house.safe({square: "agate", cellar: "beryl"})
    secret = await ada.slash("ask", here=square, question=QUESTION, private=True)
    assert told(await house.answer(ada, secret)) == "agate beryl"
    assert secret.original is not None
    pressed = await ada.clicks(secret.original, "Share to channel")
    assert texts.NOT_SHARED in await house.answer(ada, pressed)
    assert told(house.all_read_by(bob)) == ""
    harmless = await bob.slash("ask", here=square, question=QUESTION, private=True)
    await house.answer(bob, harmless)
    assert harmless.original is not None
    assert texts.SHARED in await house.answer(bob, await bob.clicks(harmless.original, "Share to channel"))
    assert told(house.said(owner(discord, guild), square)) == "agate"


async def test_pictures_numbers_sources_and_suggestions_obey_it_too(house: House) -> None:
    discord = house.discord
    guild = discord.guild("Looking")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square, cellar = discord.channel(guild, "square"), discord.channel(guild, "cellar", only=[ada])
    await house.switched_on(square, cellar)
    await ada.says(square, "Barnaby Finch repairs the clock of Saltmarsh with Hendry Tools.")
    await ada.says(cellar, "Barnaby Finch meets Quillon Abernathy at Marrowgate Abbey about the coral.")
    await house.read_up()
    assert "Quillon Abernathy" in await ada.autocompletes("graph", "name", "Quil", here=square)
    assert await bob.autocompletes("graph", "name", "Quil", here=square) == []
    assert await bob.autocompletes("graph", "name", "Barn", here=square)
    assert "Marrowgate" in await house.calls(ada, square, "graph", name="Barnaby Finch")
    theirs = await house.calls(bob, square, "graph", name="Barnaby Finch")
    assert "Barnaby Finch" in theirs
    assert "Quillon" not in theirs
    assert "Marrowgate" not in theirs
    assert "Quillon" not in (await house.calls(bob, square, "graph", name="quillon abernathy"))
    assert "2 documents" in await house.calls(ada, square, "status")
    assert "1 document," in await house.calls(bob, square, "status")
    assert "coral" in await house.asks(ada, cellar, "Whom does Barnaby Finch meet about the coral?")
    assert "coral" in await house.calls(ada, cellar, "sources")
    await house.whispers(ada, square, "Whom does Barnaby Finch meet about the coral?")
    assert "coral" not in await house.calls(bob, square, "sources")
    assert "coral" not in await house.calls(bob, square, "missed", since="2h")
    assert "coral" not in house.all_read_by(bob)


async def test_what_was_answered_before_is_history_only_for_who_may_read_it(house: House) -> None:
    discord = house.discord
    guild = discord.guild("History")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square, cellar = discord.channel(guild, "square"), discord.channel(guild, "cellar", only=[ada])
    await house.safe({square: "agate", cellar: "beryl"})
    asked = await house.mentions(bob, square, QUESTION)
    await house.settled()
    assert asked.thread is not None
    thread = asked.thread
    assert told(await house.whispers(ada, thread, QUESTION)) == "agate beryl"
    await bob.says(thread, "And what else was said here about it?")
    await house.settled()
    assert told(house.said(bob, thread)) == "agate"


async def test_guilds_never_share(house: House) -> None:
    discord = house.discord
    north, south = discord.guild("Northern"), discord.guild("Southern")
    ada = discord.member(north, "Ada")
    there = discord.member(south, ada.user)
    square, cellar = discord.channel(north, "square"), discord.channel(north, "cellar", only=[ada])
    harbour = discord.channel(south, "harbour")
    await house.safe({square: "agate", cellar: "beryl", harbour: "coral"})
    assert told(await house.asks(ada, square, QUESTION)) == "agate"
    assert told(await house.whispers(ada, square, QUESTION)) == "agate beryl"
    assert told(await house.asks(there, harbour, QUESTION)) == "coral"
    assert told(await house.whispers(there, harbour, QUESTION)) == "coral"
    assert "1 document," in await house.calls(there, harbour, "status")
