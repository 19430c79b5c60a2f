"""Periodic jobs: conversations close while history is read, old messages go, and failed jobs are repeated."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.ingest.documents import ConversationDocuments
from bot.ingest.sync import jobs
from bot.ingest.sync import retention as retention_module
from bot.ingest.sync.retention import MAX_LEAP, TOMBSTONE_TTL, Retention
from bot.platform.events import BotAdded
from bot.platform.models import Location, Message
from bot.store import VerifiedAnswer
from bot.store.event_queue import NewEvent
from bot.store.models import ConversationRecord
from engine.errors import StoreError
from tests.support.bot_fixture import BotFixture, wait_for_call, with_settings
from tests.support.builders import ROOF, make_answer
from tests.support.clock import ShiftedClock
from tests.support.fake_platform import START, FakePlatform
from tests.support.patience import PATIENCE
from tests.support.steps import DAY, Step, delete, forget_message, run_steps, say

pytestmark = pytest.mark.usefixtures("roof")
EXPIRY_DAY = START.replace(day=30, hour=12)  # when what is ten days old goes
AGES = {"old": EXPIRY_DAY - timedelta(days=10, seconds=1), "new": EXPIRY_DAY - timedelta(days=10)}


class EndlessPlatform(FakePlatform):
    """The history of the hall never ends; `asked` is set once the bot waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()

    async def history(self, place: Location, since: datetime, before: str = "") -> AsyncIterator[Sequence[Message]]:
        if place.channel == "HALL":
            self.asked.set()
            await asyncio.Event().wait()
        async for page in super().history(place, since, before):
            yield page


@asynccontextmanager
async def running(bot: BotFixture) -> AsyncIterator[None]:
    """The jobs run meanwhile."""
    task = asyncio.create_task(bot.ingest_service.run())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def is_open(bot: BotFixture) -> list[bool]:
    return [document.open for document in await bot.list_documents(ROOF)]


@with_settings(platform=EndlessPlatform())
async def test_conversations_close_while_the_history_of_a_channel_is_read(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "POLL_SECONDS", 0.01)
    assert isinstance(bot.platform, EndlessPlatform)
    await bot.ingest_service.handle(BotAdded(bot.platform.add_channel("HALL", "ada")))
    async with running(bot), asyncio.timeout(PATIENCE):
        await bot.platform.asked.wait()
        await bot.post(ROOF, "ada", "One.")
        assert await is_open(bot) == [True]
        bot.platform.advance(3600)
        while await is_open(bot) == [True]:  # noqa: ASYNC110 - no event
            await asyncio.sleep(0)


async def test_a_conversation_closes_after_a_quarter_of_an_hour_and_a_reply_opens_it_again(bot: BotFixture) -> None:
    await run_steps(bot, [say("ada", "Who?"), say("ada", "Anyone?", thread=1)])
    for minute, expected in ((16, True), (17, False)):
        await bot.ingest_service.run_due_jobs(START.replace(minute=minute))
        assert await is_open(bot) == [expected]
    await run_steps(bot, [say("ada", "Hello?", thread=1, after=7200)])
    assert await is_open(bot) == [True]


async def test_a_daily_comparison_that_could_not_begin_is_not_postponed_for_a_day(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> list[Location]:
        raise StoreError("locked")

    jobs, tomorrow = bot.ingest_service._jobs, bot.platform.current_time() + timedelta(days=1)

    with monkeypatch.context() as patch:
        patch.setattr(bot.store.channels, "list_joined", fail)
        await jobs._run_daily_comparison(tomorrow)
    await jobs._run_daily_comparison(tomorrow)
    assert ROOF in bot.ingest_service.pending_syncs
    await bot.ingest_service.run_sync()
    await bot.store.channels.record_synced_until(ROOF.room, tomorrow)
    await jobs._enqueue_everything(tomorrow + timedelta(hours=1))
    assert ROOF not in bot.ingest_service.pending_syncs  # another process compared it


async def test_what_was_delayed_does_not_wait_for_a_clock_that_was_set_back(bot: BotFixture) -> None:
    clock, quota = bot.platform.clock, bot.store.recent_questions
    assert isinstance(clock, ShiftedClock)
    late = clock.time() + 60
    await bot.store.event_queue.enqueue(NewEvent("Message", "{}", "slack:T1"), ["k"], clock.time())
    await bot.store.event_queue.delay(1, late, "Error", 1)
    await bot.store.backfill_cursors.start(ROOF.room, START)
    await bot.store.backfill_cursors.delay(ROOF.room, late)
    assert [await quota.count_if_below(("slack", "T1", "ada"), 1, clock.time()) for _ in range(2)] == [True, False]
    clock.set_back(DAY)
    await bot.ingest_service.run_due_jobs(clock.now())
    now = clock.time()
    assert await bot.store.event_queue.get_next_due(now) is None
    assert await bot.store.backfill_cursors.list_due(now, "slack", "T1")
    assert await quota.count_if_below(("slack", "T1", "ada"), 1, now)


async def test_the_jobs_end_also_if_something_happens_at_that_moment(bot: BotFixture) -> None:
    updated = bot.ingest_service._membership.updated
    task = asyncio.create_task(bot.ingest_service.run())
    await wait_for_call(updated, "wait")
    updated.set()
    task.cancel()
    _, left = await asyncio.wait({task}, timeout=PATIENCE)
    assert not left


@pytest.mark.parametrize(
    ("happens", "left"),
    [(say("ada", "Hello?", thread=1, after=930), [True]), (delete(1, 2), [])],
    ids=["a reply", "it is deleted"],
)
async def test_what_happens_while_idle_conversations_are_closed_is_noticed(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch, happens: Step, left: list[bool]
) -> None:
    conversations, retention = bot.store.conversations, Retention(bot.context, ConversationDocuments(bot.context))
    list_idle_since = conversations.list_idle_since

    async def list_before_it_happens(before: datetime) -> list[ConversationRecord]:
        found = await list_idle_since(before)
        await run_steps(bot, [happens])
        return found

    await run_steps(bot, [say("ada", "Who?"), say("ada", "Anyone?", thread=1)])
    monkeypatch.setattr(conversations, "list_idle_since", list_before_it_happens)
    await retention.close_idle(START.replace(minute=18))
    assert await is_open(bot) == left


@with_settings(retention_days=10)
async def test_old_messages_of_all_channels_are_forgotten_a_batch_at_a_time(
    bot: BotFixture, hall: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention_module, "BATCH", 2)
    await run_steps(bot, [say("ada", "Old."), say("ada", "As old.")])
    await bot.post(hall, "bob", "Old, too.")
    await run_steps(bot, [say("ada", "New.", after=8 * DAY)])
    await bot.ingest_service.run_due_jobs(EXPIRY_DAY)
    assert await bot.document_texts(ROOF) == {"window:m4": ["Ada: New."]}
    assert await bot.document_texts(hall) == {}


@with_settings(retention_days=10)
async def test_old_files_are_forgotten(bot: BotFixture) -> None:
    for name, time in AGES.items():
        message = bot.share(ROOF, bot.platform.add_file(f"{name}.txt", b"The tiles come on Monday."))
        await bot.ingest_service.files.ingest(replace(message, time=time))
    await bot.ingest_service.run_due_jobs(EXPIRY_DAY)
    assert [document.title for document in await bot.list_documents(ROOF)] == ["new.txt"]
    assert [file.time for file in await bot.store.files.list_by_workspace("slack", "T1")] == [AGES["new"]]


@with_settings(retention_days=10)
async def test_old_answers_are_forgotten(bot: BotFixture) -> None:
    for name, time in AGES.items():
        await bot.store.answers.begin(make_answer(name, time=time))
    await bot.ingest_service.run_due_jobs(EXPIRY_DAY)
    assert [bool(await bot.store.answers.get(name)) for name in AGES] == [False, True]


@with_settings(retention_days=10)
async def test_old_verified_answers_are_forgotten(bot: BotFixture) -> None:
    for name, time in AGES.items():
        await bot.store.verified_answers.save(
            VerifiedAnswer(name, ROOF, "m1", f"Which {name} tiles?", "Red.", "bob", "", "max", time)
        )
    await bot.ingest_service.run_due_jobs(EXPIRY_DAY)
    assert [answer.id for answer in await bot.store.verified_answers.list_in_room(ROOF.room)] == ["new"]


async def test_without_a_period_nothing_is_forgotten(bot: BotFixture) -> None:
    await run_steps(bot, [say("ada", "Old.")])
    await bot.store.answers.begin(make_answer())
    await bot.ingest_service.run_due_jobs(EXPIRY_DAY.replace(year=2040))
    assert await bot.document_texts(ROOF) == {"window:m1": ["Ada: Old."]}
    assert await bot.store.answers.get("a1")


async def test_an_old_deletion_is_remembered_only_where_the_platform_may_still_show_the_message(
    bot: BotFixture,
) -> None:
    await run_steps(bot, [say("ada", "One."), say("ada", "Two."), say("ada", "Three."), delete(1), forget_message(2)])
    retention = Retention(bot.context, ConversationDocuments(bot.context))
    for days in range(0, TOMBSTONE_TTL.days, MAX_LEAP.days - 1):  # it ran all the time
        await retention.delete_expired(bot.clock.now() + timedelta(days=days))
    for late, expected in ((-1, {"m1", "m2"}), (1, {"m2"})):
        await retention.delete_expired(bot.clock.now() + TOMBSTONE_TTL + timedelta(minutes=late))
        assert await bot.store.messages.find_tombstones(ROOF.room, ["m1", "m2"]) == expected
    await bot.backfill(ROOF)
    assert await bot.document_texts(ROOF) == {"window:m1": ["Ada: Three."]}
