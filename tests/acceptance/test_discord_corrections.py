"""What people on Discord see of an answer once its source was edited or deleted, and once the answer was deleted."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from bot import texts
from tests.support.discord_server.permissions import Permission
from tests.support.discord_server.scenario import BOT
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


async def wait_for_corrections(house: DiscordBotFixture) -> None:
    """Until no correction is pending."""
    await house.wait_until_idle()
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while await house.bot.store.answer_corrections.get_next_due(("discord",)) is not None:  # noqa: ASYNC110 - nobody is told
            await asyncio.sleep(0.02)


def bot_posts(house: DiscordBotFixture, person: Person, channel: Channel) -> list[str]:
    """What the bot says there now, but for its greeting."""
    posts = house.discord.sees(person, channel).posts
    return [
        post.text for post in posts if post.bot and "From now on I read" not in post.text and "Hello!" not in post.text
    ]


async def test_an_answer_to_a_mention_becomes_one_line(house: DiscordBotFixture) -> None:
    guild = house.discord.guild("Mention")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    await house.enable_ingest(square)
    said = await ada.says(square, "The password of the safe is agate.")
    await house.wait_until_idle()
    house.script_answer("in all its length", "It is agate [1]. ", "So it is said. " * 200).set()
    asked = await house.post_mention(ada, square, f"{QUESTION} Tell it in all its length.")
    await house.wait_until_idle()
    assert asked.thread is not None
    assert len(bot_posts(house, ada, asked.thread)) > 1
    await ada.edits(said, "The password of the safe is not told here.")
    await wait_for_corrections(house)
    assert bot_posts(house, ada, asked.thread) == [texts.SOURCE_REMOVED]


async def test_answer_in_an_archived_thread_becomes_one_line(house: DiscordBotFixture) -> None:
    guild = house.discord.guild("Archive")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    await house.enable_ingest(square)
    said = await ada.says(square, "The password of the safe is agate.")
    await house.wait_until_idle()
    asked = await house.post_mention(ada, square, QUESTION)
    await house.wait_until_idle()
    assert asked.thread is not None
    house.discord.archives(asked.thread)
    await ada.deletes(said)
    await wait_for_corrections(house)
    assert bot_posts(house, ada, asked.thread) == [texts.SOURCE_REMOVED]
    assert asked.thread.thread is not None
    assert asked.thread.thread.archived


async def test_command_answer_becomes_one_line_after_a_restart(house: DiscordBotFixture) -> None:
    guild = house.discord.guild("Command")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    await house.enable_ingest(square)
    said = await ada.says(square, "The password of the safe is agate.")
    await house.wait_until_idle()
    assert find_secrets(await house.ask_by_command(ada, square, QUESTION)) == "agate"
    await house.restart()
    await ada.deletes(said)
    await wait_for_corrections(house)
    assert texts.SOURCE_REMOVED in house.bot_text(ada, square)
    assert find_secrets(house.all_bot_text(ada)) == ""


async def test_private_answer_becomes_one_line_after_a_restart(house: DiscordBotFixture) -> None:
    guild = house.discord.guild("Private")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    await house.enable_ingest(square)
    said = await ada.says(square, "The password of the safe is agate.")
    await house.wait_until_idle()
    house.script_answer("in all its length", "It is agate [1]. ", "So it is said. " * 200).set()
    used = await ada.slash("ask", here=square, question=f"{QUESTION} Tell it in all its length.", private=True)
    assert find_secrets(await house.answer_text(ada, used)) == "agate"
    assert len(house.answer_posts(ada, used)) > 1
    await house.restart()
    await ada.edits(said, "The password of the safe is not told here.")
    await wait_for_corrections(house)
    assert [post.text for post in house.answer_posts(ada, used)] == [texts.SOURCE_REMOVED]
    assert texts.SOURCE_REMOVED not in bot_posts(house, house.discord.member(guild, "Bob"), square)


async def test_private_answer_stays_once_its_token_expired(
    house: DiscordBotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    guild = house.discord.guild("Late")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    await house.enable_ingest(square)
    said = await ada.says(square, "The password of the safe is agate.")
    await house.wait_until_idle()
    used = await ada.slash("ask", here=square, question=QUESTION, private=True)
    assert find_secrets(await house.answer_text(ada, used)) == "agate"
    late = time.time() + 15 * 60
    monkeypatch.setattr(
        "adapters.discord.replies.interaction_responses.InteractionSink.__init__.__defaults__", (lambda: late,)
    )
    await ada.deletes(said)
    await wait_for_corrections(house)
    [post] = house.answer_posts(ada, used)
    assert find_secrets(post.text) == "agate"


async def test_a_direct_message_is_corrected(house: DiscordBotFixture) -> None:
    guild = house.discord.guild("Direct")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    await house.enable_ingest(square)
    said = await ada.says(square, "The password of the safe is agate.")
    await house.wait_until_idle()
    assert "agate" in await house.ask_in_dm(ada, QUESTION)
    await ada.deletes(said)
    await wait_for_corrections(house)
    assert texts.SOURCE_REMOVED in await house.ask_in_dm(ada, "Thanks!")


@pytest.mark.parametrize("manages", [False, True])
@pytest.mark.parametrize("talk", [False, True])
async def test_a_deleted_answer_takes_its_empty_thread_with_it(
    house: DiscordBotFixture, *, talk: bool, manages: bool
) -> None:
    guild = house.discord.guild(f"Delete {talk} {manages}", bot=BOT | Permission.MANAGE_THREADS if manages else BOT)
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    await house.post_passwords({square: "agate"})
    asked = await house.post_mention(ada, square, QUESTION)
    await house.wait_until_idle()
    assert asked.thread is not None
    if talk:
        await ada.says(asked.thread, "Interesting.")
        await house.wait_until_idle()
    [answer] = [post for post in house.discord.sees(ada, asked.thread).posts if post.bot]
    await ada.clicks(answer.message, "Delete")
    await house.wait_until_idle()
    assert asked.thread.deleted is (manages and not talk)
    assert asked.thread.thread is not None
    assert asked.thread.thread.archived is (not manages and not talk), "it is put away where it cannot be deleted"
    assert find_secrets(house.all_bot_text(ada)) == ""
