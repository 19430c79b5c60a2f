"""The past: back-fill on joining, resumable, newest first."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bot.errors import PermissionDenied, PlatformError
from bot.ingest.sync.backfill import MAX_RETRY_SECONDS
from bot.platform.events import BotAdded
from bot.store import ChannelSettings
from tests.support.bot_fixture import open_bot_fixture
from tests.support.fake_platform import FakePlatform

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.platform.models import Location
    from tests.support.bot_fixture import BotFixture


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[BotFixture]:
    async with open_bot_fixture(tmp_path / "home", FakePlatform()) as opened:
        yield opened


def _talk(platform: FakePlatform, runs: int = 4) -> Location:
    """So many runs of three messages, an hour apart, the second message of each with a thread of one reply."""
    place = platform.add_channel("ROOF", "ada", "bob")
    for run in range(runs):
        platform.add_message(place, "ada", f"Run {run} begins.", after=3600)
        root = platform.add_message(place, "bob", f"Question {run}?")
        platform.add_message(place, "ada", f"Run {run} ends.")
        platform.add_message(replace(place, thread=root.id), "ada", f"Answer {run}.")
    return place


WHOLE = {
    **{f"window:m{1 + 4 * n}": [f"Ada: Run {n} begins.", f"Ada: Run {n} ends."] for n in range(4)},
    **{f"thread:m{2 + 4 * n}": [f"Bob: Question {n}?", f"Ada: Answer {n}."] for n in range(4)},
}


async def test_what_was_said_before_is_taken_in_on_joining(home: BotFixture) -> None:
    place = _talk(home.platform)
    await home.ingest_service.handle(BotAdded(place))
    await home.ingest_service.run_sync()
    assert await home.document_texts(place) == WHOLE
    assert not any(each.open for each in await home.list_documents(place))
    assert await home.context.store.backfill_cursors.get_position(place.room) is None


@pytest.mark.parametrize("page", [1, 2, 3, 4, 5, 7])
async def test_documents_do_not_depend_on_where_pages_end(home: BotFixture, page: int) -> None:
    home.platform.page_size = page
    place = _talk(home.platform)
    await home.ingest_service.handle(BotAdded(place))
    await home.ingest_service.run_sync()
    assert await home.document_texts(place) == WHOLE


@pytest.mark.parametrize("pages", [0, 1, 2, 3])
async def test_a_back_fill_that_was_interrupted_goes_on_where_it_stopped(tmp_path: Path, pages: int) -> None:
    platform = FakePlatform()
    platform.page_size = 3
    place = _talk(platform)
    async with open_bot_fixture(tmp_path / "home", platform) as home:
        await home.ingest_service.handle(BotAdded(place))
        platform.fail_after("page", pages, PlatformError("busy"))
        await home.ingest_service.run_sync()
        assert await home.document_texts(place) != WHOLE
        before = await home.context.store.backfill_cursors.get_position(place.room)
    platform.failing.clear()
    async with open_bot_fixture(tmp_path / "home", platform) as home:
        later = time.time() + MAX_RETRY_SECONDS
        while await home.ingest_service._backfill.run_due(later):
            pass
        assert await home.document_texts(place) == WHOLE
    assert before is not None


async def test_a_back_fill_leaves_alone_what_is_known_already(home: BotFixture) -> None:
    place = await home.join_channel("ROOF", "ada")
    await home.post(place, "ada", "One.")
    said = await home.post(place, "ada", "Two.")
    await home.edit(said, "Three.")
    await home.ingest_service.start_backfill(place, 90)
    await home.ingest_service.run_sync()
    assert await home.document_texts(place) == {"window:m1": ["Ada: One.", "Ada: Three."]}


async def test_nothing_older_than_asked_for_is_taken_in(tmp_path: Path) -> None:
    for days, expected in ((0, []), (1, []), (9, ["m1"])):
        async with open_bot_fixture(tmp_path / str(days), FakePlatform(), backfill_days=days) as home:
            home.platform.add_message(home.platform.add_channel("ROOF", "ada"), "ada", "Five days ago.")
            home.platform.add_message(home.platform.add_channel("HALL", "ada"), "ada", "Now.", after=5 * 86400)
            place = await home.join_channel("ROOF", "ada")
            assert list(await home.document_texts(place)) == [f"window:{each}" for each in expected]


async def test_the_rules_of_listening_hold_for_the_past(home: BotFixture) -> None:
    place = home.platform.add_channel("ROOF", "ada", "bob", "robot")
    await home.context.store.opt_outs.opt_out("slack", "T1", "bob")
    told: list[tuple[str, dict[str, Any]]] = [
        ("ada", {}),
        ("bob", {}),
        ("robot", {"by_bot": True}),
        ("ada", {"addressed": True}),
        ("ada", {"own": True}),
    ]
    for author, facts in told:
        said = home.platform.add_message(place, author, "Hello.")
        home.platform.messages[-1] = replace(said, **facts)
    await home.ingest_service.handle(BotAdded(place))
    await home.ingest_service.run_sync()
    assert await home.document_texts(place) == {"window:m1": ["Ada: Hello."]}


async def test_files_of_the_past_are_taken_in_without_a_word(home: BotFixture) -> None:
    place = home.platform.add_channel("ROOF", "ada")
    good = home.platform.add_file("tiles.txt", b"The tiles come on Monday.")
    bad = home.platform.add_file("tiles.exe", b"\x7fELF")
    home.platform.add_message(place, "ada", "Here.", uploads=[good, bad])
    await home.ingest_service.handle(BotAdded(place))
    await home.ingest_service.run_sync()
    assert list((await home.document_texts(place)).values()) == [["The tiles come on Monday."], ["Ada: Here."]]
    assert (home.platform.reactions, home.platform.private_messages) == ({}, [])


async def test_a_back_fill_ends_where_it_is_refused_and_where_it_was_switched_off(home: BotFixture) -> None:
    place = _talk(home.platform)
    home.platform.failing["history"] = PermissionDenied("no")
    await home.ingest_service.handle(BotAdded(place))
    await home.ingest_service.run_sync()
    assert await home.context.store.backfill_cursors.get_position(place.room) is None
    home.platform.failing.clear()
    await home.ingest_service.start_backfill(place, 90)
    await home.context.store.channel_settings.save(place.room, ChannelSettings(ingest=False))
    await home.ingest_service.run_sync()
    assert await home.document_texts(place) == {}
    assert await home.context.store.backfill_cursors.get_position(place.room) is None


async def test_a_channel_that_cannot_be_read_keeps_no_other_one_waiting(home: BotFixture) -> None:
    talk, hall = _talk(home.platform), home.platform.add_channel("HALL", "ada")
    home.platform.add_message(hall, "ada", "One.")
    await home.ingest_service.handle(BotAdded(talk))
    await home.ingest_service.handle(BotAdded(hall))
    home.platform.fail_after("page", 0, RuntimeError("a bug"))
    await home.ingest_service._backfill.run_due()
    home.platform.failing.clear()
    await home.ingest_service.run_sync()
    assert (await home.document_texts(hall), len(await home.document_texts(talk))) == ({}, 8)


async def test_nothing_of_the_past_is_read_where_the_bot_may_not_read(home: BotFixture) -> None:
    place = _talk(home.platform)
    await home.context.store.channel_settings.save(place.room, ChannelSettings(ingest=False))
    with pytest.raises(PermissionDenied):
        await home.ingest_service.start_backfill(place, 90)
