"""Changes of an audience: no space is trusted until rooms were moved, and a failure is made up for."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.dispatch import event_queue
from bot.ingest.channels import ChannelMembership
from bot.permissions.audience import ResolvedScope
from bot.platform.events import VisibilityChanged
from bot.platform.models import Location
from engine.errors import StoreError
from engine.models import Scope
from tests.support.bot_fixture import BotFixture
from tests.support.builders import ROOF
from tests.support.patience import PATIENCE

OPEN = ResolvedScope(Scope(frozenset({"slack:T1:open"}), frozenset()))
OWN = ResolvedScope(Scope(frozenset({"slack:T1:open", "slack:T1:ROOF"}), frozenset()))
CHANGED = VisibilityChanged(ROOF)
pytestmark = pytest.mark.usefixtures("tiles")


@pytest.fixture(autouse=True)
def _short_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed is repeated soon, and questions wait for it for long."""
    monkeypatch.setattr("bot.bot.REFRESH_INTERVAL", 0.01)
    monkeypatch.setattr("bot.permissions.resolver.SUSPENSION_WAIT", 10.0)
    monkeypatch.setattr(event_queue, "FIRST_DELAY", 0.01)
    monkeypatch.setattr(event_queue, "MAX_DELAY", 0.01)


def break_store(monkeypatch: pytest.MonkeyPatch, owner: object, name: str, times: int) -> None:
    """Let so many calls of a method fail."""
    method, left = getattr(owner, name), [None] * times

    async def call(*args: Any, **kwargs: Any) -> Any:
        if left:
            left.pop()
            raise StoreError("The disk is away.")
        return await method(*args, **kwargs)

    monkeypatch.setattr(owner, name, call)


async def test_a_change_that_could_not_be_queued_is_noticed_all_the_same(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with bot.run_bot() as running:
        break_store(monkeypatch, bot.store.event_queue, "enqueue", 3)
        bot.platform.change_channel("ROOF", kind="closed")
        with pytest.raises(StoreError):
            await running.receive(CHANGED, "changed:1")
        assert await running.context.audience.resolve_scope(ROOF) == OWN
    assert await bot.spaces(ROOF) == [ROOF.room]


async def test_a_change_that_could_not_be_handled_in_time_is_handled_later(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with bot.run_bot() as running:
        break_store(monkeypatch, bot.store.channels, "list_joined", event_queue.MAX_ATTEMPTS + 2)
        bot.platform.change_channel("ROOF", kind="closed")
        await running.receive(CHANGED, "changed:1")
        async with asyncio.timeout(PATIENCE):
            while await running.context.audience.resolve_scope(ROOF) != OWN:  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(0.01)
    assert await bot.store.event_queue.count_waiting() == 0


async def test_a_reconciliation_that_failed_is_repeated(bot: BotFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    async with bot.run_bot() as running:
        break_store(monkeypatch, bot.store.channels, "list_joined", 2)
        running.suspend_visibility("slack")
        with pytest.raises(StoreError):
            await running.reconcile("slack")
        assert await running.context.audience.resolve_scope(ROOF) == OPEN
        await running.event_queue.wait_until_idle()


async def test_a_workspace_that_reconnects_suspends_no_other(bot: BotFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.permissions.resolver.SUSPENSION_WAIT", 0.01)
    hall = bot.platform.add_channel("HALL", "bob")
    async with bot.run_bot() as running:
        running.suspend_visibility("slack", "elsewhere")
        assert (await running.context.audience.resolve_scope(hall)) == OPEN
        running.suspend_visibility("slack", hall.workspace)
        await running.reconcile("slack", "elsewhere")
        assert (await running.context.audience.resolve_scope(hall)).gap == "checking"
        await running.reconcile("slack", hall.workspace)
        assert (await running.context.audience.resolve_scope(hall)) == OPEN


async def test_a_repeated_change_is_in_doubt_until_the_first_one_is_handled(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    handled, update_space = asyncio.Event(), ChannelMembership.update_space

    async def late(membership: ChannelMembership, place: Location, *listed: Any) -> None:
        await handled.wait()
        await update_space(membership, place, *listed)

    monkeypatch.setattr(ChannelMembership, "update_space", late)
    hall = bot.platform.add_channel("HALL", "bob")
    async with bot.run_bot() as running:
        bot.platform.change_channel("ROOF", kind="closed")
        assert [await running.receive(CHANGED, "changed:1") for _ in range(2)] == [True, False]
        monkeypatch.setattr("bot.permissions.resolver.SUSPENSION_WAIT", 0.01)
        assert (await running.context.audience.resolve_scope(hall)).gap == "checking"
        handled.set()
        await running.event_queue.wait_until_idle()
        assert await running.context.audience.resolve_scope(hall) == OPEN
        assert not await running.receive(CHANGED, "changed:1")
        assert await running.context.audience.resolve_scope(hall) == OPEN
