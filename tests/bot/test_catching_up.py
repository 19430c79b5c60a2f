"""Catching up after the bot was away: what is new is taken in, and only what is surely gone is forgotten."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot import catching_up
from bot.errors import NotThere, PlatformError, PutOut, Withheld
from bot.store import ChannelSettings
from engine.errors import StoreError
from tests.bot.household import household
from tests.fakes.platform import FakePlatform

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from datetime import datetime
    from pathlib import Path

    from bot.chat import Message, Place
    from tests.bot.household import Household


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Household]:
    async with household(tmp_path / "home", FakePlatform()) as opened:
        yield opened


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


@pytest.mark.parametrize("listed", [0, 1])
async def test_what_a_list_lacks_is_kept_while_the_message_is_there(home: Household, listed: int) -> None:
    place, said = await _away(home)
    before = await home.texts(place)
    home.platform.listed = said[:listed]
    await _back(home)
    assert await home.texts(place) == before
    home.platform.listed = None
    await _back(home)
    assert await home.texts(place) == before


async def test_of_a_thread_that_is_too_long_only_what_the_list_reaches_is_looked_for(
    home: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catching_up, "REPLIES", 3)
    place = await home.joined("ROOF", "ada")
    root = await home.say(place, "ada", "Root.")
    thread = replace(place, thread=root.id)
    replies = [await home.say(thread, "ada", f"Reply {number}.") for number in range(6)]
    for gone in (replies[0], replies[4]):
        home.platform.delete(gone)
    await _back(home)
    assert await home.texts(place) == {
        "thread:m1": ["Ada: Root.", *(f"Ada: Reply {number}." for number in (0, 1, 2, 3, 5))]
    }
    assert home.platform.calls.count("message") == 1


async def test_what_nobody_can_say_is_left_for_the_next_time(home: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catching_up, "UNANSWERED", 2)
    place, said = await _away(home)
    before = await home.texts(place)
    for each in said[:3]:
        home.platform.delete(each)
    home.platform.failing["message"] = PlatformError("busy")
    await _back(home)
    assert await home.texts(place) == before
    assert home.platform.calls.count("message") == 2
    home.platform.failing.clear()
    await _back(home)
    assert await home.texts(place) == {"thread:m3": ["Bob: Four."]}


async def test_no_more_than_so_many_messages_go_at_once(home: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catching_up, "ASKED", 2)
    place, said = await _away(home)
    for each in said[:3]:
        home.platform.delete(each)
    await _back(home)
    assert await home.texts(place) == {"window:m1": ["Ada: One."], "thread:m3": ["Bob: Four."]}
    await _back(home)
    assert await home.texts(place) == {"thread:m3": ["Bob: Four."]}


async def test_a_message_of_the_last_minute_is_not_missed_yet(home: Household) -> None:
    place, said = await _away(home)
    home.platform.delete(said[3])
    home.platform.messages[-1] = replace(said[2], time=said[3].time)
    await home.listening.catch_up("slack")
    await home.listening.past()
    assert "Bob: Four." in str(await home.texts(place))
    assert list(home.listening._owed) == [place]
    await _back(home)
    assert "Bob: Four." not in str(await home.texts(place))
    assert home.listening._owed == {}


async def test_what_was_found_missing_comes_back_when_it_is_shown_again(home: Household) -> None:
    place, said = await _away(home)
    before = await home.texts(place)
    there = home.platform.messages
    home.platform.messages = said[2:]
    await _back(home)
    assert list(await home.texts(place)) == ["thread:m3"]
    home.platform.messages = there
    await _back(home)
    assert await home.texts(place) == before


async def test_a_thread_that_is_surely_gone_goes_at_once_however_long_it_is(
    home: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catching_up, "ASKED", 1)
    place, said = await _away(home)
    thread = replace(place, thread=said[2].id)
    replies = [await home.say(thread, "bob", f"Reply {number}.") for number in range(5)]
    for each in [*said[2:], *replies]:
        home.platform.delete(each)
    await _back(home)
    assert await home.texts(place) == {"window:m1": ["Ada: One.", "Ada: Two."]}


async def test_a_thread_that_is_hidden_is_kept_and_holds_up_nothing(home: Household) -> None:
    place, said = await _away(home)
    home.platform.delete(said[0])
    home.platform.listed = home.platform.messages[:-1]
    home.platform.failing["thread"] = Withheld("hidden by the plan")
    await _back(home)
    assert await home.texts(place) == {"window:m1": ["Ada: Two."], "thread:m3": ["Ada: Three.", "Bob: Four."]}
    assert home.listening._owed == {}


async def test_what_retention_took_out_of_a_lively_thread_stays_out(tmp_path: Path) -> None:
    async with household(tmp_path / "home", FakePlatform(), retention_days=30) as home:
        place = await home.joined("ROOF", "ada", "bob")
        root = await home.say(place, "ada", "Old root.")
        thread = replace(place, thread=root.id)
        await home.say(thread, "bob", "Old reply.")
        await home.say(thread, "bob", "New reply.", after=40 * 86400)
        await home.listening.tick(home.platform.present())
        await _back(home)
        assert await home.texts(place) == {"thread:m1": ["Bob: New reply."]}


async def test_what_was_said_before_the_bots_time_stays_out_though_its_thread_goes_on(tmp_path: Path) -> None:
    platform = FakePlatform()
    place = platform.open("ROOF", "ada", "bob")
    root = platform.say(place, "ada", "Before the bot.")
    async with household(tmp_path / "home", platform, backfill_days=0) as home:
        platform.say(place, "ada", "Later.", after=10 * 86400)
        await home.joined("ROOF", "ada", "bob")
        await home.say(replace(place, thread=root.id), "bob", "Reply.")
        await _back(home)
        assert "Before the bot." not in str(await home.texts(place))


class Meanwhile(FakePlatform):
    """Something happens between a page's being asked for and its being looked at."""

    happens: Callable[[], Awaitable[object]] | None = None

    async def history(self, place: Place, since: datetime, before: str = "") -> AsyncIterator[Sequence[Message]]:
        async for page in super().history(place, since, before):
            happens, self.happens = self.happens, None
            if happens:
                await happens()
            yield page


async def test_a_page_that_is_older_than_an_edit_does_not_undo_it(tmp_path: Path) -> None:
    platform = Meanwhile()
    async with household(tmp_path / "home", platform) as home:
        place = await home.joined("ROOF", "ada")
        said = [await home.say(place, "ada", word) for word in ("One.", "Two.")]
        said[1] = platform.edit(said[1], "Two, unheard.")

        async def both_are_edited() -> None:
            for each in said:
                await home.edit(each, f"Not {each.text}")

        platform.happens = both_are_edited
        await _back(home)
        assert await home.texts(place) == {"window:m1": ["Ada: Not One.", "Ada: Not Two, unheard."]}


async def test_a_daily_look_that_could_not_begin_is_not_put_off_for_a_day(
    home: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, _ = await _away(home)
    rooms = home.house.store.rooms
    known = rooms.known

    async def locked(platform: str, workspace: str | None = None) -> list[Place]:
        raise StoreError("locked")

    monkeypatch.setattr(rooms, "known", locked)
    await home.listening.tick()
    monkeypatch.setattr(rooms, "known", known)
    await home.listening.tick()
    assert place in home.listening._owed
