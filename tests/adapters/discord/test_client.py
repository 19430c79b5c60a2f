from __future__ import annotations

from collections.abc import Callable

from bot.platform.events import (
    ChannelRemoved,
    MessageEdited,
    MessageReceived,
    MessagesDeleted,
    VisibilityChanged,
    WorkspaceJoined,
    WorkspaceLeft,
    message_event_key,
)
from bot.platform.models import Card, Location
from tests.adapters.discord.conftest import Town
from tests.support.discord_server import File, Permission


async def test_a_message_has_its_author_location_and_files(town: Town) -> None:
    posted = await town.ada.says(town.square, "The roof leaks.", files=[File("plan.txt", b"plan", "text/plain")])
    received = (await town.bot.wait_for(MessageReceived)).message
    assert (received.id, received.text, received.author) == (posted.id, "The roof leaks.", town.ada.id)
    assert received.location == town.location(town.square)
    assert [(upload.name, upload.size, upload.kind) for upload in received.uploads] == [("plan.txt", 4, "text/plain")]
    assert message_event_key(received) in town.bot.keys
    assert message_event_key(received).startswith("discord:message:")


async def test_people_address_the_bot_by_mentions_replies_and_direct_messages(town: Town) -> None:
    question = f"{town.mention} where is the key?"
    robot = town.fake.member(town.guild, "Robot", bot=True)
    [role] = [role for role in town.guild.roles.values() if role.managed]
    answer = await town.platform.post(town.location(town.square), Card("Under the mat."))
    await town.ada.says(town.square, "Good morning")
    await town.ada.says(town.square, question)
    await town.bob.says(town.square, "and then?", reply_to=town.square.messages[answer])
    await town.bob.says(town.square, f"<@&{role.id}> hello?")
    await town.bob.dms("psst")
    await robot.says(town.square, question)
    town.fake.webhook_says(town.square, "Ticker", question)
    await town.bot.wait_for(MessageReceived, 7)
    received = [(event.addressed, event.message.by_bot) for event in town.bot.all(MessageReceived)]
    assert received == [(False, False), *[(True, False)] * 4, *[(False, True)] * 2]
    assert town.bot.all(MessageReceived)[4].message.location.workspace == ""


async def test_messages_of_the_bot_itself_and_of_discord_are_left_out(town: Town) -> None:
    await town.platform.post(town.location(town.square), Card("Good morning"))
    await town.ada.opens_thread(await town.ada.says(town.square, "about the roof"), "Roof")
    await town.ada.says(town.square, "hello")
    await town.bot.wait_for(MessageReceived, 2)
    assert [event.message.text for event in town.bot.all(MessageReceived)] == ["about the roof", "hello"]


async def test_edits_and_deletions_are_reported(town: Town) -> None:
    one, two, three = [await town.ada.says(town.square, text) for text in ("one", "two", "three")]
    await town.ada.edits(one, "uno")
    assert (await town.bot.wait_for(MessageEdited)).message.text == "uno"
    await town.ada.deletes(one)
    assert (await town.bot.wait_for(MessagesDeleted)).ids == (one.id,)
    await town.fake.bot(town.guild).purges([two, three])
    assert (await town.bot.wait_for(MessagesDeleted, 2)).ids == (two.id, three.id)


async def test_a_thread_belongs_to_its_channel_also_once_it_is_archived(town: Town) -> None:
    thread = await town.ada.opens_thread(await town.ada.says(town.square, "about the roof"), "Roof")
    posted = await town.bob.says(thread, "it leaks")
    location = town.location(town.square, thread.id)
    assert (await town.bot.wait_for(MessageReceived, 2)).message.location == location
    town.fake.archives(thread)
    await town.bob.deletes(posted)
    assert (await town.bot.wait_for(MessagesDeleted)).location == location


async def test_a_private_thread_is_a_channel_of_its_own(town: Town) -> None:
    thread = await town.ada.opens_thread(town.square, "Secrets", private=True)
    await town.ada.adds(thread, town.fake.bot(town.guild))
    await town.ada.says(thread, "psst")
    assert (await town.bot.wait_for(MessageReceived)).message.location == town.location(thread, thread.id)
    await town.ada.removes_from_thread(thread, town.ada)
    assert (await town.bot.wait_for(VisibilityChanged)).location == town.location(thread)


async def test_a_post_in_a_forum_has_its_title_and_another_title_is_an_edit(town: Town) -> None:
    first = await town.ada.posts(town.forum, "A new roof", "Copper would be nice.")
    received = (await town.bot.wait_for(MessageReceived)).message
    assert (received.title, received.text) == ("A new roof", "Copper would be nice.")
    assert received.location == town.location(town.forum, first.channel.id)
    town.fake.renames(first.channel, "A copper roof")
    assert (await town.bot.wait_for(MessageEdited)).message.title == "A copper roof"


async def test_deleted_threads_and_channels_are_removed(town: Town) -> None:
    first = await town.ada.posts(town.forum, "A new roof", "Copper would be nice.")
    await town.bot.wait_for(MessageReceived)
    town.fake.removes_channel(first.channel)
    assert (await town.bot.wait_for(ChannelRemoved)).location == town.location(town.forum, first.channel.id)
    town.fake.removes_channel(town.square)
    assert (await town.bot.wait_for(ChannelRemoved, 2)).location == town.location(town.square)


async def test_each_change_of_the_audience_is_reported_and_nothing_else(town: Town) -> None:
    crew = town.fake.role(town.guild, "crew", Permission.VIEW_CHANNEL)
    one, all_ = town.location(town.square), town.location()
    changes: list[tuple[Callable[[], None], Location]] = [
        (lambda: town.fake.overwrites(town.square, town.bob, deny=Permission.VIEW_CHANNEL), one),
        (lambda: town.fake.gives(town.bob, crew), all_),
        (lambda: town.fake.changes_role(town.guild, crew, Permission.ADMINISTRATOR), all_),
        (lambda: town.fake.restricts_age(town.square), one),
        (lambda: town.fake.removes(town.bob), all_),
    ]
    for count, (change, location) in enumerate(changes, 1):
        change()
        assert (await town.bot.wait_for(VisibilityChanged, count)).location == location
    assert len(town.bot.events) == 5


async def test_joining_and_leaving_a_server_differ_from_its_outage(town: Town) -> None:
    other = town.fake.guild("Lighthouse")
    assert (await town.bot.wait_for(WorkspaceJoined)).location.workspace == other.id
    town.fake.outage(other)
    town.fake.recovers(other)
    town.fake.removes(town.fake.bot(other))
    assert (await town.bot.wait_for(WorkspaceLeft)).workspace == other.id
    assert len(town.bot.all(WorkspaceLeft)) == 1
