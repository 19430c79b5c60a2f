"""The past: back-fill on joining, resumable, newest first."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bot.errors import PlatformError, Withheld
from bot.ingest.sync.backfill import LONGEST
from bot.platform.events import Joined
from bot.store import ChannelSettings
from tests.support.fake_platform import FakePlatform
from tests.support.household import household

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.platform.models import Place
    from tests.support.household import Household


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Household]:
    async with household(tmp_path / "home", FakePlatform()) as opened:
        yield opened


def _talk(platform: FakePlatform, runs: int = 4) -> Place:
    """So many runs of three messages, an hour apart, the second message of each with a thread of one reply."""
    place = platform.open("ROOF", "ada", "bob")
    for run in range(runs):
        platform.say(place, "ada", f"Run {run} begins.", after=3600)
        root = platform.say(place, "bob", f"Question {run}?")
        platform.say(place, "ada", f"Run {run} ends.")
        platform.say(replace(place, thread=root.id), "ada", f"Answer {run}.")
    return place


WHOLE = {
    **{f"window:m{1 + 4 * n}": [f"Ada: Run {n} begins.", f"Ada: Run {n} ends."] for n in range(4)},
    **{f"thread:m{2 + 4 * n}": [f"Bob: Question {n}?", f"Ada: Answer {n}."] for n in range(4)},
}


async def test_what_was_said_before_is_taken_in_on_joining(home: Household) -> None:
    place = _talk(home.platform)
    await home.listening.take(Joined(place))
    await home.listening.past()
    assert await home.texts(place) == WHOLE
    assert not any(each.open for each in await home.documents(place))
    assert await home.house.store.cursors.of(place.room) is None


@pytest.mark.parametrize("page", [1, 2, 3, 4, 5, 7])
async def test_documents_do_not_depend_on_where_pages_end(home: Household, page: int) -> None:
    home.platform.page = page
    place = _talk(home.platform)
    await home.listening.take(Joined(place))
    await home.listening.past()
    assert await home.texts(place) == WHOLE


@pytest.mark.parametrize("pages", [0, 1, 2, 3])
async def test_a_back_fill_that_was_interrupted_goes_on_where_it_stopped(tmp_path: Path, pages: int) -> None:
    platform = FakePlatform()
    platform.page = 3
    place = _talk(platform)
    async with household(tmp_path / "home", platform) as home:
        await home.listening.take(Joined(place))
        platform.fail_after("page", pages, PlatformError("busy"))
        await home.listening.past()
        assert await home.texts(place) != WHOLE
        before = await home.house.store.cursors.of(place.room)
    platform.failing.clear()
    async with household(tmp_path / "home", platform) as home:
        later = time.time() + LONGEST
        while await home.listening._past.fill(later):
            pass
        assert await home.texts(place) == WHOLE
    assert before is not None


async def test_a_back_fill_leaves_alone_what_is_known_already(home: Household) -> None:
    place = await home.joined("ROOF", "ada")
    await home.say(place, "ada", "One.")
    said = await home.say(place, "ada", "Two.")
    await home.edit(said, "Three.")
    await home.listening.backfill(place, 90)
    await home.listening.past()
    assert await home.texts(place) == {"window:m1": ["Ada: One.", "Ada: Three."]}


async def test_nothing_older_than_asked_for_is_taken_in(tmp_path: Path) -> None:
    for days, expected in ((0, []), (1, []), (9, ["m1"])):
        async with household(tmp_path / str(days), FakePlatform(), backfill_days=days) as home:
            home.platform.say(home.platform.open("ROOF", "ada"), "ada", "Five days ago.")
            home.platform.say(home.platform.open("HALL", "ada"), "ada", "Now.", after=5 * 86400)
            place = await home.joined("ROOF", "ada")
            assert list(await home.texts(place)) == [f"window:{each}" for each in expected]


async def test_the_rules_of_listening_hold_for_the_past(home: Household) -> None:
    place = home.platform.open("ROOF", "ada", "bob", "robot")
    await home.house.store.people.opt_out("slack", "T1", "bob")
    told: list[tuple[str, dict[str, Any]]] = [
        ("ada", {}),
        ("bob", {}),
        ("robot", {"by_bot": True}),
        ("ada", {"addressed": True}),
        ("ada", {"own": True}),
    ]
    for author, facts in told:
        said = home.platform.say(place, author, "Hello.")
        home.platform.messages[-1] = replace(said, **facts)
    await home.listening.take(Joined(place))
    await home.listening.past()
    assert await home.texts(place) == {"window:m1": ["Ada: Hello."]}


async def test_files_of_the_past_are_taken_in_without_a_word(home: Household) -> None:
    place = home.platform.open("ROOF", "ada")
    good = home.platform.upload("tiles.txt", b"The tiles come on Monday.")
    bad = home.platform.upload("tiles.exe", b"\x7fELF")
    home.platform.say(place, "ada", "Here.", uploads=[good, bad])
    await home.listening.take(Joined(place))
    await home.listening.past()
    assert list((await home.texts(place)).values()) == [["The tiles come on Monday."], ["Ada: Here."]]
    assert (home.platform.signs, home.platform.whispers) == ({}, [])


async def test_a_back_fill_ends_where_it_is_refused_and_where_it_was_switched_off(home: Household) -> None:
    place = _talk(home.platform)
    home.platform.failing["history"] = Withheld("no")
    await home.listening.take(Joined(place))
    await home.listening.past()
    assert await home.house.store.cursors.of(place.room) is None
    home.platform.failing.clear()
    await home.listening.backfill(place, 90)
    await home.house.store.channels.put(place.room, ChannelSettings(ingest=False))
    await home.listening.past()
    assert await home.texts(place) == {}
    assert await home.house.store.cursors.of(place.room) is None


async def test_a_channel_that_cannot_be_read_keeps_no_other_one_waiting(home: Household) -> None:
    talk, hall = _talk(home.platform), home.platform.open("HALL", "ada")
    home.platform.say(hall, "ada", "One.")
    await home.listening.take(Joined(talk))
    await home.listening.take(Joined(hall))
    home.platform.fail_after("page", 0, RuntimeError("a bug"))
    await home.listening._past.fill()
    home.platform.failing.clear()
    await home.listening.past()
    assert (await home.texts(hall), len(await home.texts(talk))) == ({}, 8)


async def test_nothing_of_the_past_is_read_where_the_bot_may_not_read(home: Household) -> None:
    place = _talk(home.platform)
    await home.house.store.channels.put(place.room, ChannelSettings(ingest=False))
    with pytest.raises(Withheld):
        await home.listening.backfill(place, 90)
