"""What people on Discord see of the bot besides answers: below which message it speaks, and what a menu does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from bot import texts
from bot.commands.learn import ALREADY_INDEXED, MESSAGE_INDEXED
from tests.support.town.discord_bot import DiscordBotFixture, open_discord_bot
from tests.support.verbatim_language import QUESTION, find_secrets

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[DiscordBotFixture]:
    async with open_discord_bot(tmp_path_factory.mktemp("house")) as lived_in:
        yield lived_in


async def test_stop_in_a_thread_is_confirmed_there_and_obeyed(house: DiscordBotFixture) -> None:
    guild = house.discord.guild("Stop")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    await house.post_passwords({square: "agate"})
    asked = await house.post_mention(ada, square, QUESTION)
    await house.wait_until_idle()
    assert asked.thread is not None
    stop = await ada.says(asked.thread, "stop")
    await house.wait_until_idle()
    await ada.says(asked.thread, QUESTION)
    await house.wait_until_idle()
    [*_, last] = [post for post in house.discord.sees(ada, asked.thread).posts if post.bot]
    assert texts.THREAD_MUTED in last.text
    assert last.message.replied is stop
    assert house.bot_text(ada, house.discord.dm(ada)) == ""


async def test_help_replies_to_the_asking_message(house: DiscordBotFixture) -> None:
    guild = house.discord.guild("Help")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    asked = await house.post_mention(ada, square, "help")
    await house.wait_until_idle()
    [shown] = [post for post in house.discord.sees(ada, square).posts if post.message.replied is asked]
    assert "`/ask`" in shown.text
    assert house.bot_text(ada, house.discord.dm(ada)) == ""


async def test_old_message_added_by_its_menu_is_indexed(house: DiscordBotFixture) -> None:
    guild = house.discord.guild("Menu")
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    said = await ada.says(square, "The password of the safe is agate.")
    assert "`/settings setting:ingest value:on`" in await house.answer_text(
        ada, await ada.context_menu("Add to knowledge", said)
    )
    await house.enable_ingest(square)
    assert ALREADY_INDEXED in await house.answer_text(ada, await ada.context_menu("Add to knowledge", said))
    await house.run_command(ada, square, "forget-me")
    await house.run_command(ada, square, "remember-me")
    assert find_secrets(await house.ask_by_command(ada, square, QUESTION)) == ""
    assert MESSAGE_INDEXED in await house.answer_text(ada, await ada.context_menu("Add to knowledge", said))
    assert find_secrets(await house.ask_by_command(ada, square, f"Once more: {QUESTION}")) == "agate"
