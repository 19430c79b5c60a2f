"""Answers to messages and commands, as people see them in the end."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from adapters.discord.replies.refs import InteractionHandle
from adapters.discord.replies.reply import EDIT_INTERVAL, DiscordReply
from bot.platform.events import CommandInvoked, MessageReceived, QuestionAsked
from bot.platform.models import AnswerFooter, Button, Card, FooterSource
from bot.platform.ports import ReplyTarget
from tests.support.discord_server import Permission
from tests.support.discord_server.model import MessageFlag

if TYPE_CHECKING:
    from bot.platform.models import Message
    from tests.adapters.discord.conftest import Town
    from tests.support.discord_server import Channel, Post

SOURCE = FooterSource(1, "#square › Ada", "https://discord.com/channels/1/2/3")
CLOSING = AnswerFooter("a1", (SOURCE,), "From #square.", (Button("👍", "up", "a1"), Button("Delete", "delete", "a1")))
MESSAGES, MESSAGE = "/channels/{channel}/messages", "/channels/{channel}/messages/{message}"
ORIGINAL = "/webhooks/{app}/{token}/messages/{message}"


def target(message: Message, mark: str = "") -> ReplyTarget:
    """Where the bot wants the answer to a message."""
    place = replace(message.location, thread=message.reply_thread) if message.location.workspace else message.location
    return ReplyTarget("a1", place, message.author, message.id, asked_at=message.time, reply_ref=mark)


def of_command(asked: QuestionAsked | CommandInvoked, mark: str = "") -> ReplyTarget:
    private = asked.private if isinstance(asked, QuestionAsked) else True
    return ReplyTarget(
        "a1", asked.location, asked.person, private=private, handle=asked.handle, reply_ref=mark, asked_at=EARLIER
    )


EARLIER = datetime.now(UTC) - timedelta(minutes=1)


async def question(town: Town, text: str = "where is the key?") -> Message:
    await town.ada.says(town.square, f"{town.mention} {text}")
    return (await town.ear.hears(MessageReceived)).message


def said(post: Post) -> str:
    """What an answer says above its sources."""
    return post.content.partition("\n\n**Sources**")[0]


def answers(town: Town, channel: Channel) -> list[Post]:
    return [post for post in town.fake.sees(town.ada, channel).posts if post.bot]


def thread_of(town: Town, message: Message) -> Channel:
    return town.fake.world.channels[message.id]


async def test_a_mention_is_answered_in_a_thread_that_bears_its_name(town: Town) -> None:
    message = await question(town)
    reply = town.platform.start_reply(target(message))
    await reply.show_status("is searching…")
    await reply.show(["Under"])
    await reply.finish(["Under the [mat](https://discord.com/channels/1/2/3) [1]"], CLOSING)
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


async def test_in_a_thread_it_is_answered_there(town: Town) -> None:
    start = await town.ada.says(town.square, "about the roof")
    thread = await town.ada.opens_thread(start, "Roof")
    await town.ada.says(thread, f"{town.mention} does it leak?")
    message = (await town.ear.hears(MessageReceived, 2)).message
    await town.platform.start_reply(target(message)).finish(["It does."], CLOSING)
    [post] = answers(town, thread)
    assert (said(post), post.reply_to) == (
        "It does.",
        "Ada: @Threadlore does it leak?".replace("Threadlore", _name(town)),
    )


async def test_without_the_permission_to_open_threads_it_is_answered_in_the_channel(town: Town) -> None:
    town.fake.overwrites(town.square, town.fake.bot(town.guild), deny=Permission.CREATE_PUBLIC_THREADS)
    message = await question(town)
    await town.platform.start_reply(target(message)).finish(["Under the mat."], CLOSING)
    [post] = answers(town, town.square)
    assert said(post) == "Under the mat."
    assert post.reply_to


async def test_in_a_forum_it_is_answered_in_the_post(town: Town) -> None:
    first = await town.ada.posts(town.forum, "The key", f"{town.mention} where is it?")
    message = (await town.ear.hears(MessageReceived)).message
    await town.platform.start_reply(target(message)).finish(["Under the mat."], CLOSING)
    assert [said(post) for post in answers(town, first.channel)] == ["Under the mat."]


async def test_a_direct_message_is_answered_there(town: Town) -> None:
    await town.bob.dms("where is the key?")
    message = (await town.ear.hears(MessageReceived)).message
    await town.platform.start_reply(target(message)).finish(["Under the mat."], CLOSING)
    assert said(town.fake.sees(town.bob, town.fake.dm(town.bob)).last) == "Under the mat."


async def test_a_long_answer_is_whole_in_several_messages(town: Town) -> None:
    message = await question(town)
    parts = [f"```py\n{'x' * 1700}\n```", "y " * 800, "and the end"]
    reply = town.platform.start_reply(target(message))
    await reply.show(parts[:1])
    await reply.finish(parts, CLOSING)
    posts = answers(town, thread_of(town, message))
    assert [said(post) for post in posts] == [part.strip() for part in parts]
    assert [bool(post.buttons) for post in posts] == [False, False, True]


async def test_a_refusal_for_being_too_fast_costs_nothing_and_slows_the_next_write(town: Town) -> None:
    message = await question(town)
    reply = town.platform.start_reply(target(message))
    await reply.show(["Under the mat it lies. "])
    town.fake.fail_next("PATCH", MESSAGE, status=429, seconds=0.1)
    town.fake.fail_next("PATCH", MESSAGE, status=429, seconds=0.1, via=False)
    await reply.finish(["Under the mat."], CLOSING)
    assert [said(post) for post in answers(town, thread_of(town, message))] == ["Under the mat."]
    assert isinstance(reply, DiscordReply)
    assert reply._throttle.interval == 4 * EDIT_INTERVAL


async def test_a_message_whose_receipt_was_lost_is_there_once(town: Town) -> None:
    message = await question(town)
    town.fake.fail_next("POST", MESSAGES, "lost")
    await town.platform.start_reply(target(message)).finish(["Under the mat."], CLOSING)
    assert [said(post) for post in answers(town, thread_of(town, message))] == ["Under the mat."]


async def test_after_a_restart_the_answer_goes_on_in_its_own_messages(town: Town) -> None:
    message = await question(town)
    begun = town.platform.start_reply(target(message))
    await begun.show(["one", "tw"])
    await town.platform.start_reply(target(message, begun.reply_ref)).finish(["one", "two"], CLOSING)
    assert [said(post) for post in answers(town, thread_of(town, message))] == ["one", "two"]


async def test_after_a_restart_without_a_mark_its_messages_are_found_again(town: Town) -> None:
    message = await question(town)
    message = replace(message, time=message.time - timedelta(minutes=1))
    await town.platform.start_reply(target(message)).show(["one", "tw"])
    await town.platform.start_reply(target(message)).finish(["one", "two"], CLOSING)
    assert [said(post) for post in answers(town, thread_of(town, message))] == ["one", "two"]
    await town.ada.says(thread_of(town, message), f"{town.mention} and then?")
    later = (await town.ear.hears(MessageReceived, 2)).message
    later = replace(later, time=later.time - timedelta(minutes=1))
    await town.platform.start_reply(replace(target(later), answer="a2")).show(["three"])
    await town.platform.start_reply(replace(target(later), answer="a2")).finish(["three"], CLOSING)
    assert [said(post) for post in answers(town, thread_of(town, message))] == ["one", "two", "three"]


@pytest.mark.parametrize("seconds", [0, 60])
async def test_right_after_a_restart_its_messages_take_the_last_words_too(town: Town, seconds: int) -> None:
    message = await question(town)
    message = replace(message, time=message.time - timedelta(seconds=seconds))
    begun = town.platform.start_reply(target(message))
    await begun.show_status("is searching…")
    await begun.show(["one", "tw"])
    await town.platform.start_reply(target(message)).finish(["one", "two"], CLOSING)
    posts = answers(town, thread_of(town, message))
    assert [(said(post), post.buttons) for post in posts] == [("one", ()), ("two", ("👍", "Delete"))]


async def test_words_that_are_the_same_get_their_buttons_too(town: Town) -> None:
    message = await question(town)
    await town.platform.start_reply(target(message)).replace("two")
    await town.platform.start_reply(target(message)).finish(["two"], CLOSING)
    [post] = answers(town, thread_of(town, message))
    assert (said(post), post.buttons) == ("two", ("👍", "Delete"))


async def test_a_command_is_answered_in_its_own_response(town: Town) -> None:
    await town.ada.enters(town.square).slash("ask", question="where is the key?")
    asked = await town.ear.hears(QuestionAsked)
    assert (asked.text, asked.private, asked.person, asked.location) == (
        "where is the key?",
        False,
        town.ada.id,
        town.place(town.square),
    )
    assert town.fake.sees(town.bob, town.square).last.thinking
    reply = town.platform.start_reply(of_command(asked))
    await reply.show_status("is searching…")
    await reply.show(["Under the"])
    await reply.finish(["Under the mat. " + "x" * 1700, "And more"], CLOSING)
    posts = town.fake.sees(town.bob, town.square).posts
    assert [said(post) for post in posts] == ["Under the mat. " + "x" * 1700, "And more"]
    assert posts[-1].buttons == ("👍", "Delete")
    assert town.fake.refusals == []


async def test_a_private_command_is_seen_by_nobody_else(town: Town) -> None:
    await town.ada.enters(town.square).slash("ask", question="where is the key?", private=True)
    reply = town.platform.start_reply(of_command(await town.ear.hears(QuestionAsked)))
    await reply.finish(["Under the mat.", "And more"], CLOSING)
    assert [said(post) for post in town.fake.sees(town.ada, town.square).posts] == ["Under the mat.", "And more"]
    assert town.fake.sees(town.bob, town.square).posts == ()


async def test_a_command_whose_token_is_over_is_answered_in_the_same_message(town: Town) -> None:
    await town.ada.enters(town.square).slash("ask", question="where is the key?")
    asked = await town.ear.hears(QuestionAsked)
    reply = town.platform.start_reply(of_command(asked))
    await reply.show(["Under the mat it lies. "])
    town.fake.clock.advance(16 * 60)
    await reply.finish(["Under the mat.", "And more"], CLOSING)
    posts = town.fake.sees(town.bob, town.square).posts
    assert [said(post) for post in posts] == ["Under the mat.", "And more"]


async def test_a_response_that_discord_does_not_find_is_made_up_for_in_the_channel(town: Town) -> None:
    await town.ada.enters(town.square).slash("ask", question="where is the key?")
    reply = town.platform.start_reply(of_command(await town.ear.hears(QuestionAsked)))
    town.fake.fail_next("PATCH", ORIGINAL, status=404, code=10008, times=9)
    await reply.finish(["Under the mat."], CLOSING)
    assert said(town.fake.sees(town.bob, town.square).last) == "Under the mat."


async def test_long_after_a_restart_a_command_is_answered_in_the_channel(town: Town) -> None:
    await town.ada.enters(town.square).slash("ask", question="where is the key?")
    asked = await town.ear.hears(QuestionAsked)
    handle = InteractionHandle.parse(asked.handle)
    assert handle is not None
    late = replace(of_command(asked), handle=str(replace(handle, expires_at=0.0)))
    await town.platform.start_reply(late).finish(["Under the mat."], CLOSING)
    assert said(town.fake.sees(town.bob, town.square).last) == "Under the mat."


async def test_a_private_command_whose_token_is_over_is_answered_in_a_direct_message(town: Town) -> None:
    await town.ada.enters(town.square).slash("ask", question="where is the key?", private=True)
    reply = town.platform.start_reply(of_command(await town.ear.hears(QuestionAsked)))
    await reply.show(["Under"])
    town.fake.clock.advance(16 * 60)
    await reply.finish(["Under the mat.", "And more"], CLOSING)
    posts = town.fake.sees(town.ada, town.fake.dm(town.ada)).posts
    assert [said(post) for post in posts] == ["Under the mat.", "And more"]
    assert town.fake.sees(town.bob, town.square).posts == ()


async def test_after_a_restart_a_command_is_answered_once(town: Town) -> None:
    await town.ada.enters(town.square).slash("ask", question="where is the key?")
    asked = await town.ear.hears(QuestionAsked)
    begun = town.platform.start_reply(of_command(asked))
    await begun.show_status("is searching…")
    mark = begun.reply_ref
    await begun.show(["one", "tw"])
    for known in (mark, begun.reply_ref):
        await town.platform.start_reply(of_command(asked, known)).finish(["one", "two"], CLOSING)
        assert [said(post) for post in town.fake.sees(town.bob, town.square).posts] == ["one", "two"]


async def test_an_answer_is_taken_back_whole(town: Town) -> None:
    message = await question(town)
    reply = town.platform.start_reply(target(message))
    await reply.finish(["a secret", "and another"], CLOSING)
    await town.platform.start_reply(target(message, reply.reply_ref)).replace("I took this back.")
    [post] = answers(town, thread_of(town, message))
    assert (said(post), post.embeds, post.buttons) == ("I took this back.", (), ())


async def test_the_answer_to_a_command_word_is_seen_by_its_caller_alone(town: Town) -> None:
    await town.ada.enters(town.square).slash("status")
    called = await town.ear.hears(CommandInvoked)
    assert (called.command, called.words) == ("status", "")
    await town.platform.send_private(of_command(called), Card("All is well.\n" + "x " * 1500))
    await town.platform.send_private(of_command(called), Card("Really."))
    posts = town.fake.sees(town.ada, town.square).posts
    assert posts[0].content.startswith("All is well.")
    assert posts[-1].content == "Really."
    assert not any(post.thinking for post in posts)
    assert town.fake.sees(town.bob, town.square).posts == ()


def _name(town: Town) -> str:
    return town.fake.world.app.name


async def test_no_road_lets_an_address_be_fetched(town: Town) -> None:
    planted = "See https://planted.example/a, [it](https://planted.example/b) and `https://planted.example/c`. "
    message = await question(town)
    await town.ada.enters(town.square).slash("ask", question="where is the key?")
    command = await town.ear.hears(QuestionAsked)
    await town.ada.enters(town.square).slash("ask", question="where is the key?", private=True)
    alone = await town.ear.hears(QuestionAsked)
    for reply in (
        town.platform.start_reply(target(message)),
        town.platform.start_reply(of_command(command)),
        town.platform.start_reply(of_command(alone)),
    ):
        await reply.show([planted])
        await reply.finish([planted, planted], CLOSING)
        await reply.replace(planted)
    await town.platform.post(town.place(town.square), Card(planted))
    written = [
        each
        for channel in town.fake.world.channels.values()
        for each in channel.messages.values()
        if each.author is town.fake.world.app and "planted" in each.content
    ]
    assert len(written) >= 3
    assert [each.content for each in written if MessageFlag.SUPPRESS_EMBEDS not in each.flags] == []
    assert town.fake.world.previews == []
