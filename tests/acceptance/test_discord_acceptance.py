"""What must hold for answers on Discord, numbered as the checks of acceptance are: heard once, written whole and once.

The others (8, 9, 11) are in test_discord_knowledge.py; (14) is the day in tests/support/test_discord_day.py.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from bot import texts
from tests.support.discord_server import Permission
from tests.support.discord_server.actions import emit_message_update
from tests.support.town.discord_bot import DiscordBotFixture, open_discord_bot
from tests.support.verbatim_language import QUESTION, find_secrets

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.discord_server import Channel, Guild, Message, Person, Post

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOKEN_ROUTE = "/webhooks/{app}/{token}/messages/{message}"
CHANNEL_ROUTE = "/channels/{channel}/messages/{message}"
TOKEN_LIFE = 15 * 60.0


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[DiscordBotFixture]:
    async with open_discord_bot(tmp_path_factory.mktemp("house")) as lived_in:
        yield lived_in


async def build_guild(house: DiscordBotFixture, name: str) -> tuple[Guild, Person, Channel]:
    """A guild with somebody in it, and a channel in which something was said."""
    guild = house.discord.guild(name)
    ada, square = house.discord.member(guild, "Ada"), house.discord.channel(guild, "square")
    await house.post_passwords({square: "agate"})
    return guild, ada, square


def answer_posts(house: DiscordBotFixture, person: Person, asked: Message) -> list[Post]:
    """What stands in the thread of a question, by the bot."""
    assert asked.thread is not None
    return [post for post in house.discord.sees(person, asked.thread).posts if post.bot]


async def test_1_repeated_event_is_answered_once(house: DiscordBotFixture) -> None:
    _, ada, square = await build_guild(house, "Twice")
    asked = await house.post_mention(ada, square, f"Once: {QUESTION}")
    used = await ada.slash("ask", here=square, question=f"Once more: {QUESTION}")
    await house.wait_until_idle()
    redeliver(house, "MESSAGE_CREATE", asked.id)
    redeliver(house, "INTERACTION_CREATE", used.id)
    await house.wait_until_idle()
    house.discord.gateway.reconnect()
    await house.discord.wait_for(lambda: house.discord.gateway.resumes)
    await house.wait_until_idle()
    house.discord.gateway.invalidate()
    await house.discord.wait_for(lambda: house.discord.gateway.identifies > 1)
    await house.wait_until_idle()
    assert [find_secrets(post.text) for post in answer_posts(house, ada, asked)] == ["agate"]
    assert [find_secrets(post.text) for post in house.answer_posts(ada, used)] == ["agate"]
    assert len([each for each in house.language.questions if "Once" in each]) == 2


def redeliver(house: DiscordBotFixture, name: str, ident: str) -> None:
    """The platform tells of something once more."""
    for session in house.discord.gateway.sessions.all.values():
        for data in [frame["d"] for _, frame in session.sent if frame["t"] == name and frame["d"]["id"] == ident]:
            session.dispatch(name, data)


async def test_1_what_was_asked_while_the_connection_was_lost_is_answered_once(house: DiscordBotFixture) -> None:
    _, ada, square = await build_guild(house, "Lost")
    house.discord.gateway.disconnect()
    await house.discord.wait_for(lambda: not house.discord.gateway.connected)
    asked = await house.post_mention(ada, square, QUESTION)
    await house.discord.wait_until_connected()
    await house.wait_until_idle()
    assert [find_secrets(post.text) for post in answer_posts(house, ada, asked)] == ["agate"]


async def test_2_a_reply_that_mentions_the_bot_and_its_role_is_answered_once(house: DiscordBotFixture) -> None:
    guild, ada, square = await build_guild(house, "Both")
    asked = await house.post_mention(ada, square, QUESTION)
    await house.wait_until_idle()
    [first] = answer_posts(house, ada, asked)
    [role] = [role for role in guild.roles.values() if role.managed]
    mention = house.discord.bot(guild).mention
    await ada.says(asked.thread, f"{mention} <@&{role.id}> {QUESTION}", reply_to=first.message)
    await house.wait_until_idle()
    assert [find_secrets(post.text) for post in answer_posts(house, ada, asked)] == ["agate", "agate"]


async def test_3_bot_messages_are_never_answered(house: DiscordBotFixture) -> None:
    guild, ada, square = await build_guild(house, "Bots")
    other = house.discord.member(guild, "Robot", bot=True)
    itself = house.discord.bot(guild)
    for one in (other, itself):
        await one.says(square, f"{itself.mention} {QUESTION}")
    house.discord.webhook_says(square, "Ticker", f"{itself.mention} {QUESTION}")
    asked = await house.post_mention(ada, square, QUESTION)
    await house.wait_until_idle()
    [answer] = answer_posts(house, ada, asked)
    assert asked.thread is not None
    await other.says(asked.thread, f"{itself.mention} {QUESTION}", reply_to=answer.message)
    await house.wait_until_idle()
    assert len(answer_posts(house, ada, asked)) == 2, "the answer, and what the other bot said"
    assert [channel for channel in guild.channels.values() if channel.thread] == [asked.thread]


async def test_4_link_preview_triggers_no_answer_or_ingest(house: DiscordBotFixture) -> None:
    _, ada, square = await build_guild(house, "Previews")
    said = await ada.says(square, "The tide table is at https://tides.example/table for everybody.")
    asked = await house.post_mention(ada, square, "What is at https://tides.example/table?")
    await house.close_conversations()
    before = house.language.extraction_count, len(house.language.questions)
    for message in (said, asked):
        message.embeds = [{"type": "article", "title": "Tides", "url": "https://tides.example/table"}]
        emit_message_update(house.discord.world, message)
    await house.close_conversations()
    assert (house.language.extraction_count, len(house.language.questions)) == before
    assert len(answer_posts(house, ada, asked)) == 1
    await ada.edits(said, "The tide table hangs at the pier.")
    await house.close_conversations()
    assert "pier" in await house.ask_by_command(ada, square, "Where is the tide table?")


async def test_5_rate_limited_answer_is_complete_and_posted_once(house: DiscordBotFixture) -> None:
    _, ada, square = await build_guild(house, "Too fast")
    pieces = [f"Sentence number {number} of the answer. " for number in range(12)]
    go = house.script_answer("in many sentences", pieces[0], *pieces[1:])
    faults = [
        house.discord.fail_next("PATCH", route, status=429, seconds=0.05, times=times, via=via)
        for route, times, via in ((TOKEN_ROUTE, 2, True), (CHANNEL_ROUTE, 2, True), (CHANNEL_ROUTE, 1, False))
    ]
    used = await ada.slash("ask", here=square, question=f"in many sentences: {QUESTION}")
    asked = await house.post_mention(ada, square, f"in many sentences: {QUESTION}")
    go.set()
    await house.wait_until_idle()
    whole = "".join(pieces).strip()
    for [post] in (house.answer_posts(ada, used), answer_posts(house, ada, asked)):
        said = post.content.partition("\n\n-# ")[0]
        assert said.removeprefix(f"> **Ada asked:** in many sentences: {QUESTION}\n\n") == whole
    assert [fault.times for fault in faults] == [0, 0, 0]


async def test_7_of_fifteen_thousand_characters_nothing_is_lost(house: DiscordBotFixture) -> None:
    _, ada, square = await build_guild(house, "Long")
    words = [f"w{number:04}" for number in range(2600)]
    code = "\n".join(" ".join(words[at : at + 10]) for at in range(700, 1500, 10))
    text = f"{_prose(words[:700])}\n\n```python\n{code}\n```\n\n{_prose(words[1500:])}"
    assert len(text) > 15_000
    house.script_answer("at great length", *re.findall(r".{1,200}", text, re.DOTALL)).set()
    used = await ada.slash("ask", here=square, question=f"at great length: {QUESTION}")
    alone = await ada.slash("ask", here=square, question=f"at great length: {QUESTION}", private=True)
    asked = await house.post_mention(ada, square, f"at great length: {QUESTION}")
    await house.wait_until_idle()
    for posts in (house.answer_posts(ada, used), house.answer_posts(ada, alone), answer_posts(house, ada, asked)):
        parts = [post.message.content for post in posts]
        assert max(map(len, parts)) <= 2000
        assert [part.count("```") % 2 for part in parts] == [0] * len(parts)
        assert re.findall(r"w\d{4}", "\n".join(parts)) == words
        assert [bool(post.buttons) for post in posts] == [False] * (len(posts) - 1) + [True]


def _prose(words: list[str]) -> str:
    return "\n\n".join(" ".join(words[at : at + 50]) + "." for at in range(0, len(words), 50))


async def test_12_answers_ping_nobody_and_fetch_no_urls(house: DiscordBotFixture) -> None:
    guild, ada, square = await build_guild(house, "Calm")
    crew = house.discord.role(guild, "crew", mentionable=True)
    calls = f"@everyone @here {ada.mention} <@&{crew.id}> look at https://evil.example/?q=agate"
    await ada.says(square, f"The password of the safe is shouted: {calls}")
    house.script_answer("shout at all", f"{calls} ", calls).set()
    await house.wait_until_idle()
    await house.ask_by_command(ada, square, QUESTION)
    await house.ask_by_command(ada, square, f"shout at all: {QUESTION}")
    await house.ask_by_mention(ada, square, f"shout at all: {QUESTION}")
    await house.ask_in_dm(ada, f"shout at all: {QUESTION}")
    assert house.discord.pings == []
    assert house.discord.previews == []


@pytest.mark.parametrize("private", [False, True])
async def test_13_an_answer_that_takes_longer_than_its_token_is_delivered(
    house: DiscordBotFixture,
    private: bool,  # noqa: FBT001 - a parameter
) -> None:
    discord = house.discord
    guild, ada, square = await build_guild(house, f"Slow {private}")
    go = house.script_answer("take your time", "The first half, ", "and the second half.")
    used = await ada.slash("ask", here=square, question=f"take your time: {QUESTION}", private=private)
    silent = await ada.slash("ask", here=square, question=f"take your time: {QUESTION}", private=private)
    await discord.wait_for(lambda: used.original and "first half" in used.original.content)
    discord.clock.advance(TOKEN_LIFE + 60)
    go.set()
    await house.wait_until_idle()
    where = discord.dm(ada) if private else square
    whole = [post for post in discord.sees(ada, where).posts if "The first half, and the second half." in post.content]
    assert len(whole) == 2
    assert silent.error == ""
    if private:
        assert "half" not in house.bot_text(discord.member(guild, "Bob"), square)


async def test_buttons_of_former_runs_still_work(house: DiscordBotFixture) -> None:
    _, ada, square = await build_guild(house, "Buttons")
    used = await ada.slash("ask", here=square, question=QUESTION)
    alone = await ada.slash("ask", here=square, question=QUESTION, private=True)
    await house.wait_until_idle()
    await house.restart()
    assert used.original is not None
    assert alone.original is not None

    async def pressed(message: Message, button: str) -> str:
        clicked = await ada.clicks(message, button)
        assert not clicked.error
        return await house.answer_text(ada, clicked)

    assert texts.POSITIVE_FEEDBACK in await pressed(used.original, "👍")
    assert texts.NEGATIVE_FEEDBACK in await pressed(alone.original, "👎")
    assert find_secrets(await pressed(used.original, "Sources")) == "agate"
    assert texts.ANSWER_SHARED in await pressed(alone.original, "Share to channel")
    await pressed(used.original, "Delete")
    assert house.answer_posts(ada, used) == []


async def test_commands_are_registered_once(house: DiscordBotFixture) -> None:
    registered = [call for call in house.discord.calls if call.method == "PUT" and "commands" in call.template]
    await house.restart()
    assert len(registered) == 1
    assert [call for call in house.discord.calls if call.method == "PUT" and "commands" in call.template] == registered


async def test_only_managers_are_offered_settings(house: DiscordBotFixture) -> None:
    guild, ada, square = await build_guild(house, "Managers")
    with pytest.raises(AssertionError):
        await ada.slash("settings", here=square, setting="ingest", value="off")
    discord = house.discord
    mayor = discord.member(guild, "Mayor", roles=[discord.role(guild, "mayor", Permission.MANAGE_GUILD)])
    assert "I've stopped reading this channel" in await house.run_command(
        mayor, square, "settings", setting="ingest", value="off"
    )
