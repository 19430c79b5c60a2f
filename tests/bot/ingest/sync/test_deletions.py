"""Which stored messages a listing should contain, and which of those that it lacks are deleted."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.ingest.sync import deletions
from bot.ingest.sync.deletions import find_missing
from bot.platform.models import Location, Message
from bot.platform.ports import ThreadPage
from bot.store import FileRecord, MessageRecord
from tests.support.bot_fixture import BotFixture, with_settings
from tests.support.builders import ROOF, make_message
from tests.support.fake_platform import START, FakePlatform
from tests.support.steps import DAY, FOUR, delete_away, list_only, reconcile, run_steps, say

THREAD = replace(ROOF, thread="m0")


def post(number: int) -> Message:
    """A message of the thread that m0 begins, in the minute of its number."""
    place = THREAD if number else ROOF
    return make_message(f"m{number}", location=place, time=START + timedelta(minutes=number))


KNOWN = [MessageRecord(ROOF.room, f"m{number}", "m0", "ada", post(number).time, "") for number in range(5)]


@pytest.mark.parametrize(
    ("listed", "is_complete", "missing"),
    [
        ((0, 1, 2, 3, 4), True, []),
        ((0, 2, 4), True, ["m1", "m3"]),
        ((), True, ["m0", "m1", "m2", "m3", "m4"]),
        ((2, 4), False, ["m3"]),
        ((0, 2, 4), False, ["m3"]),
        ((2,), False, ["m3", "m4"]),
        ((), False, []),
        ((0,), False, []),
    ],
)
def test_it_lacks_what_is_within_its_reach(listed: tuple[int, ...], *, is_complete: bool, missing: list[str]) -> None:
    page = ThreadPage([post(number) for number in listed], is_complete=is_complete)
    assert [record.id for record in find_missing(page, KNOWN)] == missing


def test_of_two_messages_of_a_moment_both_are_within_reach() -> None:
    twin = replace(KNOWN[2], id="m9")
    assert find_missing(ThreadPage([post(2)], is_complete=False), [KNOWN[1], twin]) == [twin]


def test_the_root_is_never_within_reach() -> None:
    root = replace(KNOWN[0], time=KNOWN[4].time)
    assert find_missing(ThreadPage([post(2)], is_complete=False), [root]) == []


def test_a_root_that_names_its_own_thread_is_no_reply() -> None:
    assert find_missing(ThreadPage([replace(post(0), location=THREAD)], is_complete=False), KNOWN) == []


class ThreadedPlatform(FakePlatform):
    """It finds a reply only in the thread that it is asked for in."""

    async def fetch_message(self, place: Location, message: str) -> Message | None:
        found = await super().fetch_message(place, message)
        return found if found and found.location.thread in {"", found.id, place.thread} else None


@pytest.mark.usefixtures("roof")
@with_settings(platform=ThreadedPlatform())
async def test_a_reply_is_looked_for_in_its_thread(bot: BotFixture) -> None:
    await run_steps(bot, [*FOUR, list_only(3), reconcile()])
    assert bot.platform.calls.count("message") >= 1
    assert {"thread:m3": ["Ada: Three.", "Bob: Four."]}.items() <= (await bot.document_texts(ROOF)).items()


@pytest.mark.usefixtures("roof")
async def test_what_is_there_though_lists_lack_it_keeps_no_other_from_being_checked(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletions, "MAX_CHECKS", 1)
    posts = [say("ada", text) for text in ("One.", "Two.", "Three.")]
    await run_steps(bot, [*posts, delete_away(1), list_only(2), reconcile(), reconcile()])
    assert await bot.document_texts(ROOF) == {"window:m1": ["Ada: Two.", "Ada: Three."]}


async def share_in_direct_message(bot: BotFixture, after: float = 60) -> Message:
    """Ada shows the bot a file, as part of a question."""
    direct = bot.platform.add_channel("D1", "ada", kind="direct")
    upload = bot.platform.add_file(f"{bot.platform.clock.now():%d}.txt", b"The tiles.")
    shared = bot.platform.add_message(direct, "ada", "Look.", uploads=(upload,), after=after)
    await bot.receive(shared, addressed=True)
    await bot.ingest_service.files.ingest(shared, with_question=True)
    return shared


async def test_files_of_the_last_week_of_files_are_checked(bot: BotFixture) -> None:
    shared = [await share_in_direct_message(bot, days * DAY) for days in (1, 1, 7)]
    for message in shared:
        bot.platform.delete_message(message)
    await bot.reconcile(300)
    assert list(await bot.document_texts(shared[0].location)) == [f"file:{shared[0].id}:{shared[0].uploads[0].id}"]


@pytest.mark.parametrize(("age", "is_sure"), [(59, False), (60, True)])
async def test_a_file_whose_message_is_gone_for_less_than_a_minute_is_checked_again(
    bot: BotFixture, age: int, *, is_sure: bool
) -> None:
    shared = await share_in_direct_message(bot)
    bot.platform.delete_message(shared)
    await bot.reconcile(age)
    assert (await bot.document_texts(shared.location) == {}) is is_sure
    assert (not bot.ingest_service.pending_syncs) is is_sure
    await bot.reconcile(300)
    assert await bot.document_texts(shared.location) == {}


async def test_a_file_whose_message_is_there_is_not_asked_for_again(bot: BotFixture) -> None:
    shared = await share_in_direct_message(bot)
    await bot.reconcile(300)
    assert len(await bot.document_texts(shared.location)) == 1
    assert not bot.ingest_service.pending_syncs


async def test_a_file_whose_message_went_meanwhile_is_checked_no_more(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = FileRecord("file:m9:f9", ROOF.room, "m9", "f9", "ada", START)

    async def list_gone(_platform: str, _limit: int) -> list[FileRecord]:
        return [gone]

    monkeypatch.setattr(bot.store.files, "list_in_unindexed_channels", list_gone)
    await bot.reconcile(300)
    assert (bot.platform.calls.count("message"), bot.ingest_service.pending_syncs) == (0, set())


@pytest.mark.usefixtures("roof")
async def test_a_message_that_went_meanwhile_is_asked_for_in_its_channel(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def list_gone(_room: str, _limit: int) -> list[str]:
        return ["m9"]

    await run_steps(bot, FOUR)
    monkeypatch.setattr(bot.store.unconfirmed_deletions, "list_next", list_gone)
    await bot.reconcile(300)
    assert not bot.ingest_service.pending_syncs
    assert {"window:m1": ["Ada: One.", "Ada: Two."]}.items() <= (await bot.document_texts(ROOF)).items()
