"""Periodic jobs: conversations close while history is read, old messages go, and failed jobs are repeated."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta

import pytest

from bot.ingest.documents import ConversationDocuments
from bot.ingest.sync import jobs
from bot.ingest.sync.jobs import TOMBSTONE_TTL, Retention
from bot.platform.events import BotAdded
from bot.platform.models import Location, Message
from engine.errors import StoreError
from tests.support.bot_fixture import BotFixture, with_settings
from tests.support.builders import ROOF
from tests.support.fake_platform import START, FakePlatform
from tests.support.patience import PATIENCE
from tests.support.steps import DAY, delete, forget_message, run_steps, say

pytestmark = pytest.mark.usefixtures("roof")


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
    return [each.open for each in await bot.list_documents(ROOF)]


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
    for minute, expected in ((1, True), (18, False)):
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


async def test_the_jobs_end_also_if_something_happens_at_that_moment(bot: BotFixture) -> None:
    task = asyncio.create_task(bot.ingest_service.run())
    await asyncio.sleep(0.1)
    bot.ingest_service._membership.updated.set()
    task.cancel()
    _, left = await asyncio.wait({task}, timeout=PATIENCE)
    assert not left


@with_settings(retention_days=10)
async def test_old_messages_are_forgotten(bot: BotFixture) -> None:
    await run_steps(bot, [say("ada", "Old."), say("ada", "New.", after=8 * DAY)])
    await bot.ingest_service.run_due_jobs(START.replace(day=30, hour=12))
    assert await bot.document_texts(ROOF) == {"window:m2": ["Ada: New."]}


async def test_an_old_deletion_is_remembered_only_where_the_platform_may_still_show_the_message(
    bot: BotFixture,
) -> None:
    await run_steps(bot, [say("ada", "One."), say("ada", "Two."), say("ada", "Three."), delete(1), forget_message(2)])
    retention = Retention(bot.context, ConversationDocuments(bot.context))
    for late, expected in ((-1, {"m1", "m2"}), (1, {"m2"})):
        await retention.delete_expired(bot.clock.now() + TOMBSTONE_TTL + timedelta(minutes=late))
        assert await bot.store.messages.find_tombstones(ROOF.room, ["m1", "m2"]) == expected
    await bot.backfill(ROOF)
    assert await bot.document_texts(ROOF) == {"window:m1": ["Ada: Three."]}
