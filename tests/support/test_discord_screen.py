"""Who is really pinged, and what people see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import discord
import pytest

from tests.support.discord_server import FakeDiscord, Permission
from tests.support.discord_server.api_caller import open_caller
from tests.support.discord_server.people import ActionUnavailable
from tests.support.discord_server.recording_client import open_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def fake() -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as fake:
        fake.rates.rules.clear()
        yield fake


async def test_pings_go_out_unless_they_are_not_allowed(fake: FakeDiscord) -> None:
    club = fake.guild("Maker Club", bot=Permission.ADMINISTRATOR)
    shop = fake.channel(club, "workshop")
    crew = fake.role(club, "Crew")
    ada, bob = fake.member(club, "Ada"), fake.member(club, "Bob", roles=[crew])
    board = fake.channel(club, "board", only=[ada])
    async with open_caller(fake) as call:

        async def pinged(text: str, allowed: Any = None, channel: str = shop.id, reply: Any = None) -> set[str]:
            fake.world.pings.clear()
            body = {"content": text, "allowed_mentions": allowed, "message_reference": reply}
            await call("POST", f"/channels/{channel}/messages", body)
            assert call.status == 200
            return {fake.world.users[user].name for ping in fake.pings for user in ping.users}

        assert await pinged(f"{ada.mention} and <@&{crew.id}>") == {"Ada", "Bob"}
        assert await pinged("@everyone") == {"Ada", "Bob", "Maker Club owner"}
        assert await pinged(f"@everyone {ada.mention} <@&{crew.id}>", {"parse": []}) == set()
        assert await pinged(f"{ada.mention} {bob.mention}", {"parse": [], "users": [bob.id]}) == {"Bob"}
        assert await pinged(f"`{ada.mention}` ```@everyone```") == set()
        assert await pinged(f"{bob.mention}", channel=board.id) == set()
        theirs = await ada.says(shop, "hello")
        reply = {"message_id": theirs.id}
        assert await pinged("hello", reply=reply) == {"Ada"}
        assert await pinged("hello", {"parse": []}, reply=reply) == set()
        assert await pinged("hello", {"parse": [], "replied_user": True}, reply=reply) == {"Ada"}


async def test_everyone_mention_without_permission_pings_nobody(fake: FakeDiscord) -> None:
    club = fake.guild("Maker Club")
    shop, ada = fake.channel(club, "workshop"), fake.member(club, "Ada")
    fake.overwrites(shop, club.roles[club.id], deny=Permission.MENTION_EVERYONE)
    message = await ada.says(shop, "@everyone look")
    assert not message.mention_everyone
    assert fake.world.pings == []


async def test_a_screen_shows_names_replies_embeds_buttons_reactions_and_threads(fake: FakeDiscord) -> None:
    club = fake.guild("Maker Club")
    shop, ada = fake.channel(club, "workshop"), fake.member(club, "Ada")
    async with open_client(fake) as client:
        await ada.says(shop, f"{fake.bot(club).mention} what of <#{shop.id}>?")
        (message,) = await client.wait_for_event("message")
        embed = discord.Embed(title="Sources", description="1. [the plan](https://discord.com/x)")
        view = discord.ui.View(timeout=None)
        view.add_item(discord.ui.Button(label="Sources", emoji="🔎", custom_id="s"))
        await message.reply("All is well", embed=embed, view=view, allowed_mentions=discord.AllowedMentions.none())
        await message.add_reaction("✅")
        await message.create_thread(name="What of it")
    shown = str(fake.sees(ada, shop))
    assert shown.startswith("#workshop\nAda: @Threadlore what of #workshop?\n    ✅ 1\n    └ thread: What of it\n")
    assert "  ↱ Ada: @Threadlore what of #workshop?\nThreadlore [APP]: All is well" in shown
    assert "    ┃ Sources\n    ┃ 1. [the plan](https://discord.com/x)\n    [🔎 Sources]" in shown
    assert fake.pings == []


async def test_people_cannot_do_what_the_platform_would_not_let_them(fake: FakeDiscord) -> None:
    club = fake.guild("Maker Club")
    ada, bob = fake.member(club, "Ada"), fake.member(club, "Bob")
    board = fake.channel(club, "board", only=[ada])
    secret = await ada.says(board, "the budget is 900")
    assert fake.sees(bob, board).hidden
    with pytest.raises(ActionUnavailable):
        await bob.says(board, "hello")
    with pytest.raises(ActionUnavailable):
        await bob.edits(secret, "changed")
    with pytest.raises(ActionUnavailable):
        await bob.deletes(secret)
    with pytest.raises(ActionUnavailable):
        await ada.slash("ask", here=board, question="why?")


async def test_without_history_nothing_of_the_past_is_seen(fake: FakeDiscord) -> None:
    club = fake.guild("Maker Club")
    shop, ada = fake.channel(club, "workshop"), fake.member(club, "Ada")
    await ada.says(shop, "hello")
    fake.overwrites(shop, ada, deny=Permission.READ_MESSAGE_HISTORY)
    assert fake.sees(ada, shop).posts == ()


async def test_integrations_post_without_being_members(fake: FakeDiscord) -> None:
    club = fake.guild("Maker Club")
    shop = fake.channel(club, "workshop")
    async with open_client(fake) as client:
        fake.webhook_says(shop, "Build", "green")
        (message,) = await client.wait_for_event("message")
        assert message.webhook_id == message.author.id
        assert message.author.bot


async def test_the_text_of_a_voice_channel_is_for_those_who_may_connect(fake: FakeDiscord) -> None:
    club = fake.guild("Maker Club")
    call, ada = fake.channel(club, "call", "voice"), fake.member(club, "Ada")
    await ada.says(call, "hello")
    fake.overwrites(call, ada, deny=Permission.CONNECT)
    assert fake.sees(ada, call).posts == ()
