"""What lists lack is asked for one by one, as often as it takes; only what is surely gone is forgotten."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.errors import PlatformError
from bot.ingest.sync import deletions, reconcile
from tests.support.bot_fixture import open_bot_fixture
from tests.support.downtime import DAY, build_indexed_channel, reconcile_all
from tests.support.fake_platform import FakePlatform

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.platform.models import Location, Message
    from tests.support.bot_fixture import BotFixture


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[BotFixture]:
    async with open_bot_fixture(tmp_path / "home", FakePlatform()) as opened:
        yield opened


async def test_a_file_that_came_with_a_deleted_question_is_forgotten(home: BotFixture) -> None:
    direct = home.platform.add_channel("D1", "ada", kind="direct")
    tiles = [home.platform.add_file(f"{name}.txt", b"The tiles.") for name in ("one", "two", "three")]
    said = [home.platform.add_message(direct, "ada", "Look.", uploads=[each]) for each in tiles]
    for each in said:
        await home.receive(each, addressed=True)
        await home.ingest_service.files.ingest(each, asked=True)
    home.platform.failing["message"] = PlatformError("busy")
    home.platform.delete_message(said[0])
    home.platform.messages[-1] = replace(said[2], uploads=())
    await reconcile_all(home)
    assert len(await home.document_texts(direct)) == 3
    home.platform.failing.clear()
    await reconcile_all(home)
    assert list(await home.document_texts(direct)) == [f"file:{said[1].id}:{tiles[1].id}"]


@pytest.mark.parametrize("listed", [0, 1])
async def test_what_a_list_lacks_is_kept_while_the_message_is_there(home: BotFixture, listed: int) -> None:
    place, said = await build_indexed_channel(home)
    before = await home.document_texts(place)
    home.platform.listed_messages = said[:listed]
    await reconcile_all(home)
    assert await home.document_texts(place) == before
    home.platform.listed_messages = None
    await reconcile_all(home)
    assert await home.document_texts(place) == before


async def test_of_a_thread_that_is_too_long_only_what_the_list_reaches_is_looked_for(
    home: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconcile, "MAX_REPLIES", 3)
    place = await home.join_channel("ROOF", "ada")
    root = await home.post(place, "ada", "Root.")
    thread = replace(place, thread=root.id)
    replies = [await home.post(thread, "ada", f"Reply {number}.") for number in range(6)]
    for gone in (replies[0], replies[4]):
        home.platform.delete_message(gone)
    await reconcile_all(home)
    assert await home.document_texts(place) == {
        "thread:m1": ["Ada: Root.", *(f"Ada: Reply {number}." for number in (0, 1, 2, 3, 5))]
    }
    assert home.platform.calls.count("message") == 1


async def test_what_nobody_can_say_is_left_for_the_next_time(home: BotFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletions, "MAX_UNANSWERED", 2)
    place, said = await build_indexed_channel(home)
    before = await home.document_texts(place)
    for each in said[:3]:
        home.platform.delete_message(each)
    home.platform.failing["message"] = PlatformError("busy")
    await reconcile_all(home)
    assert await home.document_texts(place) == before
    assert home.platform.calls.count("message") == 2
    home.platform.failing.clear()
    await reconcile_all(home)
    assert await home.document_texts(place) == {"thread:m3": ["Bob: Four."]}


async def test_no_more_than_so_many_messages_go_at_once(home: BotFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletions, "MAX_CHECKS", 2)
    place, said = await build_indexed_channel(home)
    for each in said[:3]:
        home.platform.delete_message(each)
    await reconcile_all(home)
    assert await home.document_texts(place) == {"window:m1": ["Ada: One."], "thread:m3": ["Bob: Four."]}
    await reconcile_all(home)
    assert await home.document_texts(place) == {"thread:m3": ["Bob: Four."]}


async def test_a_message_of_the_last_minute_is_not_missed_yet(home: BotFixture) -> None:
    place, said = await build_indexed_channel(home)
    home.platform.delete_message(said[3])
    home.platform.messages[-1] = replace(said[2], time=said[3].time)
    await home.ingest_service.start_reconciliation("slack")
    await home.ingest_service.run_sync()
    assert "Bob: Four." in str(await home.document_texts(place))
    assert list(home.ingest_service.pending_syncs) == [place]
    await reconcile_all(home)
    assert "Bob: Four." not in str(await home.document_texts(place))
    assert not home.ingest_service.pending_syncs


async def test_what_was_found_missing_comes_back_when_it_is_shown_again(home: BotFixture) -> None:
    place, said = await build_indexed_channel(home)
    before = await home.document_texts(place)
    there = home.platform.messages
    home.platform.messages = said[2:]
    await reconcile_all(home)
    assert list(await home.document_texts(place)) == ["thread:m3"]
    home.platform.messages = there
    await reconcile_all(home)
    assert await home.document_texts(place) == before


async def test_a_thread_that_is_surely_gone_goes_at_once_however_long_it_is(
    home: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletions, "MAX_CHECKS", 1)
    place, said = await build_indexed_channel(home)
    thread = replace(place, thread=said[2].id)
    replies = [await home.post(thread, "bob", f"Reply {number}.") for number in range(5)]
    for each in [*said[2:], *replies]:
        home.platform.delete_message(each)
    await reconcile_all(home)
    assert await home.document_texts(place) == {"window:m1": ["Ada: One.", "Ada: Two."]}


@pytest.mark.parametrize("root", ["stays", "goes too"])
async def test_of_a_thread_that_is_shown_whole_what_is_gone_is_noticed_however_old_it_is(
    home: BotFixture, root: str
) -> None:
    place, said = await build_indexed_channel(home)
    thread = replace(place, thread=said[2].id)
    await home.post(thread, "bob", "Five.", after=5 * DAY)
    for each in said[3:] if root == "stays" else said[2:]:
        home.platform.delete_message(each)
    await reconcile_all(home)
    assert (await home.document_texts(place))["thread:m3"] == ["Ada: Three."] * (root == "stays") + ["Bob: Five."]


class Unsure(FakePlatform):
    """Of some messages it never says whether they are there."""

    unsure: frozenset[str] = frozenset()

    async def fetch_message(self, place: Location, message: str) -> Message | None:
        if message in self.unsure:
            raise PlatformError("Nobody can say.")
        return await super().fetch_message(place, message)


async def test_what_nobody_could_say_is_asked_again_however_much_is_said_meanwhile(home: BotFixture) -> None:
    place, said = await build_indexed_channel(home)
    for each in (said[0], said[3]):
        home.platform.delete_message(each)
    home.platform.failing["message"] = PlatformError("busy")
    await reconcile_all(home)
    home.platform.failing.clear()
    await home.post(place, "ada", "Much later.", after=30 * DAY)
    await reconcile_all(home)
    assert await home.document_texts(place) == {
        "window:m1": ["Ada: Two."],
        "thread:m3": ["Ada: Three."],
        "window:m5": ["Ada: Much later."],
    }


async def test_what_can_never_be_said_keeps_nothing_else_from_being_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletions, "MAX_UNANSWERED", 2)
    platform = Unsure()
    async with open_bot_fixture(tmp_path / "home", platform) as home:
        place, said = await build_indexed_channel(home)
        platform.unsure = frozenset(each.id for each in said[1:3])
        for each in said[:3]:
            platform.delete_message(each)
        await reconcile_all(home)
        assert "Ada: One." in str(await home.document_texts(place))
        assert home.ingest_service.pending_syncs == {place}
        await reconcile_all(home)
        assert "Ada: One." not in str(await home.document_texts(place))
        assert not home.ingest_service.pending_syncs


async def test_many_messages_that_were_deleted_at_once_go_within_minutes(
    home: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletions, "MAX_CHECKS", 2)
    place = await home.join_channel("ROOF", "ada")
    for number in range(5):
        home.platform.delete_message(await home.post(place, "ada", f"{number}."))
    looks = 0
    while not looks or home.ingest_service.pending_syncs:
        await reconcile_all(home)
        looks += 1
    assert (looks, await home.document_texts(place)) == (3, {})


async def test_what_lists_lack_although_it_is_there_is_looked_for_no_more_than_once_a_day(home: BotFixture) -> None:
    place, said = await build_indexed_channel(home)
    home.platform.listed_messages = said[2:]
    await reconcile_all(home)
    assert not home.ingest_service.pending_syncs
    await reconcile_all(home)
    assert not home.ingest_service.pending_syncs
    home.platform.listed_messages.append(await home.post(place, "ada", "Much later.", after=30 * DAY))
    for _ in range(3):
        await reconcile_all(home)
    assert await home.context.store.unconfirmed_deletions.list_next(place.room, 9) == []
