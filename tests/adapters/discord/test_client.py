from __future__ import annotations

from typing import TYPE_CHECKING

from bot.platform.events import (
    ChannelRemoved,
    MessageEdited,
    MessageReceived,
    MessagesDeleted,
    VisibilityChanged,
    WorkspaceJoined,
    WorkspaceLeft,
)
from bot.platform.models import Card, Location
from tests.support.discord_server import File, Permission

if TYPE_CHECKING:
    from tests.adapters.discord.conftest import Town


async def test_a_message_is_heard_with_its_author_time_and_place(town: Town) -> None:
    said = await town.ada.says(town.square, "The roof leaks.", files=[File("plan.txt", b"plan", "text/plain")])
    heard = (await town.ear.hears(MessageReceived)).message
    assert (heard.id, heard.text, heard.author) == (said.id, "The roof leaks.", town.ada.id)
    assert heard.location == Location("discord", town.guild.id, town.square.id)
    assert [(each.name, each.size, each.kind) for each in heard.uploads] == [("plan.txt", 4, "text/plain")]
    assert "discord:message:" + said.id in town.ear.keys


async def test_a_mention_a_reply_and_a_direct_message_are_addressed_and_others_are_not(town: Town) -> None:
    await town.ada.says(town.square, "Good morning")
    await town.ada.says(town.square, f"{town.mention} where is the key?")
    answer = await town.platform.post(town.place(town.square), Card("Under the mat."))
    await town.bob.says(town.square, "and then?", reply_to=town.square.messages[answer])
    await town.bob.dms("psst")
    last = await town.ear.hears(MessageReceived, 4)
    assert [each.addressed for each in town.ear.all(MessageReceived)] == [False, True, True, True]
    assert last.message.location.workspace == ""


async def test_what_a_program_says_is_not_addressed_to_the_bot(town: Town) -> None:
    robot = town.fake.member(town.guild, "Robot", bot=True)
    await robot.says(town.square, f"{town.mention} where is the key?")
    town.fake.webhook_says(town.square, "Ticker", f"{town.mention} where is the key?")
    await town.ear.hears(MessageReceived, 2)
    assert [each.addressed for each in town.ear.all(MessageReceived)] == [False, False]


async def test_what_the_bot_and_discord_say_themselves_is_not_heard(town: Town) -> None:
    await town.platform.post(town.place(town.square), Card("Good morning"))
    start = await town.ada.says(town.square, "about the roof")
    await town.ada.opens_thread(start, "Roof")
    await town.ada.says(town.square, "hello")
    await town.ear.hears(MessageReceived, 2)
    assert [each.message.text for each in town.ear.all(MessageReceived)] == ["about the roof", "hello"]


async def test_programs_are_told_from_people(town: Town) -> None:
    town.fake.webhook_says(town.square, "Builds", "All is green")
    assert (await town.ear.hears(MessageReceived)).message.by_bot


async def test_an_edit_and_deletions_are_told(town: Town) -> None:
    first = await town.ada.says(town.square, "one")
    second = await town.ada.says(town.square, "two")
    await town.ada.edits(first, "uno")
    assert (await town.ear.hears(MessageEdited)).message.text == "uno"
    await town.ada.deletes(first)
    assert (await town.ear.hears(MessagesDeleted)).ids == (first.id,)
    third = await town.ada.says(town.square, "three")
    await town.fake.bot(town.guild).purges([second, third])
    assert (await town.ear.hears(MessagesDeleted, 2)).ids == (second.id, third.id)


async def test_a_thread_belongs_to_its_channel_also_once_it_is_archived(town: Town) -> None:
    start = await town.ada.says(town.square, "about the roof")
    thread = await town.ada.opens_thread(start, "Roof")
    said = await town.bob.says(thread, "it leaks")
    where = Location("discord", town.guild.id, town.square.id, thread.id)
    assert (await town.ear.hears(MessageReceived, 2)).message.location == where
    town.fake.archives(thread)
    await town.bob.deletes(said)
    assert (await town.ear.hears(MessagesDeleted)).location == where


async def test_a_private_thread_is_a_channel_of_its_own(town: Town) -> None:
    thread = await town.ada.opens_thread(town.square, "Secrets", private=True)
    await town.ada.adds(thread, town.fake.bot(town.guild))
    await town.ada.says(thread, "psst")
    assert (await town.ear.hears(MessageReceived)).message.location == Location(
        "discord", town.guild.id, thread.id, thread.id
    )
    await town.ada.removes_from_thread(thread, town.ada)
    assert (await town.ear.hears(VisibilityChanged)).location == Location("discord", town.guild.id, thread.id)


async def test_a_post_in_a_forum_bears_its_title_and_another_title_is_an_edit(town: Town) -> None:
    first = await town.ada.posts(town.forum, "A new roof", "Copper would be nice.")
    heard = (await town.ear.hears(MessageReceived)).message
    assert (heard.title, heard.text) == ("A new roof", "Copper would be nice.")
    assert heard.location == Location("discord", town.guild.id, town.forum.id, first.channel.id)
    town.fake.renames(first.channel, "A copper roof")
    assert (await town.ear.hears(MessageEdited)).message.title == "A copper roof"


async def test_what_is_deleted_as_a_whole_is_gone(town: Town) -> None:
    first = await town.ada.posts(town.forum, "A new roof", "Copper would be nice.")
    await town.ear.hears(MessageReceived)
    town.fake.removes_channel(first.channel)
    assert (await town.ear.hears(ChannelRemoved)).location == Location(
        "discord", town.guild.id, town.forum.id, first.channel.id
    )
    town.fake.removes_channel(town.square)
    assert (await town.ear.hears(ChannelRemoved, 2)).location == Location("discord", town.guild.id, town.square.id)


async def test_whatever_changes_who_can_read_is_told_and_nothing_else(town: Town) -> None:
    crew = town.fake.role(town.guild, "crew", Permission.VIEW_CHANNEL)
    of_square, of_any = Location("discord", town.guild.id, town.square.id), Location("discord", town.guild.id, "")
    town.fake.overwrites(town.square, town.bob, deny=Permission.VIEW_CHANNEL)
    assert (await town.ear.hears(VisibilityChanged)).location == of_square
    town.fake.gives(town.bob, crew)
    assert (await town.ear.hears(VisibilityChanged, 2)).location == of_any
    town.fake.changes_role(town.guild, crew, Permission.ADMINISTRATOR)
    assert (await town.ear.hears(VisibilityChanged, 3)).location == of_any
    town.fake.restricts_age(town.square)
    assert (await town.ear.hears(VisibilityChanged, 4)).location == of_square
    town.fake.removes(town.bob)
    assert (await town.ear.hears(VisibilityChanged, 5)).location == of_any


async def test_coming_into_a_server_and_being_put_out_of_it(town: Town) -> None:
    other = town.fake.guild("Lighthouse")
    assert (await town.ear.hears(WorkspaceJoined)).location.workspace == other.id
    town.fake.outage(other)
    town.fake.recovers(other)
    town.fake.removes(town.fake.bot(other))
    assert (await town.ear.hears(WorkspaceLeft)).workspace == other.id
    assert len(town.ear.all(WorkspaceLeft)) == 1


async def test_every_connection_asks_to_catch_up_and_every_sign_of_life_counts(town: Town) -> None:
    assert (len(town.ear.platforms), town.ear.caught_up) == (1, 1)
    assert town.ear.signs > 0
