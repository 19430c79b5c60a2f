"""Catching up after the bot was away: what is new is taken in, and only what is surely gone is forgotten."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.errors import NotThere, PlatformError, PutOut, Withheld
from bot.ingest.documents import Shelf
from bot.ingest.sync import reconcile
from bot.store import ChannelSettings
from engine.errors import StoreError
from tests.support.absence import DAY, away, back
from tests.support.fake_platform import FakePlatform
from tests.support.household import household

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from datetime import datetime
    from pathlib import Path

    from bot.platform.models import Message, Place
    from tests.support.household import Household


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Household]:
    async with household(tmp_path / "home", FakePlatform()) as opened:
        yield opened


async def test_what_was_said_while_the_bot_was_away_is_taken_in(home: Household) -> None:
    place, said = await away(home)
    home.platform.say(place, "bob", "Five.", after=7200)
    home.platform.say(replace(place, thread=said[2].id), "bob", "Six.")
    await back(home)
    assert await home.texts(place) == {
        "window:m1": ["Ada: One.", "Ada: Two."],
        "thread:m3": ["Ada: Three.", "Bob: Four.", "Bob: Six."],
        "window:m5": ["Bob: Five."],
    }


async def test_what_was_edited_and_deleted_while_the_bot_was_away_is_noticed(home: Household) -> None:
    place, said = await away(home)
    home.platform.edit(said[0], "Eins.")
    home.platform.delete(said[1])
    home.platform.delete(said[3])
    await back(home)
    assert await home.texts(place) == {"window:m1": ["Ada: Eins."], "thread:m3": ["Ada: Three."]}


async def test_a_history_that_cannot_be_read_deletes_nothing_and_is_read_later(home: Household) -> None:
    place, said = await away(home)
    home.platform.delete(said[1])
    home.platform.failing["history"] = PlatformError("busy")
    await back(home)
    assert "Ada: Two." in (await home.texts(place))["window:m1"]
    assert list(home.listening.owed) == [place]


@pytest.mark.parametrize("gone", ["deleted", "put out"])
async def test_a_channel_that_is_gone_is_forgotten_when_the_bot_is_back(home: Household, gone: str) -> None:
    place, _ = await away(home)
    if gone == "deleted":
        home.platform.failing["channel"] = NotThere("no such channel")
    else:
        home.platform.change("ROOF", inside=False)
    await back(home)
    assert await home.texts(place) == {}
    assert await home.house.store.rooms.known("slack") == []
    assert await home.house.store.messages.newest(place.room) is None
    assert not home.listening.owed


@pytest.mark.parametrize("error", [Withheld("hidden"), PlatformError("busy")])
async def test_a_channel_that_cannot_be_looked_at_is_not_forgotten(home: Household, error: PlatformError) -> None:
    place, _ = await away(home)
    before = await home.texts(place)
    home.platform.failing["channel"] = error
    await back(home)
    assert await home.texts(place) == before
    assert list(home.listening.owed) == [place]


@pytest.mark.parametrize("purged", [False, True])
async def test_a_workspace_that_put_the_bot_out_is_purged_if_that_is_set(tmp_path: Path, *, purged: bool) -> None:
    async with household(tmp_path / "home", FakePlatform(), purge_when_removed=purged) as home:
        place, _ = await away(home)
        hall = await home.joined("HALL", "ada")
        home.platform.failing["channel"] = PutOut("no such workspace")
        await back(home)
        assert bool(await home.texts(place)) is not purged
        assert await home.house.store.rooms.known("slack") == ([] if purged else [hall, place])
        assert not home.listening.owed


@pytest.mark.parametrize("root", ["stays", "goes too"])
async def test_a_thread_that_is_gone_is_forgotten_as_a_whole_however_old_it_is(home: Household, root: str) -> None:
    place, said = await away(home)
    await home.say(place, "ada", "Five.", after=3 * 86400)
    for each in said[3:] if root == "stays" else said[2:]:
        home.platform.delete(each)
    await back(home)
    assert "Bob: Four." not in str(await home.texts(place))


async def test_deletions_are_noticed_too_where_reading_was_switched_off(home: Household) -> None:
    place, said = await away(home)
    await home.house.store.channels.put(place.room, ChannelSettings(ingest=False))
    home.platform.say(place, "ada", "Five.")
    home.platform.delete(said[1])
    await back(home)
    assert await home.texts(place) == {"window:m1": ["Ada: One."], "thread:m3": ["Ada: Three.", "Bob: Four."]}


async def test_nothing_is_taken_in_twice_by_catching_up(home: Household) -> None:
    place, _ = await away(home)
    before = await home.texts(place)
    await back(home)
    await back(home)
    assert await home.texts(place) == before


async def test_a_thread_that_is_hidden_is_kept_and_holds_up_nothing(home: Household) -> None:
    place, said = await away(home)
    home.platform.delete(said[0])
    home.platform.listed = home.platform.messages[:-1]
    home.platform.failing["thread"] = Withheld("hidden by the plan")
    await back(home)
    assert await home.texts(place) == {"window:m1": ["Ada: Two."], "thread:m3": ["Ada: Three.", "Bob: Four."]}
    assert not home.listening.owed


async def test_what_retention_took_out_of_a_lively_thread_stays_out(tmp_path: Path) -> None:
    async with household(tmp_path / "home", FakePlatform(), retention_days=30) as home:
        place = await home.joined("ROOF", "ada", "bob")
        root = await home.say(place, "ada", "Old root.")
        thread = replace(place, thread=root.id)
        await home.say(thread, "bob", "Old reply.")
        await home.say(thread, "bob", "New reply.", after=40 * 86400)
        await home.listening.tick(home.platform.present())
        await back(home)
        assert await home.texts(place) == {"thread:m1": ["Bob: New reply."]}


async def test_what_was_said_before_the_bots_time_stays_out_though_its_thread_goes_on(tmp_path: Path) -> None:
    platform = FakePlatform()
    place = platform.open("ROOF", "ada", "bob")
    root = platform.say(place, "ada", "Before the bot.")
    async with household(tmp_path / "home", platform, backfill_days=0) as home:
        platform.say(place, "ada", "Later.", after=10 * 86400)
        await home.joined("ROOF", "ada", "bob")
        await home.say(replace(place, thread=root.id), "bob", "Reply.")
        await back(home)
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
        await back(home)
        assert await home.texts(place) == {"window:m1": ["Ada: Not One.", "Ada: Not Two, unheard."]}


async def _weekend(home: Household) -> tuple[Place, Message]:
    """Off from Friday to Monday: on Saturday and Sunday somebody spoke, and Friday's last message was deleted."""
    place = await home.joined("ROOF", "ada", "bob")
    await home.say(place, "ada", "Friday.")
    secret = await home.say(place, "ada", "The secret.")
    home.platform.say(place, "bob", "Saturday.", after=DAY)
    home.platform.say(place, "bob", "Sunday.", after=DAY)
    home.platform.delete(secret)
    return place, home.platform.say(place, "bob", "Monday.", after=DAY)


WEEK = {f"window:m{number}": [f"Bob: {day}."] for number, day in ((3, "Saturday"), (4, "Sunday"), (5, "Monday"))}


@pytest.mark.parametrize("addressed", [False, True])
async def test_what_is_heard_before_a_channels_turn_hides_nothing_that_was_missed(
    home: Household, *, addressed: bool
) -> None:
    place, monday = await _weekend(home)
    await home.hear(monday, addressed=addressed)
    await back(home)
    expected = {"window:m1": ["Ada: Friday."], **WEEK}
    if addressed:
        del expected["window:m5"]
    assert await home.texts(place) == expected


@pytest.mark.parametrize("pages", [1, 2, 3])
async def test_a_history_that_breaks_off_is_read_from_where_the_bot_went_away(home: Household, pages: int) -> None:
    home.platform.page = 1
    place, _ = await _weekend(home)
    home.platform.fail_after("page", pages, PlatformError("busy"))
    await back(home)
    home.platform.failing.clear()
    await back(home)
    assert await home.texts(place) == {"window:m1": ["Ada: Friday."], **WEEK}


async def test_what_was_compared_once_is_not_read_again_for_ever(home: Household) -> None:
    place = await home.joined("ROOF", "ada")
    compared = home.house.store.rooms.compared
    assert await compared(place.room) == home.platform.present()
    await home.say(place, "ada", "One.")
    assert await compared(place.room) == home.platform.start
    await back(home)
    assert await compared(place.room) == home.platform.present()


async def test_what_a_crash_kept_from_the_engine_reaches_it_by_catching_up(
    home: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, _ = await away(home)
    before = await home.texts(place)
    home.platform.say(place, "bob", "Five.", after=7200)

    async def cut_off(*_: object, **__: object) -> None:
        raise StoreError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(Shelf, "_write", cut_off)
        await back(home)
    assert await home.texts(place) == before
    await home.say(place, "bob", "Six.", after=3 * DAY)
    await back(home)
    assert await home.texts(place) == {**before, "window:m5": ["Bob: Five."], "window:m6": ["Bob: Six."]}


@pytest.mark.parametrize("words", ["Look.", ""])
async def test_a_file_that_could_not_be_had_is_had_later_and_holds_up_nothing(home: Household, words: str) -> None:
    place, _ = await away(home)
    tiles = home.platform.upload("tiles.txt", b"The tiles come on Monday.")
    shared = home.platform.say(place, "ada", words, uploads=[tiles], after=7200)
    home.platform.say(place, "bob", "Six.", after=7200)
    home.platform.failing["fetch"] = PlatformError("busy")
    await back(home)
    found = await home.texts(place)
    assert ["Bob: Six."] in found.values()
    assert f"file:{shared.id}:{tiles.id}" not in found
    assert home.listening.owed == {place}
    home.platform.failing.clear()
    await home.say(place, "bob", "Much later.", after=3 * DAY)
    await back(home)
    assert (await home.texts(place))[f"file:{shared.id}:{tiles.id}"] == ["The tiles come on Monday."]
    assert not home.listening.owed


async def test_a_file_that_could_not_be_had_is_not_missed_once_its_message_is_deleted(home: Household) -> None:
    place, _ = await away(home)
    shared = home.platform.say(place, "ada", "Look.", uploads=[home.platform.upload("a.txt", b"A.")], after=7200)
    home.platform.failing["fetch"] = PlatformError("busy")
    await back(home)
    home.platform.failing.clear()
    home.platform.delete(shared)
    await home.say(place, "bob", "Much later.", after=3 * DAY)
    await back(home)
    assert "Look." not in str(await home.texts(place))
    assert not home.listening.owed


async def test_however_many_files_were_shared_all_are_had(home: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconcile, "OWED", 2)
    place, _ = await away(home)
    for name in "abcde":
        upload = home.platform.upload(f"{name}.txt", f"The {name} is here.".encode())
        home.platform.say(place, "ada", "Look.", uploads=[upload], after=7200)
    await back(home)
    found = [key for key in await home.texts(place) if key.startswith("file:")]
    assert len(found) == 5
    assert not home.listening.owed


async def test_a_file_that_is_of_no_use_is_fetched_once(home: Household) -> None:
    place, _ = await away(home)
    home.platform.say(place, "ada", "Look.", uploads=[home.platform.upload("a.exe", b"\x7fELF")])
    await back(home)
    await back(home)
    assert home.platform.calls.count("fetch") == 1
    assert not home.listening.owed
