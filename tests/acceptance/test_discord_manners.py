"""What people on Discord see of the bot besides answers: below which message it speaks, and what a menu does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from bot import texts
from bot.commands.learn import KNOWN, READ
from tests.support.gossip import QUESTION, told
from tests.support.town.discord import House, living

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with living(tmp_path_factory.mktemp("house")) as lived_in:
        yield lived_in


async def test_who_says_stop_in_a_thread_is_answered_in_the_thread_and_then_it_is_quiet(house: House) -> None:
    guild = house.discord.guild("Stop")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    await house.safe({square: "agate"})
    asked = await house.mentions(ada, square, QUESTION)
    await house.settled()
    assert asked.thread is not None
    stop = await ada.says(asked.thread, "stop")
    await house.settled()
    await ada.says(asked.thread, QUESTION)
    await house.settled()
    [*_, last] = [post for post in house.discord.sees(ada, asked.thread).posts if post.bot]
    assert texts.QUIET in last.text
    assert last.message.replied is stop
    assert house.said(ada, house.discord.dm(ada)) == ""


async def test_help_stands_below_the_message_that_asks_for_it(house: House) -> None:
    guild = house.discord.guild("Help")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    asked = await house.mentions(ada, square, "help")
    await house.settled()
    [shown] = [post for post in house.discord.sees(ada, square).posts if post.message.replied is asked]
    assert "`/ask`" in shown.text
    assert house.said(ada, house.discord.dm(ada)) == ""


async def test_the_words_of_an_old_message_are_known_once_it_was_added_by_its_menu(house: House) -> None:
    guild = house.discord.guild("Menu")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    said = await ada.says(square, "The password of the safe is agate.")
    assert "`/settings setting:ingest value:on`" in await house.answer(
        ada, await ada.context_menu("Add to knowledge", said)
    )
    await house.switched_on(square)
    assert KNOWN in await house.answer(ada, await ada.context_menu("Add to knowledge", said))
    await house.calls(ada, square, "forget-me")
    await house.calls(ada, square, "remember-me")
    assert told(await house.asks(ada, square, QUESTION)) == ""
    assert READ in await house.answer(ada, await ada.context_menu("Add to knowledge", said))
    assert told(await house.asks(ada, square, f"Once more: {QUESTION}")) == "agate"
