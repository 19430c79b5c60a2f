"""The sync queue: channels are compared again soon, or later and later, until nothing is missing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.errors import PermissionDenied, PlatformError
from bot.ingest.sync.queue import FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS, RetryQueue, SyncQueue
from bot.platform.models import Location
from tests.support.bot_fixture import BotFixture, run_before
from tests.support.builders import HALL, ROOF
from tests.support.patience import PATIENCE

YARD = Location("slack", "T2", "YARD")
WAITS = [FIRST_RETRY_SECONDS * 2**number for number in range(6)] + 3 * [MAX_RETRY_SECONDS]


def test_a_sync_that_does_not_finish_is_tried_later_each_time() -> None:
    pending, now, waits = RetryQueue(), 0.0, []
    pending.add([ROOF])
    for _ in WAITS:
        [sync] = pending.list_due(now)
        pending.delay(sync, now)
        waits.append(min(wait for wait in range(int(MAX_RETRY_SECONDS) + 1) if pending.list_due(now + wait)))
        now += waits[-1]
    assert waits == WAITS


def test_a_channel_that_is_added_again_is_due_at_once_although_an_older_sync_ends() -> None:
    pending = RetryQueue()
    pending.add([ROOF, HALL])
    roof, hall = pending.list_due(0.0)
    pending.delay(roof, 0.0)
    pending.add([ROOF, HALL])
    for late in (pending.finish, lambda sync: pending.delay(sync, 0.0)):
        late(roof)
        late(hall)
    assert {each.location for each in pending.list_due(0.0)} == {ROOF, HALL}


def test_what_is_finished_and_what_the_bot_left_is_pending_no_more() -> None:
    pending = RetryQueue()
    pending.add([ROOF, HALL, YARD])
    roof, hall, yard = pending.list_due(0.0)
    pending.finish(roof)
    pending.delete_workspace("slack", "T1")
    assert [pending.is_current(each) for each in (roof, hall, yard)] == [False, False, True]
    assert pending.locations == {YARD}


@pytest.mark.usefixtures("roof")
@pytest.mark.parametrize("error", [PermissionDenied("hidden"), PlatformError("busy")])
async def test_a_channel_that_stays_hidden_is_asked_for_less_and_less_often(
    bot: BotFixture, error: PlatformError
) -> None:
    await bot.ingest_service.start_reconciliation("slack")
    bot.platform.failing["history"] = error
    asked = list[float]()
    for passed in range(0, int(4 * MAX_RETRY_SECONDS), int(FIRST_RETRY_SECONDS)):
        before = bot.platform.calls.count("history")
        await bot.ingest_service.run_sync()
        bot.platform.advance(FIRST_RETRY_SECONDS)
        asked += [passed / FIRST_RETRY_SECONDS] * (bot.platform.calls.count("history") - before)
    assert asked == [0, 1, 3, 7, 15, 31, 63, 123, 183]
    bot.platform.failing.clear()
    await bot.reconcile()
    assert not bot.ingest_service.pending_syncs


class HeldBackfill:
    """Back-fills of three workspaces: that of T1 waits for `go`, and that of T3 is added later."""

    def __init__(self) -> None:
        self.go, self.changed = asyncio.Event(), asyncio.Condition()
        self.due = {("slack", "T1"), ("slack", "T2")}
        self.ended: list[str] = []

    async def list_due_workspaces(self) -> set[tuple[str, str]]:
        return self.due

    async def run_due(self, platform: str, workspace: str) -> bool:
        if workspace == "T1":
            await self.go.wait()
        self.ended.append(workspace)
        async with self.changed:
            self.changed.notify_all()
        return False  # as if another process held it: it stays due


class Membership:
    def __init__(self) -> None:
        self.updated = asyncio.Event()


async def test_a_workspace_that_must_wait_delays_no_other_also_not_a_new_one(bot: BotFixture) -> None:
    backfill, membership = HeldBackfill(), Membership()
    nothing: Any = None
    queue = SyncQueue(bot.context, nothing, membership, backfill, nothing)  # type: ignore[arg-type]
    running = asyncio.create_task(queue.run_pending())
    async with asyncio.timeout(PATIENCE):
        async with backfill.changed:
            await backfill.changed.wait_for(lambda: backfill.ended == ["T2"])
        backfill.due = {("slack", "T1"), ("slack", "T3")}
        membership.updated.set()
        async with backfill.changed:
            await backfill.changed.wait_for(lambda: backfill.ended == ["T2", "T3"])
        assert not running.done()
        backfill.go.set()
        await running
    assert backfill.ended == ["T2", "T3", "T1", "T1"]  # once more, because something was added while it ran


def reconcile_before(bot: BotFixture, call: str) -> None:
    run_before(bot.platform, call, lambda: bot.ingest_service.start_reconciliation("slack"))


async def test_a_channel_is_compared_again_if_the_connection_is_lost_meanwhile(bot: BotFixture, roof: Location) -> None:
    await bot.post(roof, "ada", "One.")
    await bot.ingest_service.start_reconciliation("slack")
    reconcile_before(bot, "fetch_person")
    bot.platform.add_message(roof, "cy", "Two.")
    before = bot.platform.calls.count("history")
    await bot.ingest_service.run_sync()
    assert bot.platform.calls.count("history") - before == 2  # it was added while it ran
    assert not bot.ingest_service.pending_syncs


async def test_channels_are_compared_between_two_back_fills(bot: BotFixture, roof: Location) -> None:
    missed = bot.platform.add_message(roof, "ada", "Missed.")
    for name in ("HALL", "YARD"):
        place = bot.platform.add_channel(name, "ada")
        bot.platform.add_message(place, "cy", "Hello.")
        await bot.ingest_service.start_backfill(place, 30)
    reconcile_before(bot, "fetch_person")
    await bot.ingest_service.run_sync()
    assert (await bot.document_texts(roof))[f"window:{missed.id}"] == ["Ada: Missed."]
