"""Threads, forum posts and DMs of the fake, as the vendor's client meets them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import discord
import pytest

from tests.support.discord_server import ChannelType, FakeDiscord, Permission
from tests.support.discord_server.api_caller import open_caller
from tests.support.discord_server.model import MessageType
from tests.support.discord_server.recording_client import open_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def fake() -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as fake:
        fake.rates.rules.clear()
        yield fake


async def test_a_thread_bears_the_id_of_the_message_it_began_with(fake: FakeDiscord) -> None:
    club = fake.guild("Maker Club")
    shop, ada = fake.channel(club, "workshop"), fake.member(club, "Ada")
    async with open_client(fake) as client:
        question = await ada.says(shop, "When is open night?")
        (message,) = await client.wait_for_event("message")
        thread = await message.create_thread(name="Open night", auto_archive_duration=1440)
        assert thread.id == message.id
        await thread.send("On Thursday.")
        with pytest.raises(discord.HTTPException) as refused:
            await message.create_thread(name="again")
        assert refused.value.code == 160004
        with pytest.raises(discord.HTTPException) as refused:
            await message.create_thread(name="x" * 101)
        assert refused.value.code == 50035
        kinds = [one.kind for one in fake.world.channels[str(thread.id)].messages.values()]
        assert kinds == [MessageType.THREAD_STARTER, MessageType.DEFAULT]
        assert question.thread is fake.world.channels[str(thread.id)]
        edits = [args[0] for name, args in client.events if name == "raw_message_edit"]
        assert [edit.message.edited_at for edit in edits] == [None]


async def test_thread_events_reach_parent_viewers_or_private_members(
    fake: FakeDiscord,
) -> None:
    club = fake.guild("Maker Club")
    shop = fake.channel(club, "workshop")
    ada, bob = fake.member(club, "Ada"), fake.member(club, "Bob")
    async with open_client(fake) as client:
        public = await ada.opens_thread(await ada.says(shop, "topic"), "public")
        await client.wait_for_event("thread_create")
        private = await ada.opens_thread(shop, "private", private=True)
        await ada.says(private, "between us")
        await ada.says(public, "for all")
        await client.wait_for_event("message", 3)
        assert [args[0].content for name, args in client.events if name == "message"] == ["topic", "", "for all"]
        assert fake.sees(bob, private).hidden
        assert not fake.sees(bob, public).hidden
        await ada.adds(private, fake.bot(club))
        await client.wait_for_event("thread_join")
        thread: Any = client.get_channel(int(private.id))
        assert {member.id for member in await thread.fetch_members()} == {int(ada.id), int(fake.world.app.id)}
        await ada.adds(private, bob)
        await client.wait_for_event("thread_member_join")
        assert not fake.sees(bob, private).hidden
        await ada.removes_from_thread(private, bob)
        (event,) = await client.wait_for_event("raw_thread_member_remove")
        assert event.thread_id == int(private.id)
        assert fake.sees(bob, private).hidden


async def test_an_archived_thread_takes_no_edits_and_wakes_when_somebody_speaks(fake: FakeDiscord) -> None:
    club = fake.guild("Maker Club")
    shop, ada = fake.channel(club, "workshop"), fake.member(club, "Ada")
    thread = await ada.opens_thread(await ada.says(shop, "topic"), "topic")
    async with open_caller(fake) as call:
        path = f"/channels/{thread.id}/messages"
        mine = await call("POST", path, {"content": "hello"})
        fake.archives(thread)
        assert await call.code("PATCH", f"{path}/{mine['id']}", {"content": "x"}) == 50083
        assert await call.code("PUT", f"{path}/{mine['id']}/reactions/✅/@me") == 50083
        assert await call.code("POST", path, {"content": "awake"}) == 0
        assert thread.thread is not None
        assert not thread.thread.archived
        fake.archives(thread, locked=True)
        assert await call.code("POST", path, {"content": "locked"}) == 50083


async def test_archived_threads_are_listed_separately(fake: FakeDiscord) -> None:
    club = fake.guild(
        "Maker Club", bot=Permission.MANAGE_THREADS | Permission.VIEW_CHANNEL | Permission.READ_MESSAGE_HISTORY
    )
    shop, ada = fake.channel(club, "workshop"), fake.member(club, "Ada")
    asleep = [await ada.opens_thread(await ada.says(shop, str(at)), f"t{at}") for at in range(3)]
    awake = await ada.opens_thread(shop, "awake")
    private = await ada.opens_thread(shop, "private", private=True)
    for thread in [*asleep, private]:
        fake.clock.advance(60)
        fake.archives(thread)
    async with open_client(fake) as client:
        channel: Any = client.get_channel(int(shop.id))
        assert [thread.name async for thread in channel.archived_threads()] == ["t2", "t1", "t0"]
        assert [thread.name async for thread in channel.archived_threads(private=True)] == ["private"]
        assert [thread.name for thread in await client.guilds[0].active_threads()] == [awake.name]
        assert [thread.name for thread in channel.threads] == [awake.name]
    fake.changes_role(club, next(role for role in club.roles.values() if role.managed), Permission.VIEW_CHANNEL)
    async with open_caller(fake) as call:
        assert await call.code("GET", f"/channels/{shop.id}/threads/archived/private") == 50013


async def test_a_forum_post_is_a_thread_whose_first_message_has_its_id(fake: FakeDiscord) -> None:
    club = fake.guild("Maker Club")
    ideas, ada = fake.channel(club, "ideas", "forum"), fake.member(club, "Ada")
    async with open_client(fake) as client:
        post = await ada.posts(ideas, "A kiln", "Shall we buy one?")
        (thread,) = await client.wait_for_event("thread_create")
        assert (thread.name, str(thread.id)) == ("A kiln", post.id)
        (message,) = await client.wait_for_event("message")
        assert (message.id, message.channel.id) == (thread.id, thread.id)
        forum: Any = client.get_channel(int(ideas.id))
        made = await forum.create_thread(name="Mine", content="hello")
        assert made.message.id == made.thread.id
        async with open_caller(fake) as call:
            assert await call.code("POST", f"/channels/{ideas.id}/messages", {"content": "x"}) == 50008


async def test_who_is_named_in_a_thread_joins_it(fake: FakeDiscord) -> None:
    club = fake.guild("Maker Club")
    shop, ada, bob = fake.channel(club, "workshop"), fake.member(club, "Ada"), fake.member(club, "Bob")
    thread = await ada.opens_thread(await ada.says(shop, "topic"), "topic")
    await ada.says(thread, f"{bob.mention} look")
    assert thread.thread is not None
    assert bob.id in thread.thread.members


async def test_thread_deletion_is_reported(fake: FakeDiscord) -> None:
    club = fake.guild("Maker Club", bot=Permission.ADMINISTRATOR)
    shop, ada = fake.channel(club, "workshop"), fake.member(club, "Ada")
    async with open_client(fake) as client:
        thread = await ada.opens_thread(await ada.says(shop, "topic"), "topic")
        (seen,) = await client.wait_for_event("thread_create")
        await seen.delete()
        (event,) = await client.wait_for_event("raw_thread_delete")
        assert event.thread_id == int(thread.id)
        assert thread.deleted


async def test_gaining_access_to_a_channel_brings_its_threads(fake: FakeDiscord) -> None:
    club = fake.guild("Maker Club")
    board, ada = fake.channel(club, "board"), fake.member(club, "Ada")
    fake.overwrites(board, fake.bot(club), deny=Permission.VIEW_CHANNEL)
    await ada.opens_thread(await ada.says(board, "topic"), "topic")
    async with open_client(fake) as client:
        assert list(client.guilds[0].threads) == []
        fake.overwrites(board, fake.bot(club))
        (thread,) = await client.wait_for_event("thread_join")
        assert thread.name == "topic"


async def test_system_messages_for_new_threads_and_added_members(fake: FakeDiscord) -> None:
    club = fake.guild("Maker Club")
    shop, ada, bob = fake.channel(club, "workshop"), fake.member(club, "Ada"), fake.member(club, "Bob")
    older = await ada.says(shop, "older")
    await ada.says(shop, "newest")
    thread = await ada.opens_thread(older, "late")
    assert [one.kind for one in shop.messages.values()] == [
        MessageType.DEFAULT,
        MessageType.DEFAULT,
        MessageType.THREAD_CREATED,
    ]
    await ada.adds(thread, bob)
    assert [one.kind for one in thread.messages.values()] == [MessageType.THREAD_STARTER, MessageType.RECIPIENT_ADD]
    assert thread.kind is ChannelType.PUBLIC_THREAD
