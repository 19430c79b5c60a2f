"""Being in channels: told once, read where wanted, forgotten on leaving, moved when other people read there."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.errors import PlatformError, Withheld
from bot.platform.events import Changed, Ended, Gone, Joined
from bot.store import ChannelSettings
from tests.support.fake_platform import FakePlatform
from tests.support.household import household

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.household import Household


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Household]:
    async with household(tmp_path / "home") as opened:
        yield opened


async def test_a_deleted_thread_goes_as_a_whole(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    root = await home.say(roof, "ada", "One.")
    thread = replace(roof, thread=root.id)
    reply = await home.say(thread, "ada", "Two.")
    await home.say(roof, "ada", "Three.")
    await home.listening.take(Gone(thread))
    await home.hear(reply)
    assert await home.texts(roof) == {"window:m3": ["Ada: Three."]}


async def test_nothing_stays_of_a_channel_that_the_bot_was_put_out_of(home: Household) -> None:
    roof, hall = await home.joined("ROOF", "ada"), await home.joined("HALL", "ada")
    await home.say(roof, "ada", "One.")
    await home.say(hall, "ada", "Two.")
    await home.listening.take(Gone(roof))
    assert (await home.texts(roof), await home.texts(hall)) == ({}, {"window:m2": ["Ada: Two."]})
    assert await home.house.store.rooms.known("slack", "T1") == [hall]


async def test_where_the_bot_sees_everything_only_channels_that_were_switched_on_are_read(tmp_path: Path) -> None:
    async with household(tmp_path / "home", FakePlatform("discord", "G1")) as home:
        roof = await home.joined("ROOF", "ada")
        await home.say(roof, "ada", "One.")
        assert (await home.texts(roof), home.platform.posts) == ({}, [])
        await home.house.store.channels.put(roof.room, ChannelSettings(ingest=True))
        await home.listening.take(Joined(roof, "ada"))
        await home.say(roof, "ada", "Two.")
        assert (await home.texts(roof), len(home.platform.posts)) == ({"window:m2": ["Ada: Two."]}, 1)


async def test_a_channel_is_told_once_what_the_bot_does(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    await home.listening.take(Joined(roof))
    await home.say(roof, "ada", "One.")
    [(place, card)] = home.platform.posts
    assert place == roof
    assert "90 days" in card.text


async def test_being_taken_in_unnoticed_is_made_up_for_at_the_first_message(home: Household) -> None:
    roof = home.platform.open("ROOF", "ada")
    await home.say(roof, "ada", "One.")
    assert await home.texts(roof) == {"window:m1": ["Ada: One."]}
    assert len(home.platform.posts) == 1


async def test_where_the_bot_may_not_speak_it_does_not_read(home: Household) -> None:
    home.platform.failing["post"] = Withheld("not in channel")
    roof = await home.joined("ROOF", "ada")
    await home.say(roof, "ada", "One.")
    assert await home.texts(roof) == {}
    assert home.platform.calls.count("post") == 1


async def test_direct_messages_are_not_indexed(home: Household) -> None:
    direct = home.platform.open("D1", "ada", kind="direct")
    await home.say(direct, "ada", "Between us.")
    assert (await home.texts(direct), home.platform.posts) == ({}, [])


async def test_a_channel_that_turns_private_takes_its_documents_along(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    await home.say(roof, "ada", "One.")
    home.platform.change("ROOF", kind="closed")
    await home.listening.take(Changed(roof))
    assert [each.space for each in await home.documents(roof)] == ["slack:T1:ROOF"]
    await home.say(roof, "ada", "Two.", after=3600)
    assert {each.space for each in await home.documents(roof)} == {"slack:T1:ROOF"}


async def test_a_change_in_the_workspace_concerns_all_its_channels(home: Household) -> None:
    roof, hall = await home.joined("ROOF", "ada"), await home.joined("HALL", "ada")
    await home.say(roof, "ada", "One.")
    await home.say(hall, "ada", "Two.")
    for channel in ("ROOF", "HALL"):
        home.platform.change(channel, kind="closed")
    await home.listening.take(Changed(home.platform.place("")))
    assert [each.space for place in (roof, hall) for each in await home.documents(place)] == [roof.room, hall.room]


async def test_a_channel_of_which_nobody_says_who_reads_it_is_closed(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    await home.say(roof, "ada", "One.")
    home.platform.failing["channel"] = Withheld("no")
    await home.listening.take(Changed(roof))
    assert [each.space for each in await home.documents(roof)] == [roof.room]


async def test_a_change_that_cannot_be_looked_up_now_is_tried_again(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    home.platform.failing["channel"] = PlatformError("busy")
    with pytest.raises(PlatformError):
        await home.listening.take(Changed(roof))


async def test_data_stays_when_the_bot_leaves_a_workspace_unless_it_is_to_go(tmp_path: Path) -> None:
    for purge in (False, True):
        async with household(tmp_path / str(purge), purge_when_removed=purge) as home:
            roof = await home.joined("ROOF", "ada")
            await home.say(roof, "ada", "One.")
            await home.listening.take(Ended("slack", "T1", "app_uninstalled"))
            assert len(await home.documents(roof)) == (0 if purge else 1)
            assert await home.house.store.rooms.known("slack") == ([] if purge else [roof])


async def test_a_workspace_is_purged_of_each_channel_once_nobody_else_is_busy_with_it(tmp_path: Path) -> None:
    async with household(tmp_path / "home", purge_when_removed=True) as home:
        roof = await home.joined("ROOF", "ada")
        await home.say(roof, "ada", "One.")
        async with home.listening._shelf.alone(roof.room):
            ending = asyncio.create_task(home.listening.take(Ended("slack", "T1", "app_uninstalled")))
            await asyncio.sleep(0.05)
            assert len(await home.documents(roof)) == 1
        await ending
        assert await home.documents(roof) == []
