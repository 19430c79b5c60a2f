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
from tests.support.gossip import QUESTION, told
from tests.support.town.discord import House, living, owner

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.discord_server import Channel, Guild, Person

pytestmark = pytest.mark.asyncio(loop_scope="module")

LOGIN = b"<!DOCTYPE html><html><head><title>Log in</title></head><body>Log in: diamond</body></html>"
PAGES = File("manual.md", b"# The safe\n\nThe password of the safe is emerald.\n", "text/markdown")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with living(tmp_path_factory.mktemp("house")) as lived_in:
        yield lived_in


async def village(house: House, name: str) -> tuple[Guild, Person, Channel]:
    """A guild with somebody in it, and a channel that is read."""
    guild = house.discord.guild(name)
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    await house.switched_on(square)
    return guild, ada, square


async def titles(house: House, channel: Channel) -> list[str]:
    """What is known of a channel."""
    assert channel.guild is not None
    room = f"discord:{channel.guild.id}:{channel.id}"
    return [each.title for each in await house.engine.documents(Scope(frozenset(), frozenset({room})))]


async def test_8_a_secret_is_in_no_description_no_second_answer_and_no_follow_up(house: House) -> None:
    discord = house.discord
    guild = discord.guild("Secret")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square, cellar = discord.channel(guild, "square"), discord.channel(guild, "cellar", only=[ada])
    await house.switched_on(square, cellar)
    await bob.says(square, "Quillon Abernathy bakes the bread of Saltmarsh.")
    await ada.says(cellar, "Quillon Abernathy hides the beryl from Saltmarsh.")
    await house.read_up()
    question = "What does Quillon Abernathy do in Saltmarsh?"
    assert told(await house.asks(ada, cellar, question)) == "beryl"
    assert told(await house.asks(ada, square, question)) == ""
    asked = await house.mentions(ada, square, question)
    await house.settled()
    assert asked.thread is not None
    await ada.says(asked.thread, "And what does Quillon Abernathy hide?")
    await house.settled()
    assert house.said(bob, asked.thread).count("bread") >= 2
    assert told(house.all_read_by(bob)) == ""
    assert told(await house.whispers(ada, square, question)) == "beryl"
    before = len(discord.sees(ada, discord.dm(ada)).posts)
    discord.removes(ada)
    await ada.dms(question)
    await house.settled()
    assert told("\n".join(post.text for post in discord.sees(ada, discord.dm(ada)).posts[before:])) == ""


async def test_9_an_edited_message_is_known_as_it_is_now(house: House) -> None:
    _, ada, square = await village(house, "Edited")
    said = await ada.says(square, "The password of the safe is agate.")
    await house.settled()
    assert told(await house.asks(ada, square, QUESTION)) == "agate"
    await ada.edits(said, "The password of the safe is beryl.")
    await house.settled()
    assert told(await house.asks(ada, square, QUESTION)) == "beryl"


async def test_9_a_deleted_message_is_answered_from_no_more(house: House) -> None:
    _, ada, square = await village(house, "Deleted")
    said = await ada.says(square, "The password of the safe is agate.")
    await ada.says(square, "The password of the gate is beryl.")
    await house.read_up()
    used = await ada.slash("ask", here=square, question=QUESTION)
    asked = await house.mentions(ada, square, QUESTION)
    await house.settled()
    assert "agate" in house.said(ada, square)
    await ada.deletes(said)
    await house.settled()
    assert told(await house.asks(ada, square, QUESTION)) == "beryl"
    assert used.original is not None
    await house.discord.until(lambda: [post.text for post in house.posts(ada, used)] == [texts.SOURCE_REMOVED])
    assert asked.thread is not None
    follow_up = await ada.says(asked.thread, QUESTION)
    await house.settled()
    posts = house.discord.sees(ada, asked.thread).posts
    assert told("\n".join(post.text for post in posts if int(post.message.id) > int(follow_up.id))) == "beryl"


async def test_9_messages_deleted_all_at_once_are_answered_from_no_more(house: House) -> None:
    guild, ada, square = await village(house, "Purged")
    said = [await ada.says(square, f"The password of the safe is {word}.") for word in ("agate", "beryl", "coral")]
    await house.settled()
    assert told(await house.asks(ada, square, QUESTION)) == "agate beryl coral"
    await owner(house.discord, guild).purges(said[:2])
    await house.settled()
    assert told(await house.asks(ada, square, QUESTION)) == "coral"


async def test_9_a_deleted_thread_and_a_deleted_channel_are_answered_from_no_more(house: House) -> None:
    guild, ada, square = await village(house, "Gone")
    market = house.discord.channel(guild, "market")
    await house.switched_on(market)
    root = await ada.says(square, "Let us talk about the safe.")
    thread = await ada.opens_thread(root, "The safe")
    await ada.says(thread, "The password of the safe is agate.")
    await ada.says(market, "The password of the safe is beryl.")
    await ada.says(square, "The password of the safe is coral.")
    await house.settled()
    assert told(await house.asks(ada, square, QUESTION)) == "agate beryl coral"
    house.discord.removes_channel(thread)
    await house.settled()
    assert told(await house.asks(ada, square, QUESTION)) == "beryl coral"
    house.discord.removes_channel(market)
    await house.settled()
    assert told(await house.asks(ada, square, QUESTION)) == "coral"


async def test_what_a_question_replies_to_is_told_until_it_is_deleted(house: House) -> None:
    guild, ada, square = await village(house, "Replies")
    quiet = house.discord.channel(guild, "quiet")
    await ada.says(square, "The password of the gate is beryl.")
    said = await ada.says(quiet, "The password of the safe is agate.")
    await house.settled()
    mention = house.discord.bot(guild).mention
    asked = await ada.says(quiet, f"{mention} what is the password?", reply_to=said)
    await house.settled()
    assert asked.thread is not None
    assert told(house.said(ada, asked.thread)) == "agate beryl"
    await ada.deletes(said)
    follow_up = await ada.says(asked.thread, "Which password was that?")
    await house.settled()
    posts = house.discord.sees(ada, asked.thread).posts
    assert told("\n".join(post.text for post in posts if int(post.message.id) > int(follow_up.id))) == "beryl"


async def test_posts_of_a_forum_are_known_by_their_titles_until_they_are_deleted(house: House) -> None:
    guild = house.discord.guild("Forum")
    ada = house.discord.member(guild, "Ada")
    forum = house.discord.channel(guild, "ideas", "forum")
    before = await ada.posts(forum, "The old safe", "The password of the safe is agate.")
    await house.calls(owner(house.discord, guild), before.channel, "settings", setting="ingest", value="on")
    await house.caught_up()
    fresh = await ada.posts(forum, "The new safe", "The password of the safe is beryl.")
    await house.settled()
    answer = await house.asks(ada, before.channel, QUESTION)
    assert told(answer) == "agate beryl"
    assert "The new safe" in answer
    assert told(await house.answered(ada, fresh.channel, QUESTION)) == "agate beryl"
    house.discord.removes_channel(fresh.channel)
    await house.settled()
    assert told(await house.asks(ada, before.channel, QUESTION)) == "agate"


async def test_9_what_was_deleted_while_the_bot_was_away_is_answered_from_no_more(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletions, "YOUNG", timedelta(hours=-1))  # as if it were away for an hour
    _, ada, square = await village(house, "Away")
    said = await ada.says(square, "The password of the safe is agate.")
    edited = await ada.says(square, "The password of the gate is beryl.")
    await house.settled()
    await house.end()
    await ada.deletes(said)
    await ada.edits(edited, "The password of the gate is coral.")
    await ada.says(square, "The password of the door is diamond.")
    await house.start()
    await house.caught_up()
    assert told(await house.asks(ada, square, QUESTION)) == "coral diamond"


@pytest.mark.parametrize("status", [200, 404])
async def test_11_a_page_in_place_of_a_file_is_not_indexed(house: House, status: int) -> None:
    _, ada, square = await village(house, f"Login {status}")
    if status != 200:
        house.discord.fails("GET", "/attachments", status=status)
    dropped = await ada.says(square, "", files=[File("plan.pdf", LOGIN, "application/pdf")])
    await house.settled()
    assert list(dropped.reactions) == ["⚠️"]
    assert "plan.pdf" in house.said(ada, square)
    [below] = [post.message for post in house.discord.sees(ada, square).posts if post.bot and "plan.pdf" in post.text]
    assert below.replied is dropped
    assert await titles(house, square) == []
    assert told(await house.asks(ada, square, "What is the password?")) == ""


async def test_a_file_is_read_confirmed_and_gone_with_its_message(house: House) -> None:
    _, ada, square = await village(house, "Files")
    dropped = await ada.says(square, "How to open it.", files=[PAGES])
    await house.settled()
    assert list(dropped.reactions) == ["✅"]
    assert told(await house.asks(ada, square, QUESTION)) == "emerald"
    await ada.deletes(dropped)
    await house.settled()
    assert told(await house.asks(ada, square, QUESTION)) == ""


async def test_a_file_that_is_learned_is_known_to_who_reads_the_channel(house: House) -> None:
    discord = house.discord
    guild = discord.guild("Learned")
    ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob")
    square, cellar = discord.channel(guild, "square"), discord.channel(guild, "cellar", only=[ada])
    await house.switched_on(square, cellar)
    assert "I have read" in await house.calls(ada, cellar, "learn", file=PAGES)
    assert told(await house.asks(ada, cellar, QUESTION)) == "emerald"
    assert told(await house.whispers(bob, square, QUESTION)) == ""
    assert told(house.all_read_by(bob)) == ""


async def test_a_message_is_added_to_what_is_known_by_its_menu(house: House) -> None:
    guild, ada, square = await village(house, "Menu")
    quiet = house.discord.channel(guild, "quiet")
    dropped = await ada.says(quiet, "", files=[PAGES])
    await house.settled()
    assert told(await house.asks(ada, square, QUESTION)) == ""
    used = await ada.context_menu("Add to knowledge", dropped)
    assert "I have read" in await house.answer(ada, used)
    assert told(await house.asks(ada, quiet, QUESTION)) == "emerald"
    said = await ada.says(square, "The gate is open.")
    await house.settled()
    assert "know that message" in await house.answer(ada, await ada.context_menu("Add to knowledge", said))
    private = await ada.context_menu("Ask about this", said)
    assert "The gate is open" in await house.answer(ada, private)
    assert private.private


async def test_a_question_with_a_file_is_answered_from_it_first(house: House) -> None:
    _, ada, square = await village(house, "Within")
    await ada.says(square, "The password of the safe is agate.")
    await house.settled()
    assert told(await house.asks(ada, square, QUESTION, file=PAGES, private=True)) == "emerald"


async def test_who_wants_to_be_forgotten_is(house: House) -> None:
    guild, ada, square = await village(house, "Forgotten")
    bob = house.discord.member(guild, "Bob")
    await ada.says(square, "The password of the safe is agate.")
    await bob.says(square, "The password of the safe is beryl.")
    await house.settled()
    await house.calls(ada, square, "forget-me")
    await ada.says(square, "The password of the safe is coral.")
    await house.settled()
    assert told(await house.asks(bob, square, QUESTION)) == "beryl"


async def test_what_was_said_before_is_read_when_a_channel_is_switched_on_and_nothing_elsewhere(house: House) -> None:
    guild = house.discord.guild("Before")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    forum, quiet = house.discord.channel(guild, "ideas", "forum"), house.discord.channel(guild, "quiet")
    await ada.says(square, "The password of the safe is agate.")
    await ada.posts(forum, "The safe", "The password of the safe is beryl.")
    await ada.says(quiet, "The password of the safe is coral.")
    await house.switched_on(square)
    assert told(await house.asks(ada, square, QUESTION)) == "agate"
    [post] = [channel for channel in guild.channels.values() if channel.parent is forum]
    manager = owner(house.discord, guild)
    await house.calls(manager, post, "settings", setting="ingest", value="on")
    await house.caught_up()
    assert told(await house.asks(ada, square, QUESTION)) == "agate beryl"
