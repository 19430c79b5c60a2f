"""What people on Discord see of an answer once its source was edited or deleted, and once the answer was deleted."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from bot import texts
from tests.support.discord_server.permissions import Can
from tests.support.discord_server.scenario import BOT
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


async def corrected(house: House) -> None:
    """Until no correction is pending."""
    await house.settled()
    async with asyncio.timeout(PATIENCE):
        while await house.bot.store.corrections.next_due(("discord",)) is not None:  # noqa: ASYNC110 - nobody is told
            await asyncio.sleep(0.02)


def shown(house: House, person: Person, channel: Channel) -> list[str]:
    """What the bot says there now, but for its greeting."""
    posts = house.discord.sees(person, channel).posts
    return [
        post.text for post in posts if post.bot and "From now on I read" not in post.text and "Hello!" not in post.text
    ]


async def test_an_answer_to_a_mention_becomes_one_line(house: House) -> None:
    guild = house.discord.guild("Mention")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    await house.switched_on(square)
    said = await ada.says(square, "The password of the safe is agate.")
    await house.settled()
    house.script("in all its length", "It is agate [1]. ", "So it is said. " * 200).set()
    asked = await house.mentions(ada, square, f"{QUESTION} Tell it in all its length.")
    await house.settled()
    assert asked.thread is not None
    assert len(shown(house, ada, asked.thread)) > 1
    await ada.edits(said, "The password of the safe is not told here.")
    await corrected(house)
    assert shown(house, ada, asked.thread) == [texts.SOURCE_REMOVED]


async def test_so_does_one_in_an_archived_thread(house: House) -> None:
    guild = house.discord.guild("Archive")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    await house.switched_on(square)
    said = await ada.says(square, "The password of the safe is agate.")
    await house.settled()
    asked = await house.mentions(ada, square, QUESTION)
    await house.settled()
    assert asked.thread is not None
    house.discord.archives(asked.thread)
    await ada.deletes(said)
    await corrected(house)
    assert shown(house, ada, asked.thread) == [texts.SOURCE_REMOVED]
    assert asked.thread.thread is not None
    assert asked.thread.thread.archived


async def test_so_does_the_answer_to_a_command_after_a_restart(house: House) -> None:
    guild = house.discord.guild("Command")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    await house.switched_on(square)
    said = await ada.says(square, "The password of the safe is agate.")
    await house.settled()
    assert told(await house.asks(ada, square, QUESTION)) == "agate"
    await house.restart()
    await ada.deletes(said)
    await corrected(house)
    assert texts.SOURCE_REMOVED in house.said(ada, square)
    assert told(house.all_read_by(ada)) == ""


async def test_so_does_what_one_person_saw_alone_after_a_restart(house: House) -> None:
    guild = house.discord.guild("Private")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    await house.switched_on(square)
    said = await ada.says(square, "The password of the safe is agate.")
    await house.settled()
    house.script("in all its length", "It is agate [1]. ", "So it is said. " * 200).set()
    used = await ada.slash("ask", here=square, question=f"{QUESTION} Tell it in all its length.", private=True)
    assert told(await house.answer(ada, used)) == "agate"
    assert len(house.posts(ada, used)) > 1
    await house.restart()
    await ada.edits(said, "The password of the safe is not told here.")
    await corrected(house)
    assert [post.text for post in house.posts(ada, used)] == [texts.SOURCE_REMOVED]
    assert texts.SOURCE_REMOVED not in shown(house, house.discord.member(guild, "Bob"), square)


async def test_but_not_once_its_token_is_of_no_use(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    guild = house.discord.guild("Late")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    await house.switched_on(square)
    said = await ada.says(square, "The password of the safe is agate.")
    await house.settled()
    used = await ada.slash("ask", here=square, question=QUESTION, private=True)
    assert told(await house.answer(ada, used)) == "agate"
    late = time.time() + 15 * 60
    monkeypatch.setattr("adapters.discord.replies.interaction_responses.ByToken.__init__.__defaults__", (lambda: late,))
    await ada.deletes(said)
    await corrected(house)
    [post] = house.posts(ada, used)
    assert told(post.text) == "agate"


async def test_a_direct_message_is_corrected(house: House) -> None:
    guild = house.discord.guild("Direct")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    await house.switched_on(square)
    said = await ada.says(square, "The password of the safe is agate.")
    await house.settled()
    assert "agate" in await house.in_private(ada, QUESTION)
    await ada.deletes(said)
    await corrected(house)
    assert texts.SOURCE_REMOVED in await house.in_private(ada, "Thanks!")


@pytest.mark.parametrize("manages", [False, True])
@pytest.mark.parametrize("talk", [False, True])
async def test_a_deleted_answer_takes_its_empty_thread_with_it(house: House, *, talk: bool, manages: bool) -> None:
    guild = house.discord.guild(f"Delete {talk} {manages}", bot=BOT | Can.MANAGE_THREADS if manages else BOT)
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    await house.safe({square: "agate"})
    asked = await house.mentions(ada, square, QUESTION)
    await house.settled()
    assert asked.thread is not None
    if talk:
        await ada.says(asked.thread, "Interesting.")
        await house.settled()
    [answer] = [post for post in house.discord.sees(ada, asked.thread).posts if post.bot]
    await ada.clicks(answer.message, "Delete")
    await house.settled()
    assert asked.thread.deleted is (manages and not talk)
    assert asked.thread.thread is not None
    assert asked.thread.thread.archived is (not manages and not talk), "it is put away where it cannot be deleted"
    assert told(house.all_read_by(ada)) == ""
