"""The past: back-fill on joining, resumable, newest first; and catching up after the bot was away."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bot.errors import NotThere, PlatformError, PutOut, Withheld
from bot.happenings import Joined
from bot.past import LONGEST
from bot.store import ChannelSettings
from tests.bot.household import household
from tests.fakes.platform import FakePlatform

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.chat import Message, Place
    from tests.bot.household import Household


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


async def _away(home: Household) -> tuple[Place, list[Message]]:
    """A channel with four messages, the last one in a thread, of which the bot knows."""
    place = await home.joined("ROOF", "ada", "bob")
    said = [await home.say(place, "ada", word) for word in ("One.", "Two.", "Three.")]
    said.append(await home.say(replace(place, thread=said[2].id), "bob", "Four."))
    return place, said


async def _back(home: Household) -> None:
    home.platform.wait(300)
    await home.listening.catch_up("slack")
    await home.listening.past()


async def test_what_was_said_while_the_bot_was_away_is_taken_in(home: Household) -> None:
    place, said = await _away(home)
    home.platform.say(place, "bob", "Five.", after=7200)
    home.platform.say(replace(place, thread=said[2].id), "bob", "Six.")
    await _back(home)
    assert await home.texts(place) == {
        "window:m1": ["Ada: One.", "Ada: Two."],
        "thread:m3": ["Ada: Three.", "Bob: Four.", "Bob: Six."],
        "window:m5": ["Bob: Five."],
    }


async def test_what_was_edited_and_deleted_while_the_bot_was_away_is_noticed(home: Household) -> None:
    place, said = await _away(home)
    home.platform.edit(said[0], "Eins.")
    home.platform.delete(said[1])
    home.platform.delete(said[3])
    await _back(home)
    assert await home.texts(place) == {"window:m1": ["Ada: Eins."], "thread:m3": ["Ada: Three."]}


async def test_a_history_that_cannot_be_read_deletes_nothing_and_is_read_later(home: Household) -> None:
    place, said = await _away(home)
    home.platform.delete(said[1])
    home.platform.failing["history"] = PlatformError("busy")
    await _back(home)
    assert "Ada: Two." in (await home.texts(place))["window:m1"]
    assert list(home.listening._owed) == [place]


@pytest.mark.parametrize("gone", ["deleted", "put out"])
async def test_a_channel_that_is_gone_is_forgotten_when_the_bot_is_back(home: Household, gone: str) -> None:
    place, _ = await _away(home)
    if gone == "deleted":
        home.platform.failing["channel"] = NotThere("no such channel")
    else:
        home.platform.change("ROOF", inside=False)
    await _back(home)
    assert await home.texts(place) == {}
    assert await home.house.store.rooms.known("slack") == []
    assert await home.house.store.messages.newest(place.room) is None
    assert home.listening._owed == {}


@pytest.mark.parametrize("error", [Withheld("hidden"), PlatformError("busy")])
async def test_a_channel_that_cannot_be_looked_at_is_not_forgotten(home: Household, error: PlatformError) -> None:
    place, _ = await _away(home)
    before = await home.texts(place)
    home.platform.failing["channel"] = error
    await _back(home)
    assert await home.texts(place) == before
    assert list(home.listening._owed) == [place]


@pytest.mark.parametrize("purged", [False, True])
async def test_a_workspace_that_put_the_bot_out_is_purged_if_that_is_set(tmp_path: Path, *, purged: bool) -> None:
    async with household(tmp_path / "home", FakePlatform(), purge_when_removed=purged) as home:
        place, _ = await _away(home)
        hall = await home.joined("HALL", "ada")
        home.platform.failing["channel"] = PutOut("no such workspace")
        await _back(home)
        assert bool(await home.texts(place)) is not purged
        assert await home.house.store.rooms.known("slack") == ([] if purged else [hall, place])
        assert home.listening._owed == {}


@pytest.mark.parametrize("root", ["stays", "goes too"])
async def test_a_thread_that_is_gone_is_forgotten_as_a_whole_however_old_it_is(home: Household, root: str) -> None:
    place, said = await _away(home)
    await home.say(place, "ada", "Five.", after=3 * 86400)
    for each in said[3:] if root == "stays" else said[2:]:
        home.platform.delete(each)
    await _back(home)
    assert "Bob: Four." not in str(await home.texts(place))


async def test_deletions_are_noticed_too_where_reading_was_switched_off(home: Household) -> None:
    place, said = await _away(home)
    await home.house.store.channels.put(place.room, ChannelSettings(ingest=False))
    home.platform.say(place, "ada", "Five.")
    home.platform.delete(said[1])
    await _back(home)
    assert await home.texts(place) == {"window:m1": ["Ada: One."], "thread:m3": ["Ada: Three.", "Bob: Four."]}


async def test_a_file_that_came_with_a_deleted_question_is_forgotten(home: Household) -> None:
    direct = home.platform.open("D1", "ada", kind="direct")
    tiles = [home.platform.upload(f"{name}.txt", b"The tiles.") for name in ("one", "two", "three")]
    said = [home.platform.say(direct, "ada", "Look.", uploads=[each]) for each in tiles]
    for each in said:
        await home.hear(each, addressed=True)
        await home.listening.filing.take(each, asked=True)
    home.platform.failing["message"] = PlatformError("busy")
    home.platform.delete(said[0])
    home.platform.messages[-1] = replace(said[2], uploads=())
    await _back(home)
    assert len(await home.texts(direct)) == 3
    home.platform.failing.clear()
    await _back(home)
    assert list(await home.texts(direct)) == [f"file:{said[1].id}:{tiles[1].id}"]


async def test_nothing_is_taken_in_twice_by_catching_up(home: Household) -> None:
    place, _ = await _away(home)
    before = await home.texts(place)
    await _back(home)
    await _back(home)
    assert await home.texts(place) == before


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
