"""Reconciliation after downtime: what is new is indexed, and only what is surely gone is forgotten."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from bot.errors import ChannelGone, PermissionDenied, PlatformError, WorkspaceGone
from bot.ingest.documents import ConversationDocuments
from bot.ingest.sync import deletions, reconcile
from bot.platform.models import Location, Message
from engine.errors import StoreError
from tests.support import steps
from tests.support.bot_fixture import BotFixture, with_settings
from tests.support.builders import HALL, ROOF
from tests.support.fake_platform import FakePlatform
from tests.support.steps import (
    DAY,
    FOUR,
    Step,
    delete_away,
    edit_away,
    fail,
    find,
    list_only,
    recover,
    run_steps,
    say,
    write,
)

pytestmark = pytest.mark.usefixtures("roof")
RECONCILE, OFF = steps.reconcile(), steps.save_settings(ingest=False)
LATER, BUSY = say("ada", "Later.", after=30 * DAY), fail("message", PlatformError("busy"))
WINDOW, THREAD = {"window:m1": ["Ada: One.", "Ada: Two."]}, {"thread:m3": ["Ada: Three.", "Bob: Four."]}
ONE, TWO = {"window:m1": ["Ada: One."]}, {"window:m1": ["Ada: Two."]}
FIFTH = {"window:m5": ["Ada: Later."]}
FOURTH, THIRD = {"thread:m3": ["Bob: Four."]}, {"thread:m3": ["Ada: Three."]}
HISTORY_FAILS, THREAD_HIDDEN = fail("history", PlatformError("busy")), fail("thread", PermissionDenied("plan"))


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("happened", "documents"),
    [
        pytest.param([], WINDOW | THREAD, id="nothing"),
        pytest.param([RECONCILE], WINDOW | THREAD, id="twice"),
        pytest.param(
            [write("bob", "Five.", after=7200), write("bob", "Six.", thread=3)],
            WINDOW | {"thread:m3": [*THREAD["thread:m3"], "Bob: Six."], "window:m5": ["Bob: Five."]},
            id="new messages",
        ),
        pytest.param(
            [edit_away(1, "Eins."), delete_away(2), delete_away(4)],
            {"window:m1": ["Ada: Eins."]} | THIRD,
            id="edited and deleted",
        ),
        pytest.param([LATER, delete_away(4)], WINDOW | THIRD | FIFTH, id="an old reply"),
        pytest.param([LATER, delete_away(3, 4)], WINDOW | FIFTH, id="an old thread"),
        pytest.param(
            [say("bob", "Five.", thread=3, after=5 * DAY), delete_away(4)],
            WINDOW | {"thread:m3": ["Ada: Three.", "Bob: Five."]},
            id="an old reply of a thread that goes on",
        ),
        pytest.param(
            [say("bob", "Five.", thread=3, after=5 * DAY), delete_away(3, 4)],
            WINDOW | {"thread:m3": ["Bob: Five."]},
            id="an old root of a thread that goes on",
        ),
        pytest.param([OFF, write("ada", "Five."), delete_away(2)], ONE | THREAD, id="deletions where it is off"),
        pytest.param([list_only()], WINDOW | THREAD, id="an empty list"),
        pytest.param([list_only(1), RECONCILE, steps.list_all()], WINDOW | THREAD, id="a list that lacks messages"),
        pytest.param([list_only(2, 3), delete_away(1), THREAD_HIDDEN], TWO | THREAD, id="a hidden thread"),
        pytest.param(
            [delete_away(1, 2), RECONCILE, steps.restore(1, 2)], WINDOW | THREAD, id="found missing, and shown again"
        ),
        pytest.param(
            [delete_away(1, 4), BUSY, RECONCILE, recover(), LATER],
            TWO | THIRD | FIFTH,
            id="nobody could say, however much follows",
        ),
    ],
)
async def test_after_downtime_the_documents_are_those_of_the_messages(
    bot: BotFixture, happened: list[Step], documents: dict[str, list[str]]
) -> None:
    await run_steps(bot, [*FOUR, *happened, RECONCILE])
    assert await bot.document_texts(ROOF) == documents
    assert not bot.ingest_service.pending_syncs


@pytest.mark.parametrize(
    "failing",
    [HISTORY_FAILS, fail("channel", PermissionDenied("hidden")), fail("channel", PlatformError("busy"))],
    ids=["history", "channel hidden", "channel busy"],
)
async def test_what_cannot_be_read_deletes_nothing_and_is_read_later(bot: BotFixture, failing: Step) -> None:
    await run_steps(bot, [*FOUR, delete_away(2), failing, RECONCILE])
    assert await bot.document_texts(ROOF) == WINDOW | THREAD
    assert bot.ingest_service.pending_syncs == {ROOF}


@pytest.mark.parametrize("gone", ["deleted", "removed"])
async def test_a_channel_that_is_gone_is_forgotten(bot: BotFixture, gone: str) -> None:
    await run_steps(bot, FOUR)
    if gone == "deleted":
        bot.platform.failing["channel"] = ChannelGone("no such channel")
    else:
        bot.platform.change_channel("ROOF", has_bot=False)
    await bot.reconcile(300)
    assert await bot.document_texts(ROOF) == {}
    assert await bot.store.channels.list_joined("slack") == []
    assert await bot.store.messages.get_newest_time(ROOF.room) is None
    assert not bot.ingest_service.pending_syncs


@pytest.mark.parametrize(
    ("bot", "deleted"),
    [({"delete_data_on_uninstall": False}, False), ({"delete_data_on_uninstall": True}, True)],
    indirect=["bot"],
)
async def test_a_workspace_that_removed_the_bot_is_deleted_if_that_is_set(bot: BotFixture, *, deleted: bool) -> None:
    await run_steps(bot, FOUR)
    await bot.join("HALL", "ada")
    await run_steps(bot, [fail("channel", WorkspaceGone("no such workspace")), RECONCILE])
    assert bool(await bot.document_texts(ROOF)) is not deleted
    assert await bot.store.channels.list_joined("slack") == ([] if deleted else [HALL, ROOF])
    assert not bot.ingest_service.pending_syncs


@with_settings(retention_days=30)
async def test_what_retention_deleted_from_a_lively_thread_stays_out(bot: BotFixture) -> None:
    old = [say("ada", "Old root."), say("bob", "Old reply.", thread=1)]
    await run_steps(bot, [*old, say("bob", "New reply.", thread=1, after=40 * DAY)])
    await bot.ingest_service.run_due_jobs(bot.platform.current_time())
    await bot.reconcile(300)
    assert await bot.document_texts(ROOF) == {"thread:m1": ["Bob: New reply."]}


@with_settings(backfill_days=0)
async def test_messages_from_before_the_bot_stay_out_though_their_thread_goes_on(bot: BotFixture) -> None:
    yard = bot.platform.add_channel("YARD", "ada")
    root = bot.platform.add_message(yard, "ada", "Before the bot.")
    bot.platform.add_message(yard, "ada", "Later.", after=10 * DAY)
    await bot.rejoin(yard)
    await bot.post(replace(yard, thread=root.id), "bob", "Reply.")
    await bot.reconcile(300)
    assert "Before the bot." not in str(await bot.document_texts(yard))


class EventfulPlatform(FakePlatform):
    """Something `happens` between the request for a page of history and its use."""

    happens: Callable[[], Awaitable[object]] | None = None

    async def history(self, place: Location, since: datetime, before: str = "") -> AsyncIterator[Sequence[Message]]:
        async for page in super().history(place, since, before):
            happens, self.happens = self.happens, None
            if happens:
                await happens()
            yield page


@with_settings(platform=EventfulPlatform())
async def test_a_page_that_is_older_than_an_edit_does_not_undo_it(bot: BotFixture) -> None:
    await run_steps(bot, [say("ada", "One."), say("ada", "Two."), edit_away(2, "Two, unheard.")])
    assert isinstance(bot.platform, EventfulPlatform)
    bot.platform.happens = lambda: run_steps(bot, [steps.edit(1, "Not one."), steps.edit(2, "Not two.")])
    await bot.reconcile(300)
    assert await bot.document_texts(ROOF) == {"window:m1": ["Ada: Not one.", "Ada: Not two."]}


WEEKEND = [
    *(say("ada", "Friday."), say("ada", "The secret."), write("bob", "Saturday.", after=DAY)),
    *(write("bob", "Sunday.", after=DAY), delete_away(2), write("bob", "Monday.", after=DAY)),
]
WEEK = {
    "window:m1": ["Ada: Friday."],
    **{f"window:m{number}": [f"Bob: {day}."] for number, day in enumerate(("Saturday", "Sunday", "Monday"), 3)},
}


@pytest.mark.parametrize("addressed", [False, True])
async def test_a_message_that_is_received_before_the_comparison_hides_nothing_that_was_missed(
    bot: BotFixture, *, addressed: bool
) -> None:
    await run_steps(bot, [*WEEKEND, steps.receive(5, addressed=addressed), RECONCILE])
    expected = {key: texts for key, texts in WEEK.items() if not addressed or key != "window:m5"}
    assert await bot.document_texts(ROOF) == expected


@pytest.mark.parametrize("pages", [1, 2, 3])
async def test_a_history_that_breaks_off_is_read_from_where_the_bot_stopped(bot: BotFixture, pages: int) -> None:
    bot.platform.page_size = 1
    await run_steps(bot, WEEKEND)
    bot.platform.fail_after("page", pages, PlatformError("busy"))
    await run_steps(bot, [RECONCILE, recover(), RECONCILE])
    assert await bot.document_texts(ROOF) == WEEK


async def test_what_was_compared_once_is_not_read_again(bot: BotFixture) -> None:
    synced_until = bot.store.channels.get_synced_until
    joined = await synced_until(ROOF.room)
    assert joined is not None
    assert bot.platform.start_time <= joined <= bot.clock.now()
    await bot.post(ROOF, "ada", "One.")
    assert await synced_until(ROOF.room) == joined
    bot.platform.advance(300)
    began = bot.clock.now()
    await bot.reconcile()
    compared = await synced_until(ROOF.room)
    assert compared is not None
    assert began <= compared <= bot.clock.now()


async def test_what_a_failing_disk_kept_from_the_engine_reaches_it_later(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail_to_write(*_: object, **__: object) -> None:
        raise StoreError("the disk is full")

    await run_steps(bot, [*FOUR, write("bob", "Five.", after=7200)])
    with monkeypatch.context() as broken:
        broken.setattr(ConversationDocuments, "_amend_or_add", fail_to_write)
        await bot.reconcile(300)
    assert await bot.document_texts(ROOF) == WINDOW | THREAD
    await run_steps(bot, [say("bob", "Six.", after=3 * DAY), RECONCILE])
    added = {"window:m5": ["Bob: Five."], "window:m6": ["Bob: Six."]}
    assert await bot.document_texts(ROOF) == WINDOW | THREAD | added


@pytest.mark.parametrize(
    ("text", "deleted"), [("Look.", False), ("", False), ("Look.", True)], ids=["words", "no words", "deleted"]
)
async def test_a_file_that_could_not_be_fetched_is_fetched_later_unless_its_message_is_gone(
    bot: BotFixture, text: str, *, deleted: bool
) -> None:
    await run_steps(bot, FOUR)
    shared = bot.share(ROOF, bot.platform.add_file("tiles.txt", b"Red ones."), text=text)
    key = f"file:{shared.id}:{shared.uploads[0].id}"
    await run_steps(bot, [write("bob", "Six.", after=7200), fail("fetch", PlatformError("busy")), RECONCILE])
    documents = await bot.document_texts(ROOF)
    assert ["Bob: Six."] in documents.values()
    assert key not in documents
    assert bot.ingest_service.pending_syncs == {ROOF}
    if deleted:
        bot.platform.delete_message(shared)
    await run_steps(bot, [recover(), say("bob", "Later.", after=3 * DAY), RECONCILE])
    documents = await bot.document_texts(ROOF)
    assert documents.get(key) == (None if deleted else ["Red ones."])
    assert ("Ada: Look." in str(documents)) is (bool(text) and not deleted)
    assert not bot.ingest_service.pending_syncs


async def test_of_what_another_process_compared_since_only_missing_files_are_fetched(bot: BotFixture) -> None:
    await run_steps(bot, FOUR)
    bot.share(ROOF, bot.platform.add_file("tiles.txt", b"Red ones."))
    await run_steps(bot, [fail("fetch", PlatformError("busy")), RECONCILE, recover()])
    compared, read = await bot.store.channels.get_synced_until(ROOF.room), bot.platform.calls.count("history")
    assert compared is not None
    for since, reads in ((compared - timedelta(seconds=1), 0), (compared, 1)):
        bot.ingest_service._sync_queue.enqueue([ROOF], since)
        await bot.ingest_service.run_sync()
        assert bot.platform.calls.count("history") - read == reads
        assert ["Red ones."] in (await bot.document_texts(ROOF)).values()
        assert not bot.ingest_service.pending_syncs


async def test_all_missed_files_are_fetched_and_useless_ones_once(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconcile, "FILE_BATCH", 2)
    await run_steps(bot, FOUR)
    files = {f"{name}.txt": f"The {name} is here.".encode() for name in "abc"} | {"d.exe": b"\x7fELF"}
    for name, data in files.items():
        bot.share(ROOF, bot.platform.add_file(name, data), text="Look.")
    await run_steps(bot, [RECONCILE, RECONCILE])
    assert [key[:5] for key in await bot.document_texts(ROOF)].count("file:") == 3
    assert bot.platform.calls.count("fetch") == 3  # a program is never read
    assert not bot.ingest_service.pending_syncs


# Messages that a list lacks are asked for one by one, as often as it takes.


async def test_the_file_of_a_deleted_question_is_forgotten(bot: BotFixture) -> None:
    direct = bot.platform.add_channel("D1", "ada", kind="direct")
    shared = [bot.share(direct, bot.platform.add_file(f"{n}.txt", b"The tiles."), text="Look.") for n in range(3)]
    for each in shared:
        await bot.receive(each, addressed=True)
        await bot.ingest_service.files.ingest(each, with_question=True)
    bot.platform.delete_message(shared[0])
    bot.platform.messages[-1] = replace(shared[2], uploads=())
    await run_steps(bot, [BUSY, RECONCILE])
    assert len(await bot.document_texts(direct)) == 3
    await run_steps(bot, [recover(), RECONCILE])
    assert list(await bot.document_texts(direct)) == [f"file:{shared[1].id}:{shared[1].uploads[0].id}"]


async def test_of_a_thread_that_is_too_long_only_what_the_list_reaches_is_checked(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconcile, "MAX_REPLIES", 3)
    replies = [say("ada", f"Reply {number}.", thread=1) for number in range(6)]
    await run_steps(bot, [say("ada", "Root."), *replies, delete_away(2, 6), RECONCILE])
    left = [f"Ada: Reply {number}." for number in (0, 1, 2, 3, 5)]
    assert await bot.document_texts(ROOF) == {"thread:m1": ["Ada: Root.", *left]}
    assert bot.platform.calls.count("message") == 1


@pytest.mark.parametrize(
    ("limit", "happened", "documents"),
    [
        pytest.param("MAX_UNANSWERED", [BUSY], WINDOW | THREAD, id="nobody can say"),
        pytest.param("MAX_CHECKS", [], ONE | FOURTH, id="too many at once"),
    ],
)
async def test_checks_are_limited_and_continued_the_next_time(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch, limit: str, happened: list[Step], documents: Any
) -> None:
    monkeypatch.setattr(deletions, limit, 2)
    await run_steps(bot, [*FOUR, delete_away(1, 2, 3), *happened, RECONCILE])
    assert await bot.document_texts(ROOF) == documents
    assert bot.platform.calls.count("message") == 2
    await run_steps(bot, [recover(), RECONCILE])
    assert await bot.document_texts(ROOF) == FOURTH


async def test_a_thread_that_is_surely_gone_is_deleted_at_once_however_long_it_is(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletions, "MAX_CHECKS", 1)
    replies = [say("bob", f"Reply {number}.", thread=3) for number in range(5)]
    await run_steps(bot, [*FOUR, *replies, delete_away(*range(3, 10)), RECONCILE])
    assert await bot.document_texts(ROOF) == WINDOW


async def test_a_message_of_the_last_minute_is_not_missing_yet(bot: BotFixture) -> None:
    await run_steps(bot, [*FOUR, delete_away(4)])
    bot.platform.messages[-1] = replace(find(bot, 3), time=find(bot, 4).time)
    await bot.reconcile()
    assert await bot.document_texts(ROOF) == WINDOW | THREAD
    assert bot.ingest_service.pending_syncs == {ROOF}
    await bot.reconcile(300)
    assert await bot.document_texts(ROOF) == WINDOW | THIRD
    assert not bot.ingest_service.pending_syncs


class UnsurePlatform(FakePlatform):
    """Of some messages it never says whether they are there."""

    unsure: frozenset[str] = frozenset()

    async def fetch_message(self, place: Location, message: str) -> Message | None:
        if message in self.unsure:
            raise PlatformError("Nobody can say.")
        return await super().fetch_message(place, message)


@with_settings(platform=UnsurePlatform())
async def test_a_message_that_is_never_answered_for_keeps_no_other_from_being_checked(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletions, "MAX_UNANSWERED", 2)
    assert isinstance(bot.platform, UnsurePlatform)
    bot.platform.unsure = frozenset({"m2", "m3"})
    await run_steps(bot, [*FOUR, delete_away(1, 2, 3), RECONCILE])
    assert await bot.document_texts(ROOF) == WINDOW | THREAD
    assert bot.ingest_service.pending_syncs == {ROOF}
    await bot.reconcile(300)
    assert await bot.document_texts(ROOF) == TWO | THREAD
    assert not bot.ingest_service.pending_syncs


async def test_many_messages_that_were_deleted_at_once_go_within_minutes(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletions, "MAX_CHECKS", 2)
    await run_steps(bot, [*(say("ada", f"{number}.") for number in range(5)), delete_away(1, 2, 3, 4, 5)])
    for left in (True, True, False):
        await bot.reconcile(300)
        assert bool(bot.ingest_service.pending_syncs) is left
    assert await bot.document_texts(ROOF) == {}


async def test_what_lists_lack_although_it_is_there_is_checked_no_more_than_once_a_day(bot: BotFixture) -> None:
    await run_steps(bot, [*FOUR, list_only(3, 4)])
    for _ in range(2):
        await bot.reconcile(300)
        assert not bot.ingest_service.pending_syncs
    assert bot.platform.listed_messages is not None
    bot.platform.listed_messages.append(await bot.post(ROOF, "ada", "Much later.", after=30 * DAY))
    for _ in range(3):
        await bot.reconcile(300)
    assert await bot.store.unconfirmed_deletions.list_next(ROOF.room, 9) == []
