"""What becomes known on Discord and what ceases to be: checks of acceptance 8, 9 and 11, files, and forgetting."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from bot import texts
from bot.ingest.sync import deletions
from engine.models import Scope
from tests.support.discord_server import File
from tests.support.town.discord_bot import DiscordBotFixture, guild_owner, open_discord_bot
from tests.support.verbatim_language import QUESTION, find_secrets

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.discord_server import Channel, Guild, Person

pytestmark = pytest.mark.asyncio(loop_scope="module")

LOGIN = b"<!DOCTYPE html><html><head><title>Log in</title></head><body>Log in: diamond</body></html>"
PAGES = File("manual.md", b"# The safe\n\nThe password of the safe is emerald.\n", "text/markdown")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[DiscordBotFixture]:
    async with open_discord_bot(tmp_path_factory.mktemp("house")) as lived_in:
        yield lived_in


async def build_guild(house: DiscordBotFixture, name: str) -> tuple[Guild, Person, Channel]:
    """A guild with somebody in it, and a channel that is read."""
    guild = house.discord.guild(name)
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    await house.enable_ingest(square)
    return guild, ada, square


async def list_titles(house: DiscordBotFixture, channel: Channel) -> list[str]:
    """What is known of a channel."""
    assert channel.guild is not None
    room = f"discord:{channel.guild.id}:{channel.id}"
    return [each.title for each in await house.engine.list_documents(Scope(frozenset(), frozenset({room})))]


async def test_8_secret_leaks_into_no_description_answer_or_follow_up(house: DiscordBotFixture) -> None:
    discord = house.discord
    guild = discord.guild("Secret")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square, cellar = discord.channel(guild, "square"), discord.channel(guild, "cellar", only=[ada])
    await house.enable_ingest(square, cellar)
    await bob.says(square, "Quillon Abernathy bakes the bread of Saltmarsh.")
    await ada.says(cellar, "Quillon Abernathy hides the beryl from Saltmarsh.")
    await house.close_conversations()
    question = "What does Quillon Abernathy do in Saltmarsh?"
    assert find_secrets(await house.ask_by_command(ada, cellar, question)) == "beryl"
    assert find_secrets(await house.ask_by_command(ada, square, question)) == ""
    asked = await house.post_mention(ada, square, question)
    await house.wait_until_idle()
    assert asked.thread is not None
    await ada.says(asked.thread, "And what does Quillon Abernathy hide?")
    await house.wait_until_idle()
    assert house.bot_text(bob, asked.thread).count("bread") >= 2
    assert find_secrets(house.all_bot_text(bob)) == ""
    assert find_secrets(await house.ask_privately(ada, square, question)) == "beryl"
    before = len(discord.sees(ada, discord.dm(ada)).posts)
    discord.removes(ada)
    await ada.dms(question)
    await house.wait_until_idle()
    assert find_secrets("\n".join(post.text for post in discord.sees(ada, discord.dm(ada)).posts[before:])) == ""


async def test_9_edited_message_is_answered_in_its_new_form(house: DiscordBotFixture) -> None:
    _, ada, square = await build_guild(house, "Edited")
    said = await ada.says(square, "The password of the safe is agate.")
    await house.wait_until_idle()
    assert find_secrets(await house.ask_by_command(ada, square, QUESTION)) == "agate"
    await ada.edits(said, "The password of the safe is beryl.")
    await house.wait_until_idle()
    assert find_secrets(await house.ask_by_command(ada, square, QUESTION)) == "beryl"


async def test_9_deleted_message_is_no_longer_used(house: DiscordBotFixture) -> None:
    _, ada, square = await build_guild(house, "Deleted")
    said = await ada.says(square, "The password of the safe is agate.")
    await ada.says(square, "The password of the gate is beryl.")
    await house.close_conversations()
    used = await ada.slash("ask", here=square, question=QUESTION)
    asked = await house.post_mention(ada, square, QUESTION)
    await house.wait_until_idle()
    assert "agate" in house.bot_text(ada, square)
    await ada.deletes(said)
    await house.wait_until_idle()
    assert find_secrets(await house.ask_by_command(ada, square, QUESTION)) == "beryl"
    assert used.original is not None
    await house.discord.wait_for(
        lambda: [post.text for post in house.answer_posts(ada, used)] == [texts.SOURCE_REMOVED]
    )
    assert asked.thread is not None
    follow_up = await ada.says(asked.thread, QUESTION)
    await house.wait_until_idle()
    posts = house.discord.sees(ada, asked.thread).posts
    assert find_secrets("\n".join(post.text for post in posts if int(post.message.id) > int(follow_up.id))) == "beryl"


async def test_9_bulk_deleted_messages_are_no_longer_used(house: DiscordBotFixture) -> None:
    guild, ada, square = await build_guild(house, "Purged")
    said = [await ada.says(square, f"The password of the safe is {word}.") for word in ("agate", "beryl", "coral")]
    await house.wait_until_idle()
    assert find_secrets(await house.ask_by_command(ada, square, QUESTION)) == "agate beryl coral"
    await guild_owner(house.discord, guild).purges(said[:2])
    await house.wait_until_idle()
    assert find_secrets(await house.ask_by_command(ada, square, QUESTION)) == "coral"


async def test_9_deleted_thread_and_channel_are_no_longer_used(house: DiscordBotFixture) -> None:
    guild, ada, square = await build_guild(house, "Gone")
    market = house.discord.channel(guild, "market")
    await house.enable_ingest(market)
    root = await ada.says(square, "Let us talk about the safe.")
    thread = await ada.opens_thread(root, "The safe")
    await ada.says(thread, "The password of the safe is agate.")
    await ada.says(market, "The password of the safe is beryl.")
    await ada.says(square, "The password of the safe is coral.")
    await house.wait_until_idle()
    assert find_secrets(await house.ask_by_command(ada, square, QUESTION)) == "agate beryl coral"
    house.discord.removes_channel(thread)
    await house.wait_until_idle()
    assert find_secrets(await house.ask_by_command(ada, square, QUESTION)) == "beryl coral"
    house.discord.removes_channel(market)
    await house.wait_until_idle()
    assert find_secrets(await house.ask_by_command(ada, square, QUESTION)) == "coral"


async def test_replied_to_message_is_context_until_deleted(house: DiscordBotFixture) -> None:
    guild, ada, square = await build_guild(house, "Replies")
    quiet = house.discord.channel(guild, "quiet")
    await ada.says(square, "The password of the gate is beryl.")
    said = await ada.says(quiet, "The password of the safe is agate.")
    await house.wait_until_idle()
    mention = house.discord.bot(guild).mention
    asked = await ada.says(quiet, f"{mention} what is the password?", reply_to=said)
    await house.wait_until_idle()
    assert asked.thread is not None
    assert find_secrets(house.bot_text(ada, asked.thread)) == "agate beryl"
    await ada.deletes(said)
    follow_up = await ada.says(asked.thread, "Which password was that?")
    await house.wait_until_idle()
    posts = house.discord.sees(ada, asked.thread).posts
    assert find_secrets("\n".join(post.text for post in posts if int(post.message.id) > int(follow_up.id))) == "beryl"


async def test_forum_posts_are_found_by_title_until_deleted(house: DiscordBotFixture) -> None:
    guild = house.discord.guild("Forum")
    ada = house.discord.member(guild, "Ada")
    forum = house.discord.channel(guild, "ideas", "forum")
    before = await ada.posts(forum, "The old safe", "The password of the safe is agate.")
    await house.run_command(guild_owner(house.discord, guild), before.channel, "settings", setting="ingest", value="on")
    await house.wait_for_backfill()
    fresh = await ada.posts(forum, "The new safe", "The password of the safe is beryl.")
    await house.wait_until_idle()
    answer = await house.ask_by_command(ada, before.channel, QUESTION)
    assert find_secrets(answer) == "agate beryl"
    assert "The new safe" in answer
    assert find_secrets(await house.ask_by_mention(ada, fresh.channel, QUESTION)) == "agate beryl"
    house.discord.removes_channel(fresh.channel)
    await house.wait_until_idle()
    assert find_secrets(await house.ask_by_command(ada, before.channel, QUESTION)) == "agate"


async def test_9_messages_deleted_during_downtime_are_no_longer_used(
    house: DiscordBotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletions, "MIN_AGE", timedelta(hours=-1))  # as if it were away for an hour
    _, ada, square = await build_guild(house, "Away")
    said = await ada.says(square, "The password of the safe is agate.")
    edited = await ada.says(square, "The password of the gate is beryl.")
    await house.wait_until_idle()
    await house.stop()
    await ada.deletes(said)
    await ada.edits(edited, "The password of the gate is coral.")
    await ada.says(square, "The password of the door is diamond.")
    await house.start()
    await house.wait_for_backfill()
    assert find_secrets(await house.ask_by_command(ada, square, QUESTION)) == "coral diamond"


@pytest.mark.parametrize("status", [200, 404])
async def test_11_a_page_in_place_of_a_file_is_not_indexed(house: DiscordBotFixture, status: int) -> None:
    _, ada, square = await build_guild(house, f"Login {status}")
    if status != 200:
        house.discord.fail_next("GET", "/attachments", status=status)
    dropped = await ada.says(square, "", files=[File("plan.pdf", LOGIN, "application/pdf")])
    await house.wait_until_idle()
    assert list(dropped.reactions) == ["⚠️"]
    assert "plan.pdf" in house.bot_text(ada, square)
    [below] = [post.message for post in house.discord.sees(ada, square).posts if post.bot and "plan.pdf" in post.text]
    assert below.replied is dropped
    assert await list_titles(house, square) == []
    assert find_secrets(await house.ask_by_command(ada, square, "What is the password?")) == ""


async def test_a_file_is_read_confirmed_and_gone_with_its_message(house: DiscordBotFixture) -> None:
    _, ada, square = await build_guild(house, "Files")
    dropped = await ada.says(square, "How to open it.", files=[PAGES])
    await house.wait_until_idle()
    assert list(dropped.reactions) == ["✅"]
    assert find_secrets(await house.ask_by_command(ada, square, QUESTION)) == "emerald"
    await ada.deletes(dropped)
    await house.wait_until_idle()
    assert find_secrets(await house.ask_by_command(ada, square, QUESTION)) == ""


async def test_learned_file_is_visible_to_channel_readers(house: DiscordBotFixture) -> None:
    discord = house.discord
    guild = discord.guild("Learned")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square, cellar = discord.channel(guild, "square"), discord.channel(guild, "cellar", only=[ada])
    await house.enable_ingest(square, cellar)
    assert "I've indexed" in await house.run_command(ada, cellar, "learn", file=PAGES)
    assert find_secrets(await house.ask_by_command(ada, cellar, QUESTION)) == "emerald"
    assert find_secrets(await house.ask_privately(bob, square, QUESTION)) == ""
    assert find_secrets(house.all_bot_text(bob)) == ""


async def test_message_is_indexed_by_its_menu(house: DiscordBotFixture) -> None:
    guild, ada, square = await build_guild(house, "Menu")
    quiet = house.discord.channel(guild, "quiet")
    dropped = await ada.says(quiet, "", files=[PAGES])
    await house.wait_until_idle()
    assert find_secrets(await house.ask_by_command(ada, square, QUESTION)) == ""
    used = await ada.context_menu("Add to knowledge", dropped)
    assert "I've indexed" in await house.answer_text(ada, used)
    assert find_secrets(await house.ask_by_command(ada, quiet, QUESTION)) == "emerald"
    said = await ada.says(square, "The gate is open.")
    await house.wait_until_idle()
    assert "already indexed that message" in await house.answer_text(
        ada, await ada.context_menu("Add to knowledge", said)
    )
    private = await ada.context_menu("Ask about this", said)
    assert "The gate is open" in await house.answer_text(ada, private)
    assert private.private


async def test_a_question_with_a_file_is_answered_from_it_first(house: DiscordBotFixture) -> None:
    _, ada, square = await build_guild(house, "Within")
    await ada.says(square, "The password of the safe is agate.")
    await house.wait_until_idle()
    assert find_secrets(await house.ask_by_command(ada, square, QUESTION, file=PAGES, private=True)) == "emerald"


async def test_forget_me_deletes_their_messages(house: DiscordBotFixture) -> None:
    guild, ada, square = await build_guild(house, "Forgotten")
    bob = house.discord.member(guild, "Bob")
    await ada.says(square, "The password of the safe is agate.")
    await bob.says(square, "The password of the safe is beryl.")
    await house.wait_until_idle()
    await house.run_command(ada, square, "forget-me")
    await ada.says(square, "The password of the safe is coral.")
    await house.wait_until_idle()
    assert find_secrets(await house.ask_by_command(bob, square, QUESTION)) == "beryl"


async def test_enabling_a_channel_backfills_only_that_channel(house: DiscordBotFixture) -> None:
    guild = house.discord.guild("Before")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    forum, quiet = house.discord.channel(guild, "ideas", "forum"), house.discord.channel(guild, "quiet")
    await ada.says(square, "The password of the safe is agate.")
    await ada.posts(forum, "The safe", "The password of the safe is beryl.")
    await ada.says(quiet, "The password of the safe is coral.")
    await house.enable_ingest(square)
    assert find_secrets(await house.ask_by_command(ada, square, QUESTION)) == "agate"
    [post] = [channel for channel in guild.channels.values() if channel.parent is forum]
    manager = guild_owner(house.discord, guild)
    await house.run_command(manager, post, "settings", setting="ingest", value="on")
    await house.wait_for_backfill()
    assert find_secrets(await house.ask_by_command(ada, square, QUESTION)) == "agate beryl"
