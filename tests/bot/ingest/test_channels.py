"""Channel membership: announced once, indexed where allowed, forgotten on leaving, moved when the audience changes."""

from __future__ import annotations

import asyncio

import pytest

from bot.errors import PermissionDenied, PlatformError
from bot.platform.events import BotAdded, ChannelRemoved, VisibilityChanged, WorkspaceLeft
from bot.platform.models import Location
from tests.support.bot_fixture import BotFixture, with_settings
from tests.support.builders import HALL, ROOF
from tests.support.fake_platform import FakePlatform

ONE = {"window:m1": ["Ada: One."]}


@pytest.fixture
async def both(bot: BotFixture, roof: Location, hall: Location) -> list[Location]:
    """Two channels with one message each."""
    for place, text in ((roof, "One."), (hall, "Two.")):
        await bot.post(place, "ada", text)
    return [roof, hall]


async def test_nothing_stays_of_a_channel_that_the_bot_was_removed_from(bot: BotFixture, both: list[Location]) -> None:
    await bot.ingest_service.handle(ChannelRemoved(ROOF))
    assert [await bot.document_texts(place) for place in both] == [{}, {"window:m2": ["Ada: Two."]}]
    assert await bot.store.channels.list_joined("slack", "T1") == [HALL]


@with_settings(platform=FakePlatform("discord", "G1"))
async def test_where_the_bot_sees_everything_only_channels_that_were_turned_on_are_indexed(
    bot: BotFixture, roof: Location
) -> None:
    await bot.post(roof, "ada", "One.")
    assert (await bot.document_texts(roof), bot.platform.posts) == ({}, [])
    await bot.save_settings(roof, ingest=True)
    await bot.ingest_service.handle(BotAdded(roof))
    await bot.post(roof, "ada", "Two.")
    assert (await bot.document_texts(roof), len(bot.platform.posts)) == ({"window:m2": ["Ada: Two."]}, 1)


async def test_a_channel_is_told_once_what_the_bot_does(bot: BotFixture, roof: Location) -> None:
    await bot.ingest_service.handle(BotAdded(roof))
    await bot.post(roof, "ada", "One.")
    [(place, card)] = bot.platform.posts
    assert place == roof
    assert "90 days" in card.text


@pytest.mark.parametrize(
    ("kind", "may_post", "documents", "posts"),
    [("open", True, ONE, 1), ("open", False, {}, 0), ("direct", True, {}, 0)],
    ids=["joined unnoticed", "the bot may not post", "a direct message"],
)
async def test_a_channel_is_indexed_from_its_first_message_on_if_it_can_be_told_so(
    bot: BotFixture, kind: str, documents: dict[str, list[str]], posts: int, *, may_post: bool
) -> None:
    place = bot.platform.add_channel("ROOF", "ada", kind=kind)  # type: ignore[arg-type]
    if not may_post:
        bot.platform.failing["post"] = PermissionDenied("not in channel")
        await bot.ingest_service.handle(BotAdded(place))
    await bot.post(place, "ada", "One.", after=1.0)
    assert (await bot.document_texts(place), len(bot.platform.posts)) == (documents, posts)
    assert bot.platform.calls.count("post") == (1 if kind == "open" else 0)


@pytest.mark.parametrize(
    ("place", "error", "spaces"),
    [
        pytest.param(ROOF, None, ["slack:T1:ROOF", "slack:T1:open"], id="a channel turns private"),
        pytest.param(ROOF, PermissionDenied("no"), ["slack:T1:ROOF", "slack:T1:open"], id="an unknown audience"),
        pytest.param(FakePlatform().place(""), None, ["slack:T1:ROOF", "slack:T1:HALL"], id="a workspace changes"),
    ],
)
async def test_documents_move_with_their_audience(
    bot: BotFixture, both: list[Location], place: Location, error: Exception | None, spaces: list[str]
) -> None:
    for channel in ("ROOF", "HALL"):
        bot.platform.change_channel(channel, kind="closed")
    if error:
        bot.platform.failing["channel"] = error
    await bot.ingest_service.handle(VisibilityChanged(place))
    assert [space for location in both for space in await bot.spaces(location)] == spaces
    bot.platform.failing.clear()
    await bot.post(ROOF, "ada", "Later.", after=3600)
    assert set(await bot.spaces(ROOF)) == {"slack:T1:ROOF"}


async def test_a_change_that_cannot_be_looked_up_now_is_tried_again(bot: BotFixture, roof: Location) -> None:
    bot.platform.failing["channel"] = PlatformError("busy")
    with pytest.raises(PlatformError):
        await bot.ingest_service.handle(VisibilityChanged(roof))


@pytest.mark.parametrize(
    ("bot", "deleted"),
    [({"delete_data_on_uninstall": False}, False), ({"delete_data_on_uninstall": True}, True)],
    indirect=["bot"],
)
async def test_data_of_a_workspace_that_removed_the_bot_is_deleted_if_that_is_set(
    bot: BotFixture, both: list[Location], *, deleted: bool
) -> None:
    async with bot.ingest_service._documents.lock(ROOF.room):
        leaving = asyncio.create_task(bot.ingest_service.handle(WorkspaceLeft("slack", "T1", "app_uninstalled")))
        await asyncio.sleep(0.05)
        assert await bot.document_texts(ROOF) == ONE, "another task works on this channel"
    await leaving
    assert await bot.document_texts(ROOF) == ({} if deleted else ONE)
    assert await bot.store.channels.list_joined("slack") == ([] if deleted else [HALL, ROOF])
