"""Catching up after the bot was away: what is new is taken in, and only what is surely gone is forgotten."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.errors import ChannelGone, PermissionDenied, PlatformError, WorkspaceGone
from bot.ingest.documents import ConversationDocuments
from bot.ingest.sync import reconcile
from bot.store import ChannelSettings
from engine.errors import StoreError
from tests.support.bot_fixture import open_bot_fixture
from tests.support.downtime import DAY, build_indexed_channel, reconcile_all
from tests.support.fake_platform import FakePlatform

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from datetime import datetime
    from pathlib import Path

    from bot.platform.models import Location, Message
    from tests.support.bot_fixture import BotFixture


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[BotFixture]:
    async with open_bot_fixture(tmp_path / "home", FakePlatform()) as opened:
        yield opened


async def test_what_was_said_while_the_bot_was_away_is_taken_in(home: BotFixture) -> None:
    place, said = await build_indexed_channel(home)
    home.platform.add_message(place, "bob", "Five.", after=7200)
    home.platform.add_message(replace(place, thread=said[2].id), "bob", "Six.")
    await reconcile_all(home)
    assert await home.document_texts(place) == {
        "window:m1": ["Ada: One.", "Ada: Two."],
        "thread:m3": ["Ada: Three.", "Bob: Four.", "Bob: Six."],
        "window:m5": ["Bob: Five."],
    }


async def test_what_was_edited_and_deleted_while_the_bot_was_away_is_noticed(home: BotFixture) -> None:
    place, said = await build_indexed_channel(home)
    home.platform.edit_message(said[0], "Eins.")
    home.platform.delete_message(said[1])
    home.platform.delete_message(said[3])
    await reconcile_all(home)
    assert await home.document_texts(place) == {"window:m1": ["Ada: Eins."], "thread:m3": ["Ada: Three."]}


async def test_a_history_that_cannot_be_read_deletes_nothing_and_is_read_later(home: BotFixture) -> None:
    place, said = await build_indexed_channel(home)
    home.platform.delete_message(said[1])
    home.platform.failing["history"] = PlatformError("busy")
    await reconcile_all(home)
    assert "Ada: Two." in (await home.document_texts(place))["window:m1"]
    assert list(home.ingest_service.pending_syncs) == [place]


@pytest.mark.parametrize("gone", ["deleted", "put out"])
async def test_a_channel_that_is_gone_is_forgotten_when_the_bot_is_back(home: BotFixture, gone: str) -> None:
    place, _ = await build_indexed_channel(home)
    if gone == "deleted":
        home.platform.failing["channel"] = ChannelGone("no such channel")
    else:
        home.platform.change_channel("ROOF", has_bot=False)
    await reconcile_all(home)
    assert await home.document_texts(place) == {}
    assert await home.context.store.channels.list_joined("slack") == []
    assert await home.context.store.messages.get_newest_time(place.room) is None
    assert not home.ingest_service.pending_syncs


@pytest.mark.parametrize("error", [PermissionDenied("hidden"), PlatformError("busy")])
async def test_a_channel_that_cannot_be_looked_at_is_not_forgotten(home: BotFixture, error: PlatformError) -> None:
    place, _ = await build_indexed_channel(home)
    before = await home.document_texts(place)
    home.platform.failing["channel"] = error
    await reconcile_all(home)
    assert await home.document_texts(place) == before
    assert list(home.ingest_service.pending_syncs) == [place]


@pytest.mark.parametrize("purged", [False, True])
async def test_a_workspace_that_put_the_bot_out_is_purged_if_that_is_set(tmp_path: Path, *, purged: bool) -> None:
    async with open_bot_fixture(tmp_path / "home", FakePlatform(), delete_data_on_uninstall=purged) as home:
        place, _ = await build_indexed_channel(home)
        hall = await home.join_channel("HALL", "ada")
        home.platform.failing["channel"] = WorkspaceGone("no such workspace")
        await reconcile_all(home)
        assert bool(await home.document_texts(place)) is not purged
        assert await home.context.store.channels.list_joined("slack") == ([] if purged else [hall, place])
        assert not home.ingest_service.pending_syncs


@pytest.mark.parametrize("root", ["stays", "goes too"])
async def test_a_thread_that_is_gone_is_forgotten_as_a_whole_however_old_it_is(home: BotFixture, root: str) -> None:
    place, said = await build_indexed_channel(home)
    await home.post(place, "ada", "Five.", after=3 * 86400)
    for each in said[3:] if root == "stays" else said[2:]:
        home.platform.delete_message(each)
    await reconcile_all(home)
    assert "Bob: Four." not in str(await home.document_texts(place))


async def test_deletions_are_noticed_too_where_reading_was_switched_off(home: BotFixture) -> None:
    place, said = await build_indexed_channel(home)
    await home.context.store.channel_settings.save(place.room, ChannelSettings(ingest=False))
    home.platform.add_message(place, "ada", "Five.")
    home.platform.delete_message(said[1])
    await reconcile_all(home)
    assert await home.document_texts(place) == {"window:m1": ["Ada: One."], "thread:m3": ["Ada: Three.", "Bob: Four."]}


async def test_nothing_is_taken_in_twice_by_catching_up(home: BotFixture) -> None:
    place, _ = await build_indexed_channel(home)
    before = await home.document_texts(place)
    await reconcile_all(home)
    await reconcile_all(home)
    assert await home.document_texts(place) == before


async def test_a_thread_that_is_hidden_is_kept_and_holds_up_nothing(home: BotFixture) -> None:
    place, said = await build_indexed_channel(home)
    home.platform.delete_message(said[0])
    home.platform.listed_messages = home.platform.messages[:-1]
    home.platform.failing["thread"] = PermissionDenied("hidden by the plan")
    await reconcile_all(home)
    assert await home.document_texts(place) == {"window:m1": ["Ada: Two."], "thread:m3": ["Ada: Three.", "Bob: Four."]}
    assert not home.ingest_service.pending_syncs


async def test_what_retention_took_out_of_a_lively_thread_stays_out(tmp_path: Path) -> None:
    async with open_bot_fixture(tmp_path / "home", FakePlatform(), retention_days=30) as home:
        place = await home.join_channel("ROOF", "ada", "bob")
        root = await home.post(place, "ada", "Old root.")
        thread = replace(place, thread=root.id)
        await home.post(thread, "bob", "Old reply.")
        await home.post(thread, "bob", "New reply.", after=40 * 86400)
        await home.ingest_service.run_due_jobs(home.platform.current_time())
        await reconcile_all(home)
        assert await home.document_texts(place) == {"thread:m1": ["Bob: New reply."]}


async def test_what_was_said_before_the_bots_time_stays_out_though_its_thread_goes_on(tmp_path: Path) -> None:
    platform = FakePlatform()
    place = platform.add_channel("ROOF", "ada", "bob")
    root = platform.add_message(place, "ada", "Before the bot.")
    async with open_bot_fixture(tmp_path / "home", platform, backfill_days=0) as home:
        platform.add_message(place, "ada", "Later.", after=10 * 86400)
        await home.join_channel("ROOF", "ada", "bob")
        await home.post(replace(place, thread=root.id), "bob", "Reply.")
        await reconcile_all(home)
        assert "Before the bot." not in str(await home.document_texts(place))


class Meanwhile(FakePlatform):
    """Something happens between a page's being asked for and its being looked at."""

    happens: Callable[[], Awaitable[object]] | None = None

    async def history(self, place: Location, since: datetime, before: str = "") -> AsyncIterator[Sequence[Message]]:
        async for page in super().history(place, since, before):
            happens, self.happens = self.happens, None
            if happens:
                await happens()
            yield page


async def test_a_page_that_is_older_than_an_edit_does_not_undo_it(tmp_path: Path) -> None:
    platform = Meanwhile()
    async with open_bot_fixture(tmp_path / "home", platform) as home:
        place = await home.join_channel("ROOF", "ada")
        said = [await home.post(place, "ada", word) for word in ("One.", "Two.")]
        said[1] = platform.edit_message(said[1], "Two, unheard.")

        async def both_are_edited() -> None:
            for each in said:
                await home.edit(each, f"Not {each.text}")

        platform.happens = both_are_edited
        await reconcile_all(home)
        assert await home.document_texts(place) == {"window:m1": ["Ada: Not One.", "Ada: Not Two, unheard."]}


async def _weekend(home: BotFixture) -> tuple[Location, Message]:
    """Off from Friday to Monday: on Saturday and Sunday somebody spoke, and Friday's last message was deleted."""
    place = await home.join_channel("ROOF", "ada", "bob")
    await home.post(place, "ada", "Friday.")
    secret = await home.post(place, "ada", "The secret.")
    home.platform.add_message(place, "bob", "Saturday.", after=DAY)
    home.platform.add_message(place, "bob", "Sunday.", after=DAY)
    home.platform.delete_message(secret)
    return place, home.platform.add_message(place, "bob", "Monday.", after=DAY)


WEEK = {f"window:m{number}": [f"Bob: {day}."] for number, day in ((3, "Saturday"), (4, "Sunday"), (5, "Monday"))}


@pytest.mark.parametrize("addressed", [False, True])
async def test_what_is_heard_before_a_channels_turn_hides_nothing_that_was_missed(
    home: BotFixture, *, addressed: bool
) -> None:
    place, monday = await _weekend(home)
    await home.receive(monday, addressed=addressed)
    await reconcile_all(home)
    expected = {"window:m1": ["Ada: Friday."], **WEEK}
    if addressed:
        del expected["window:m5"]
    assert await home.document_texts(place) == expected


@pytest.mark.parametrize("pages", [1, 2, 3])
async def test_a_history_that_breaks_off_is_read_from_where_the_bot_went_away(home: BotFixture, pages: int) -> None:
    home.platform.page_size = 1
    place, _ = await _weekend(home)
    home.platform.fail_after("page", pages, PlatformError("busy"))
    await reconcile_all(home)
    home.platform.failing.clear()
    await reconcile_all(home)
    assert await home.document_texts(place) == {"window:m1": ["Ada: Friday."], **WEEK}


async def test_what_was_compared_once_is_not_read_again_for_ever(home: BotFixture) -> None:
    place = await home.join_channel("ROOF", "ada")
    compared = home.context.store.channels.get_synced_until
    assert await compared(place.room) == home.platform.current_time()
    await home.post(place, "ada", "One.")
    assert await compared(place.room) == home.platform.start_time
    await reconcile_all(home)
    assert await compared(place.room) == home.platform.current_time()


async def test_what_a_crash_kept_from_the_engine_reaches_it_by_catching_up(
    home: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, _ = await build_indexed_channel(home)
    before = await home.document_texts(place)
    home.platform.add_message(place, "bob", "Five.", after=7200)

    async def cut_off(*_: object, **__: object) -> None:
        raise StoreError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(ConversationDocuments, "_amend_or_add", cut_off)
        await reconcile_all(home)
    assert await home.document_texts(place) == before
    await home.post(place, "bob", "Six.", after=3 * DAY)
    await reconcile_all(home)
    assert await home.document_texts(place) == {**before, "window:m5": ["Bob: Five."], "window:m6": ["Bob: Six."]}


@pytest.mark.parametrize("words", ["Look.", ""])
async def test_a_file_that_could_not_be_had_is_had_later_and_holds_up_nothing(home: BotFixture, words: str) -> None:
    place, _ = await build_indexed_channel(home)
    tiles = home.platform.add_file("tiles.txt", b"The tiles come on Monday.")
    shared = home.platform.add_message(place, "ada", words, uploads=[tiles], after=7200)
    home.platform.add_message(place, "bob", "Six.", after=7200)
    home.platform.failing["fetch"] = PlatformError("busy")
    await reconcile_all(home)
    found = await home.document_texts(place)
    assert ["Bob: Six."] in found.values()
    assert f"file:{shared.id}:{tiles.id}" not in found
    assert home.ingest_service.pending_syncs == {place}
    home.platform.failing.clear()
    await home.post(place, "bob", "Much later.", after=3 * DAY)
    await reconcile_all(home)
    assert (await home.document_texts(place))[f"file:{shared.id}:{tiles.id}"] == ["The tiles come on Monday."]
    assert not home.ingest_service.pending_syncs


async def test_a_file_that_could_not_be_had_is_not_missed_once_its_message_is_deleted(home: BotFixture) -> None:
    place, _ = await build_indexed_channel(home)
    shared = home.platform.add_message(
        place, "ada", "Look.", uploads=[home.platform.add_file("a.txt", b"A.")], after=7200
    )
    home.platform.failing["fetch"] = PlatformError("busy")
    await reconcile_all(home)
    home.platform.failing.clear()
    home.platform.delete_message(shared)
    await home.post(place, "bob", "Much later.", after=3 * DAY)
    await reconcile_all(home)
    assert "Look." not in str(await home.document_texts(place))
    assert not home.ingest_service.pending_syncs


async def test_however_many_files_were_shared_all_are_had(home: BotFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconcile, "FILE_BATCH", 2)
    place, _ = await build_indexed_channel(home)
    for name in "abcde":
        upload = home.platform.add_file(f"{name}.txt", f"The {name} is here.".encode())
        home.platform.add_message(place, "ada", "Look.", uploads=[upload], after=7200)
    await reconcile_all(home)
    found = [key for key in await home.document_texts(place) if key.startswith("file:")]
    assert len(found) == 5
    assert not home.ingest_service.pending_syncs


async def test_a_file_that_is_of_no_use_is_fetched_once(home: BotFixture) -> None:
    place, _ = await build_indexed_channel(home)
    home.platform.add_message(place, "ada", "Look.", uploads=[home.platform.add_file("a.exe", b"\x7fELF")])
    await reconcile_all(home)
    await reconcile_all(home)
    assert home.platform.calls.count("fetch") == 1
    assert not home.ingest_service.pending_syncs
