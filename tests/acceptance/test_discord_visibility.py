"""Nobody learns on Discord what they may not read: each row of who reads a reply, with secrets planted around it.

The language tells all that it is shown, so what is not told was never in its reach. People look at their screens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from bot import texts
from tests.support.discord_server import Permission
from tests.support.town.discord_bot import DiscordBotFixture, guild_owner, open_discord_bot
from tests.support.verbatim_language import QUESTION, find_secrets

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[DiscordBotFixture]:
    async with open_discord_bot(tmp_path_factory.mktemp("house")) as lived_in:
        yield lived_in


async def test_public_channel_answers_from_public_sources_only(house: DiscordBotFixture) -> None:
    discord = house.discord
    guild = discord.guild("Everyone")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square, market = discord.channel(guild, "square"), discord.channel(guild, "market")
    cellar = discord.channel(guild, "cellar", only=[ada])
    await house.post_passwords({square: "agate", market: "beryl", cellar: "coral"})
    assert find_secrets(await house.ask_by_command(bob, square, QUESTION)) == "agate beryl"
    assert find_secrets(await house.ask_by_command(ada, market, QUESTION)) == "agate beryl"
    assert find_secrets(await house.ask_by_mention(ada, square, QUESTION)) == "agate beryl"
    assert "coral" not in house.all_bot_text(bob)


async def test_role_channel_answers_from_itself_and_public(house: DiscordBotFixture) -> None:
    discord = house.discord
    guild = discord.guild("Roles")
    cooks, smiths = discord.role(guild, "cooks"), discord.role(guild, "smiths")
    ada, bob = discord.member(guild, "Ada", roles=[cooks, smiths]), discord.member(guild, "Bob", roles=[cooks])
    square = discord.channel(guild, "square")
    kitchen, forge = discord.channel(guild, "kitchen", only=[cooks]), discord.channel(guild, "forge", only=[smiths])
    await house.post_passwords({square: "agate", kitchen: "beryl", forge: "coral"})
    assert find_secrets(await house.ask_by_command(ada, kitchen, QUESTION)) == "agate beryl"
    assert find_secrets(await house.ask_by_mention(ada, forge, QUESTION)) == "agate coral"
    assert find_secrets(await house.ask_by_command(ada, square, QUESTION)) == "agate"
    assert find_secrets(house.all_bot_text(bob)) == "agate beryl"


async def test_member_channel_answers_from_itself_and_public(house: DiscordBotFixture) -> None:
    discord = house.discord
    guild = discord.guild("Members")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square = discord.channel(guild, "square")
    cellar, attic = discord.channel(guild, "cellar", only=[ada, bob]), discord.channel(guild, "attic", only=[ada])
    await house.post_passwords({square: "agate", cellar: "beryl", attic: "coral"})
    assert find_secrets(await house.ask_by_command(ada, cellar, QUESTION)) == "agate beryl"
    assert find_secrets(await house.ask_by_mention(ada, attic, QUESTION)) == "agate coral"
    assert find_secrets(house.all_bot_text(bob)) == "agate beryl"


@pytest.mark.parametrize("denied", [Permission.VIEW_CHANNEL, Permission.READ_MESSAGE_HISTORY])
async def test_channel_denied_to_one_member_is_not_public(house: DiscordBotFixture, denied: Permission) -> None:
    discord = house.discord
    guild = discord.guild("Denied")
    newcomers = discord.role(guild, "newcomers")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob", roles=[newcomers])
    cleo = discord.member(guild, "Cleo")
    square = discord.channel(guild, "square")
    lounge, porch = discord.channel(guild, "lounge"), discord.channel(guild, "porch")
    discord.overwrites(lounge, newcomers, deny=denied)
    discord.overwrites(porch, cleo, deny=denied)
    await house.post_passwords({square: "agate", lounge: "beryl", porch: "coral"})
    assert find_secrets(await house.ask_by_command(ada, square, QUESTION)) == "agate"
    assert find_secrets(await house.ask_by_command(ada, lounge, QUESTION)) == "agate beryl"
    assert find_secrets(await house.ask_privately(ada, square, QUESTION)) == "agate beryl coral"
    assert find_secrets(await house.ask_privately(bob, square, QUESTION)) == "agate coral"
    assert find_secrets(await house.ask_privately(cleo, square, QUESTION)) == "agate beryl"


async def test_age_restricted_sources_stay_in_such_channels(house: DiscordBotFixture) -> None:
    discord = house.discord
    guild = discord.guild("Adults")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square = discord.channel(guild, "square")
    tavern, casino = discord.channel(guild, "tavern", nsfw=True), discord.channel(guild, "casino", nsfw=True)
    backroom = discord.channel(guild, "backroom", nsfw=True, only=[ada])
    await house.post_passwords({square: "agate", tavern: "beryl", casino: "coral", backroom: "diamond"})
    assert find_secrets(await house.ask_by_command(ada, square, QUESTION)) == "agate"
    assert find_secrets(await house.ask_privately(ada, square, QUESTION)) == "agate"
    assert find_secrets(await house.ask_in_dm(ada, QUESTION)) == "agate"
    assert "beryl coral" in find_secrets(await house.ask_by_command(ada, tavern, QUESTION))
    assert find_secrets(await house.ask_privately(ada, tavern, QUESTION)) == "agate beryl coral diamond"
    assert "diamond" not in await house.ask_privately(bob, tavern, QUESTION)
    within = find_secrets(await house.ask_by_command(ada, backroom, QUESTION))
    assert "beryl coral diamond" in within
    assert "diamond" not in house.all_bot_text(bob)


async def test_private_thread_is_for_its_members(house: DiscordBotFixture) -> None:
    discord = house.discord
    guild = discord.guild("Threads")
    ada, bob, cleo = (discord.member(guild, name) for name in ("Ada", "Bob", "Cleo"))
    square = discord.channel(guild, "square")
    corner = await ada.opens_thread(square, "corner", private=True)
    await ada.adds(corner, bob, discord.bot(guild))
    await house.post_passwords({square: "agate", corner: "beryl"}, by=ada)
    assert find_secrets(await house.ask_by_command(ada, square, QUESTION)) == "agate"
    assert find_secrets(await house.ask_privately(cleo, square, QUESTION)) == "agate"
    assert find_secrets(await house.ask_privately(bob, square, QUESTION)) == "agate beryl"
    assert find_secrets(await house.ask_by_command(bob, corner, QUESTION)) == "agate beryl"
    await ada.removes_from_thread(corner, bob)
    assert find_secrets(await house.ask_privately(bob, square, QUESTION)) == "agate"
    assert "beryl" not in house.all_bot_text(cleo)


async def test_private_answer_uses_what_the_asker_can_read(house: DiscordBotFixture) -> None:
    discord = house.discord
    guild = discord.guild("Alone")
    cooks = discord.role(guild, "cooks")
    ada, bob = discord.member(guild, "Ada", roles=[cooks]), discord.member(guild, "Bob")
    square, kitchen = discord.channel(guild, "square"), discord.channel(guild, "kitchen", only=[cooks])
    attic = discord.channel(guild, "attic", only=[bob])
    await house.post_passwords({square: "agate", kitchen: "beryl", attic: "coral"})
    assert find_secrets(await house.ask_privately(ada, square, QUESTION)) == "agate beryl"
    assert find_secrets(await house.ask_privately(bob, square, QUESTION)) == "agate coral"
    assert find_secrets(house.bot_text(ada, square)) == "agate beryl"
    assert find_secrets(house.bot_text(bob, square)) == "agate coral"
    assert find_secrets(house.bot_text(guild_owner(discord, guild), square)) == ""


async def test_dm_answer_uses_all_common_guilds(house: DiscordBotFixture) -> None:
    discord = house.discord
    north, south = discord.guild("North"), discord.guild("South")
    ada, bob = discord.member(north, "Ada"), discord.member(north, "Bob")
    here = discord.member(south, ada.user)
    square, cellar = discord.channel(north, "square"), discord.channel(north, "cellar", only=[ada])
    harbour, vault = discord.channel(south, "harbour"), discord.channel(south, "vault", only=[here])
    office = discord.channel(south, "office", only=[])
    await house.post_passwords(
        {square: "agate", cellar: "beryl", harbour: "coral", vault: "diamond", office: "emerald"}
    )
    assert find_secrets(await house.ask_in_dm(ada, QUESTION)) == "agate beryl coral diamond"
    assert find_secrets(await house.ask_in_dm(bob, QUESTION)) == "agate"
    discord.removes(here)
    before = len(discord.sees(ada, discord.dm(ada)).posts)
    await house.ask_in_dm(ada, QUESTION)
    after = discord.sees(ada, discord.dm(ada)).posts[before:]
    assert find_secrets("\n".join(post.text for post in after)) == "agate beryl"


async def test_unreadable_sources_are_not_shared_to_a_channel(house: DiscordBotFixture) -> None:
    discord = house.discord
    guild = discord.guild("Sharing")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square, cellar = discord.channel(guild, "square"), discord.channel(guild, "cellar", only=[ada])
    await house.post_passwords({square: "agate", cellar: "beryl"})
    secret = await ada.slash("ask", here=square, question=QUESTION, private=True)
    assert find_secrets(await house.answer_text(ada, secret)) == "agate beryl"
    assert secret.original is not None
    pressed = await ada.clicks(secret.original, "Share to channel")
    assert texts.ANSWER_NOT_SHARED in await house.answer_text(ada, pressed)
    assert find_secrets(house.all_bot_text(bob)) == ""
    harmless = await bob.slash("ask", here=square, question=QUESTION, private=True)
    await house.answer_text(bob, harmless)
    assert harmless.original is not None
    assert texts.ANSWER_SHARED in await house.answer_text(bob, await bob.clicks(harmless.original, "Share to channel"))
    assert find_secrets(house.bot_text(guild_owner(discord, guild), square)) == "agate"


async def test_images_stats_sources_and_suggestions_obey_visibility(house: DiscordBotFixture) -> None:
    discord = house.discord
    guild = discord.guild("Looking")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square, cellar = discord.channel(guild, "square"), discord.channel(guild, "cellar", only=[ada])
    await house.enable_ingest(square, cellar)
    await ada.says(square, "Barnaby Finch repairs the clock of Saltmarsh with Hendry Tools.")
    await ada.says(cellar, "Barnaby Finch meets Quillon Abernathy at Marrowgate Abbey about the coral.")
    await house.close_conversations()
    assert "Quillon Abernathy" in await ada.autocompletes("graph", "name", "Quil", here=square)
    assert await bob.autocompletes("graph", "name", "Quil", here=square) == []
    assert await bob.autocompletes("graph", "name", "Barn", here=square)
    assert "Marrowgate" in await house.run_command(ada, square, "graph", name="Barnaby Finch")
    theirs = await house.run_command(bob, square, "graph", name="Barnaby Finch")
    assert "Barnaby Finch" in theirs
    assert "Quillon" not in theirs
    assert "Marrowgate" not in theirs
    assert "Quillon" not in (await house.run_command(bob, square, "graph", name="quillon abernathy"))
    assert "2 documents" in await house.run_command(ada, square, "status")
    assert "1 document," in await house.run_command(bob, square, "status")
    assert "coral" in await house.ask_by_command(ada, cellar, "Whom does Barnaby Finch meet about the coral?")
    assert "coral" in await house.run_command(ada, cellar, "sources")
    await house.ask_privately(ada, square, "Whom does Barnaby Finch meet about the coral?")
    assert "coral" not in await house.run_command(bob, square, "sources")
    assert "coral" not in await house.run_command(bob, square, "catch-up", since="2h")
    assert "coral" not in house.all_bot_text(bob)


async def test_earlier_answers_are_history_only_for_their_readers(house: DiscordBotFixture) -> None:
    discord = house.discord
    guild = discord.guild("History")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square, cellar = discord.channel(guild, "square"), discord.channel(guild, "cellar", only=[ada])
    await house.post_passwords({square: "agate", cellar: "beryl"})
    asked = await house.post_mention(bob, square, QUESTION)
    await house.wait_until_idle()
    assert asked.thread is not None
    thread = asked.thread
    assert find_secrets(await house.ask_privately(ada, thread, QUESTION)) == "agate beryl"
    await bob.says(thread, "And what else was said here about it?")
    await house.wait_until_idle()
    assert find_secrets(house.bot_text(bob, thread)) == "agate"


async def test_guilds_are_isolated(house: DiscordBotFixture) -> None:
    discord = house.discord
    north, south = discord.guild("Northern"), discord.guild("Southern")
    ada = discord.member(north, "Ada")
    there = discord.member(south, ada.user)
    square, cellar = discord.channel(north, "square"), discord.channel(north, "cellar", only=[ada])
    harbour = discord.channel(south, "harbour")
    await house.post_passwords({square: "agate", cellar: "beryl", harbour: "coral"})
    assert find_secrets(await house.ask_by_command(ada, square, QUESTION)) == "agate"
    assert find_secrets(await house.ask_privately(ada, square, QUESTION)) == "agate beryl"
    assert find_secrets(await house.ask_by_command(there, harbour, QUESTION)) == "coral"
    assert find_secrets(await house.ask_privately(there, harbour, QUESTION)) == "coral"
    assert "1 document," in await house.run_command(there, harbour, "status")
