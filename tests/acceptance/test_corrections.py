"""What people see of an answer once its source was edited or deleted, and once the answer was deleted."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.discord.replies.refs import TOKEN_LIFETIME
from bot import texts
from bot.texts import review as review_texts
from tests.support.discord_server import Permission
from tests.support.discord_server.scenario import BOT
from tests.support.town.discord import DiscordTown
from tests.support.town.live_bot import LiveBot
from tests.support.town.protocol import Asked, Way
from tests.support.town.slack import SlackTown
from tests.support.verbatim_language import QUESTION, find_secrets

pytestmark = pytest.mark.asyncio(loop_scope="module")
SLACK, DISCORD = pytest.mark.platforms("slack"), pytest.mark.platforms("discord")


async def ask_at_length(live: LiveBot[Any], way: Way = "mention") -> tuple[Any, Asked]:
    """A message, and a question whose answer rests on it and takes several messages."""
    live.town.add_channel("square", "ada bob")
    said = (await live.post_passwords(square="agate"))["square"]
    live.script_answer("safe", "It is agate [1]. ", "So it is written. " * 800).set()
    asked: Asked = await live.town.ask("ada", "square", way=way)
    assert len(await live.posts(asked)) > 1
    return said, asked


def bodies(live: LiveBot[Any], asked: Asked) -> list[str]:
    return [post.body.strip() for post in live.town.posts(asked)]


@pytest.mark.long
async def test_a_long_answer_becomes_one_line(live: LiveBot[Any]) -> None:
    said, asked = await ask_at_length(live)
    await live.town.delete(said)
    await live.wait_for_corrections()
    assert bodies(live, asked) == [texts.SOURCE_REMOVED]
    assert not live.town.posts(asked)[0].buttons
    assert find_secrets(live.town.bot_text("ada")) == ""


@pytest.mark.long
@SLACK
async def test_a_long_answer_that_was_not_streamed_becomes_one_line(live: LiveBot[SlackTown]) -> None:
    live.town.slack.fail_next("chat.startStream", "team_not_allowed", times=99)
    said, asked = await ask_at_length(live)
    await live.town.delete(said)
    await live.wait_for_corrections()
    assert bodies(live, asked) == [texts.SOURCE_REMOVED]


@pytest.mark.long
@DISCORD
@pytest.mark.parametrize("way", ["command", "private"])
async def test_an_answer_of_a_former_run_becomes_one_line(live: LiveBot[DiscordTown], way: Way) -> None:
    said, asked = await ask_at_length(live, way)
    await live.restart()
    await live.town.edit(said, "It is not written here.")
    await live.wait_for_corrections()
    assert bodies(live, asked) == [texts.SOURCE_REMOVED]
    assert (texts.SOURCE_REMOVED in live.town.bot_text("bob")) is (way == "command")


@pytest.mark.long
@DISCORD
async def test_answer_in_an_archived_thread_becomes_one_line(live: LiveBot[DiscordTown]) -> None:
    said, asked = await ask_at_length(live)
    thread = asked.handle.thread
    live.town.discord.archives(thread)
    await live.town.delete(said)
    await live.wait_for_corrections()
    assert bodies(live, asked) == [texts.SOURCE_REMOVED]
    assert thread.thread.archived


@DISCORD
async def test_private_answer_stays_once_its_token_expired(live: LiveBot[DiscordTown]) -> None:
    live.town.add_channel("square")
    said = (await live.post_passwords(square="agate"))["square"]
    asked = await live.town.ask("ada", "square", way="private")
    assert find_secrets(await live.answer(asked)) == "agate"
    live.town.clock.advance(TOKEN_LIFETIME + 60)
    await live.town.delete(said)
    await live.wait_for_corrections()
    assert find_secrets(live.text(asked)) == "agate"


@pytest.mark.long
@DISCORD
async def test_answer_that_a_moderator_deleted_is_not_posted_again(live: LiveBot[DiscordTown]) -> None:
    live.town.add_channel("square")
    said = (await live.post_passwords(square="agate"))["square"]
    asked = await live.town.ask("ada", "square")
    [answer] = await live.posts(asked)
    await live.town.owner.deletes(answer.handle.message)
    await live.town.delete(said)
    await live.wait_for_corrections()
    assert live.town.posts(asked) == []


@pytest.mark.long
async def test_a_direct_message_is_corrected(live: LiveBot[Any]) -> None:
    live.town.add_channel("square", "ada")
    said = (await live.post_passwords(square="agate"))["square"]
    asked = await live.town.ask("ada")
    assert find_secrets(await live.answer(asked)) == "agate"
    await live.town.delete(said)
    await live.wait_for_corrections()
    assert bodies(live, asked) == [texts.SOURCE_REMOVED]


@pytest.mark.long
async def test_a_deleted_answer_is_gone_with_all_its_parts(live: LiveBot[Any]) -> None:
    _, asked = await ask_at_length(live)
    await live.improve("ada", live.town.posts(asked)[-1], "Delete")
    assert find_secrets(live.town.bot_text("ada")) == ""
    assert [post for post in live.town.posts(asked) if review_texts.IMPROVE_CHOICE not in post.text] == []


@pytest.mark.share(4)
@DISCORD
@pytest.mark.parametrize("manages", [False, True])
@pytest.mark.parametrize("talk", [False, True])
async def test_a_deleted_answer_takes_its_empty_thread_with_it(
    live: LiveBot[DiscordTown], *, talk: bool, manages: bool
) -> None:
    town = live.town
    town.begin_guild("Delete", powers=BOT | Permission.MANAGE_THREADS if manages else BOT)
    town.add_channel("square")
    await live.post_passwords(square="agate")
    asked = await town.ask("ada", "square", QUESTION)
    [answer] = await live.posts(asked)
    thread = asked.handle.thread
    if talk:
        await town.person("ada").says(thread, "Interesting.")
        await live.wait_until_idle()
    await live.improve("ada", answer, "Delete")
    assert thread.deleted is (manages and not talk)
    assert thread.thread.archived is (not manages and not talk), "archived where it cannot be deleted"
    assert find_secrets(town.bot_text("ada")) == ""
