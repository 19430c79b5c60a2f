"""Answers to messages and commands, as people see them in the end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from adapters.discord.replies.refs import InteractionHandle
from adapters.discord.replies.reply import DiscordReply
from bot.platform.events import CommandInvoked, QuestionAsked
from bot.platform.models import AnswerFooter, Button, Card, FooterSource, Message
from bot.platform.ports import Reply, ReplyTarget
from tests.adapters.discord.conftest import EDIT_INTERVAL, Town
from tests.support.discord_server import Channel, Permission, Person, Post
from tests.support.discord_server.model import MessageFlag

SOURCE = FooterSource(1, "#square › Ada", "https://discord.com/channels/1/2/3")
FOOTER = AnswerFooter("a1", (SOURCE,), "From #square.", (Button("👍", "up", "a1"), Button("Delete", "delete", "a1")))
MESSAGES, MESSAGE = "/channels/{channel}/messages", "/channels/{channel}/messages/{message}"
ORIGINAL = "/webhooks/{app}/{token}/messages/{message}"
EARLIER = datetime.now(UTC) - timedelta(minutes=1)
MAT = "Under the mat."


def target(asked: Message | QuestionAsked | CommandInvoked, ref: str = "") -> ReplyTarget:
    """Where the bot sends its answer."""
    if isinstance(asked, Message):
        inside = asked.location.workspace
        place = replace(asked.location, thread=asked.reply_thread) if inside else asked.location
        return ReplyTarget("a1", place, asked.author, asked.id, asked_at=asked.time, reply_ref=ref)
    private = asked.private if isinstance(asked, QuestionAsked) else True
    return ReplyTarget(
        "a1", asked.location, asked.person, private=private, handle=asked.handle, reply_ref=ref, asked_at=EARLIER
    )


def start(town: Town, asked: Message | QuestionAsked, ref: str = "") -> Reply:
    return town.platform.start_reply(target(asked, ref))


def answers(town: Town, channel: Channel, person: Person | None = None) -> list[Post]:
    return [post for post in town.fake.sees(person or town.ada, channel).posts if post.bot]


def texts(town: Town, channel: Channel, person: Person | None = None) -> list[str]:
    """The answers without their sources."""
    return [post.content.partition("\n\n**Sources**")[0] for post in answers(town, channel, person)]


def thread_of(town: Town, message: Message) -> Channel:
    return town.fake.world.channels[message.id]


async def test_a_mention_is_answered_in_a_thread_with_the_name_of_the_question(town: Town) -> None:
    message = await town.ask()
    reply = start(town, message)
    await reply.show_status("is searching…")
    await reply.show(["Under"])
    await reply.finish(["Under the [mat](https://discord.com/channels/1/2/3) [1]"], FOOTER)
    assert town.fake.sees(town.bob, town.square).posts[0].thread == "where is the key?"
    [post] = answers(town, thread_of(town, message))
    assert post.content == (
        "Under the [mat](https://discord.com/channels/1/2/3) [1]\n\n"
        "**Sources**\n**[1]** [#square › Ada](https://discord.com/channels/1/2/3)\n-# From #square."
    )
    assert MessageFlag.SUPPRESS_EMBEDS in post.message.flags
    assert post.buttons == ("👍", "Delete")
    assert (post.previews, town.fake.pings, town.fake.refusals) == ((), [], [])
    assert reply.reply_ref == f"{message.id}:{post.message.id}"


async def ask_in_thread(town: Town) -> tuple[Message, Channel]:
    thread = await town.ada.opens_thread(await town.ada.says(town.square, "about the roof"), "Roof")
    return await town.ask(channel=thread), thread


async def ask_in_forum(town: Town) -> tuple[Message, Channel]:
    first = await town.ada.posts(town.forum, "The key", f"{town.mention} where is it?")
    return await town.received(first), first.channel


async def ask_in_dm(town: Town) -> tuple[Message, Channel]:
    return await town.received(await town.ada.dms("where is the key?")), town.fake.dm(town.ada)


@pytest.mark.parametrize("ask", [ask_in_thread, ask_in_forum, ask_in_dm])
async def test_an_answer_is_where_the_question_is_and_whole_in_several_messages(
    town: Town, ask: Callable[[Town], Awaitable[tuple[Message, Channel]]]
) -> None:
    message, channel = await ask(town)
    parts = [f"```py\n{'x' * 1700}\n```", "y " * 800, "and the end"]
    reply = start(town, message)
    await reply.show(parts[:1])
    await reply.finish(parts, FOOTER)
    assert texts(town, channel) == [part.strip() for part in parts]
    assert [bool(post.buttons) for post in answers(town, channel)] == [False, False, True]


async def test_without_the_permission_to_create_threads_the_answer_is_in_the_channel(town: Town) -> None:
    town.fake.overwrites(town.square, town.fake.bot(town.guild), deny=Permission.CREATE_PUBLIC_THREADS)
    await start(town, await town.ask()).finish([MAT], FOOTER)
    [post] = answers(town, town.square)
    assert (texts(town, town.square), post.reply_to) == ([MAT], "Ada: @Threadlore where is the key?")


async def test_a_rate_limit_loses_nothing_and_slows_the_next_write(town: Town) -> None:
    message = await town.ask()
    reply = start(town, message)
    await reply.show(["Under the mat it lies. "])
    town.fake.fail_next("PATCH", MESSAGE, status=429, seconds=0.1)
    town.fake.fail_next("PATCH", MESSAGE, status=429, seconds=0.1, via=False)
    await reply.finish([MAT], FOOTER)
    assert texts(town, thread_of(town, message)) == [MAT]
    assert isinstance(reply, DiscordReply)
    assert reply._throttle.interval == 4 * EDIT_INTERVAL


async def test_a_message_whose_response_was_lost_is_there_once(town: Town) -> None:
    message = await town.ask()
    town.fake.fail_next("POST", MESSAGES, "lost")
    await start(town, message).finish([MAT], FOOTER)
    assert texts(town, thread_of(town, message)) == [MAT]


@pytest.mark.parametrize("seconds", [0, 60])
async def test_after_a_restart_an_answer_continues_in_its_messages_with_and_without_their_ref(
    town: Town, seconds: int
) -> None:
    message = await town.ask()
    message = replace(message, time=message.time - timedelta(seconds=seconds))
    for has_ref in (False, True):
        begun = start(town, message)
        await begun.show_status("is searching…")
        await begun.show(["one", "tw"])
        await start(town, message, begun.reply_ref if has_ref else "").finish(["one", "two"], FOOTER)
        assert texts(town, thread_of(town, message)) == ["one", "two"]
        assert [post.buttons for post in answers(town, thread_of(town, message))] == [(), ("👍", "Delete")]


async def test_after_a_restart_each_question_in_a_thread_finds_its_own_messages(town: Town) -> None:
    message = await town.ask()
    message = replace(message, time=message.time - timedelta(minutes=1))
    await start(town, message).finish(["one", "two"], FOOTER)
    later = await town.ask("and then?", thread_of(town, message))
    later = replace(later, time=later.time - timedelta(minutes=1))
    for _ in range(2):
        await town.platform.start_reply(replace(target(later), answer="a2")).show(["three"])
        await town.platform.start_reply(replace(target(later), answer="a2")).finish(["three"], FOOTER)
    assert texts(town, thread_of(town, message)) == ["one", "two", "three"]


async def test_an_answer_is_replaced_whole_and_the_same_text_gets_its_buttons(town: Town) -> None:
    message = await town.ask()
    reply = start(town, message)
    await reply.finish(["a secret", "and another"], FOOTER)
    await start(town, message, reply.reply_ref).replace("I took this back.")
    [post] = answers(town, thread_of(town, message))
    assert (post.content, post.buttons) == ("I took this back.", ())
    await start(town, message).finish(["I took this back."], FOOTER)
    [post] = answers(town, thread_of(town, message))
    assert post.buttons == ("👍", "Delete")


async def test_a_command_is_answered_in_its_own_response(town: Town) -> None:
    asked = await town.ask_by_command()
    assert (asked.text, asked.private, asked.person) == ("where is the key?", False, town.ada.id)
    assert asked.location == town.location(town.square)
    assert town.fake.sees(town.bob, town.square).last.thinking
    reply = start(town, asked)
    await reply.show_status("is searching…")
    await reply.show(["Under the"])
    await reply.finish(["Under the mat. " + "x" * 1700, "And more"], FOOTER)
    assert texts(town, town.square, town.bob) == ["Under the mat. " + "x" * 1700, "And more"]
    assert town.fake.sees(town.bob, town.square).last.buttons == ("👍", "Delete")
    assert town.fake.refusals == []


async def test_a_response_that_is_gone_is_replaced_in_the_channel(town: Town) -> None:
    reply = start(town, await town.ask_by_command())
    town.fake.fail_next("PATCH", ORIGINAL, status=404, code=10008, times=9)
    await reply.finish([MAT], FOOTER)
    assert texts(town, town.square, town.bob)[-1] == MAT


async def test_long_after_a_restart_a_command_is_answered_in_the_channel(town: Town) -> None:
    asked = await town.ask_by_command()
    handle = InteractionHandle.parse(asked.handle)
    assert handle is not None
    late = replace(target(asked), handle=str(replace(handle, expires_at=0.0)))
    await town.platform.start_reply(late).finish([MAT], FOOTER)
    assert texts(town, town.square, town.bob)[-1] == MAT


async def test_after_a_restart_a_command_is_answered_once(town: Town) -> None:
    asked = await town.ask_by_command()
    begun = start(town, asked)
    await begun.show_status("is searching…")
    first_ref = begun.reply_ref
    await begun.show(["one", "tw"])
    for known in (first_ref, begun.reply_ref):
        await start(town, asked, known).finish(["one", "two"], FOOTER)
        assert texts(town, town.square, town.bob) == ["one", "two"]


async def test_only_the_person_who_used_a_command_sees_its_card(town: Town) -> None:
    await town.ada.slash("status", here=town.square)
    called = await town.bot.wait_for(CommandInvoked)
    assert (called.command, called.words) == ("status", "")
    await town.platform.send_private(target(called), Card("All is well.\n" + "x " * 1500))
    await town.platform.send_private(target(called), Card("Really."))
    posts = town.fake.sees(town.ada, town.square).posts
    assert (posts[0].content[:12], posts[-1].content) == ("All is well.", "Really.")
    assert not any(post.thinking for post in posts)
    assert town.fake.sees(town.bob, town.square).posts == ()


async def test_no_way_of_writing_lets_discord_fetch_an_address(town: Town) -> None:
    planted = "See https://planted.example/a, [it](https://planted.example/b) and `https://planted.example/c`. "
    asked: list[Message | QuestionAsked] = [await town.ask()]
    asked += [await town.ask_by_command(), await town.ask_by_command(private=True)]
    for message in asked:
        reply = start(town, message)
        await reply.show([planted])
        await reply.finish([planted, planted], FOOTER)
        await reply.replace(planted)
    await town.platform.post(town.location(town.square), Card(planted))
    messages = [message for channel in town.fake.world.channels.values() for message in channel.messages.values()]
    written = [
        message for message in messages if message.author is town.fake.world.app and "planted" in message.content
    ]
    assert len(written) >= 3
    assert [message.content for message in written if MessageFlag.SUPPRESS_EMBEDS not in message.flags] == []
    assert town.fake.world.previews == []
