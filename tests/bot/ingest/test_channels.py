"""Being in channels: told once, read where wanted, forgotten on leaving, moved when other people read there."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.errors import PermissionDenied, PlatformError
from bot.platform.events import BotAdded, ChannelRemoved, VisibilityChanged, WorkspaceLeft
from bot.store import ChannelSettings
from tests.support.bot_fixture import open_bot_fixture
from tests.support.fake_platform import FakePlatform

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.bot_fixture import BotFixture


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[BotFixture]:
    async with open_bot_fixture(tmp_path / "home") as opened:
        yield opened


async def test_a_deleted_thread_goes_as_a_whole(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    root = await home.post(roof, "ada", "One.")
    thread = replace(roof, thread=root.id)
    reply = await home.post(thread, "ada", "Two.")
    await home.post(roof, "ada", "Three.")
    await home.ingest_service.handle(ChannelRemoved(thread))
    await home.receive(reply)
    assert await home.document_texts(roof) == {"window:m3": ["Ada: Three."]}


async def test_nothing_stays_of_a_channel_that_the_bot_was_put_out_of(home: BotFixture) -> None:
    roof, hall = await home.join_channel("ROOF", "ada"), await home.join_channel("HALL", "ada")
    await home.post(roof, "ada", "One.")
    await home.post(hall, "ada", "Two.")
    await home.ingest_service.handle(ChannelRemoved(roof))
    assert (await home.document_texts(roof), await home.document_texts(hall)) == ({}, {"window:m2": ["Ada: Two."]})
    assert await home.context.store.channels.list_joined("slack", "T1") == [hall]


async def test_where_the_bot_sees_everything_only_channels_that_were_switched_on_are_read(tmp_path: Path) -> None:
    async with open_bot_fixture(tmp_path / "home", FakePlatform("discord", "G1")) as home:
        roof = await home.join_channel("ROOF", "ada")
        await home.post(roof, "ada", "One.")
        assert (await home.document_texts(roof), home.platform.posts) == ({}, [])
        await home.context.store.channel_settings.save(roof.room, ChannelSettings(ingest=True))
        await home.ingest_service.handle(BotAdded(roof, "ada"))
        await home.post(roof, "ada", "Two.")
        assert (await home.document_texts(roof), len(home.platform.posts)) == ({"window:m2": ["Ada: Two."]}, 1)


async def test_a_channel_is_told_once_what_the_bot_does(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    await home.ingest_service.handle(BotAdded(roof))
    await home.post(roof, "ada", "One.")
    [(place, card)] = home.platform.posts
    assert place == roof
    assert "90 days" in card.text


async def test_being_taken_in_unnoticed_is_made_up_for_at_the_first_message(home: BotFixture) -> None:
    roof = home.platform.add_channel("ROOF", "ada")
    await home.post(roof, "ada", "One.")
    assert await home.document_texts(roof) == {"window:m1": ["Ada: One."]}
    assert len(home.platform.posts) == 1


async def test_where_the_bot_may_not_speak_it_does_not_read(home: BotFixture) -> None:
    home.platform.failing["post"] = PermissionDenied("not in channel")
    roof = await home.join_channel("ROOF", "ada")
    await home.post(roof, "ada", "One.")
    assert await home.document_texts(roof) == {}
    assert home.platform.calls.count("post") == 1


async def test_direct_messages_are_not_indexed(home: BotFixture) -> None:
    direct = home.platform.add_channel("D1", "ada", kind="direct")
    await home.post(direct, "ada", "Between us.")
    assert (await home.document_texts(direct), home.platform.posts) == ({}, [])


async def test_a_channel_that_turns_private_takes_its_documents_along(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    await home.post(roof, "ada", "One.")
    home.platform.change_channel("ROOF", kind="closed")
    await home.ingest_service.handle(VisibilityChanged(roof))
    assert [each.space for each in await home.list_documents(roof)] == ["slack:T1:ROOF"]
    await home.post(roof, "ada", "Two.", after=3600)
    assert {each.space for each in await home.list_documents(roof)} == {"slack:T1:ROOF"}


async def test_a_change_in_the_workspace_concerns_all_its_channels(home: BotFixture) -> None:
    roof, hall = await home.join_channel("ROOF", "ada"), await home.join_channel("HALL", "ada")
    await home.post(roof, "ada", "One.")
    await home.post(hall, "ada", "Two.")
    for channel in ("ROOF", "HALL"):
        home.platform.change_channel(channel, kind="closed")
    await home.ingest_service.handle(VisibilityChanged(home.platform.place("")))
    assert [each.space for place in (roof, hall) for each in await home.list_documents(place)] == [roof.room, hall.room]


async def test_a_channel_of_which_nobody_says_who_reads_it_is_closed(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    await home.post(roof, "ada", "One.")
    home.platform.failing["channel"] = PermissionDenied("no")
    await home.ingest_service.handle(VisibilityChanged(roof))
    assert [each.space for each in await home.list_documents(roof)] == [roof.room]


async def test_a_change_that_cannot_be_looked_up_now_is_tried_again(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    home.platform.failing["channel"] = PlatformError("busy")
    with pytest.raises(PlatformError):
        await home.ingest_service.handle(VisibilityChanged(roof))


async def test_data_stays_when_the_bot_leaves_a_workspace_unless_it_is_to_go(tmp_path: Path) -> None:
    for purge in (False, True):
        async with open_bot_fixture(tmp_path / str(purge), delete_data_on_uninstall=purge) as home:
            roof = await home.join_channel("ROOF", "ada")
            await home.post(roof, "ada", "One.")
            await home.ingest_service.handle(WorkspaceLeft("slack", "T1", "app_uninstalled"))
            assert len(await home.list_documents(roof)) == (0 if purge else 1)
            assert await home.context.store.channels.list_joined("slack") == ([] if purge else [roof])


async def test_a_workspace_is_purged_of_each_channel_once_nobody_else_is_busy_with_it(tmp_path: Path) -> None:
    async with open_bot_fixture(tmp_path / "home", delete_data_on_uninstall=True) as home:
        roof = await home.join_channel("ROOF", "ada")
        await home.post(roof, "ada", "One.")
        async with home.ingest_service._documents.lock(roof.room):
            ending = asyncio.create_task(home.ingest_service.handle(WorkspaceLeft("slack", "T1", "app_uninstalled")))
            await asyncio.sleep(0.05)
            assert len(await home.list_documents(roof)) == 1
        await ending
        assert await home.list_documents(roof) == []
