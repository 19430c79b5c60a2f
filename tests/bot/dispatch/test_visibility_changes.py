"""Changes of who reads what: nothing is believed until rooms were moved, and a failure is made up for."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from bot.bot import Bot
from bot.dispatch import event_queue as inboxes
from bot.ingest.channels import ChannelMembership
from bot.permissions.audience import ResolvedScope
from bot.platform.events import VisibilityChanged
from engine.errors import StoreError
from engine.models import Scope
from tests.support.bot_fixture import open_bot_fixture

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from bot.platform.models import Location
    from tests.support.bot_fixture import BotFixture

OPEN = Scope(frozenset({"slack:T1:open"}), frozenset())
OWN = Scope(frozenset({"slack:T1:open", "slack:T1:ROOF"}), frozenset())


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed is made up for soon, and questions wait for it as long as it takes."""
    monkeypatch.setattr("bot.bot.REFRESH_INTERVAL", 0.01)
    monkeypatch.setattr("bot.permissions.resolver.SUSPENSION_WAIT", 10.0)
    monkeypatch.setattr(inboxes, "FIRST_DELAY", 0.01)
    monkeypatch.setattr(inboxes, "MAX_DELAY", 0.01)


@asynccontextmanager
async def running(home: BotFixture) -> AsyncIterator[Bot]:
    """A bot in a house."""
    async with Bot.open(home.context.engine_context, home.context.store, home.context.settings) as bot:
        bot.attach(home.platform)
        yield bot


def broken(monkeypatch: pytest.MonkeyPatch, owner: object, name: str, times: int) -> asyncio.Event:
    """The disk is away for so many calls of a method; gives whether it is back."""
    real: Callable[..., Any] = getattr(owner, name)
    back, left = asyncio.Event(), [None] * times

    async def call(*args: Any, **kwargs: Any) -> Any:
        if left:
            left.pop()
            raise StoreError("The disk is away.")
        back.set()
        return await real(*args, **kwargs)

    monkeypatch.setattr(owner, name, call)
    return back


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[BotFixture]:
    async with open_bot_fixture(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
async def roof(home: BotFixture) -> Location:
    """An open channel, with something in it."""
    roof = await home.join_channel("ROOF", "ada")
    await home.post(roof, "ada", "The tiles come on Monday.")
    return roof


async def test_a_change_that_could_not_be_kept_is_learnt_all_the_same(
    home: BotFixture, roof: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(home) as bot:
        broken(monkeypatch, bot.store.event_queue, "enqueue", 3)
        home.platform.change_channel("ROOF", kind="closed")
        with pytest.raises(StoreError):
            await bot.receive(VisibilityChanged(roof), "changed:1")
        assert await bot.context.audience.resolve_scope(roof) == ResolvedScope(OWN)
    [document] = await home.list_documents(roof)
    assert document.space == roof.room


async def test_a_change_that_could_not_be_learnt_in_time_is_learnt_later(
    home: BotFixture, roof: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(home) as bot:
        broken(monkeypatch, bot.store.channels, "list_joined", inboxes.MAX_ATTEMPTS + 2)
        home.platform.change_channel("ROOF", kind="closed")
        await bot.receive(VisibilityChanged(roof), "changed:1")
        assert await bot.context.audience.resolve_scope(roof) == ResolvedScope(OWN)
    assert await bot.store.event_queue.count_waiting() == 0


async def test_catching_up_that_failed_is_begun_again(
    home: BotFixture, roof: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(home) as bot:
        broken(monkeypatch, bot.store.channels, "list_joined", 2)
        bot.suspend_visibility("slack")
        with pytest.raises(StoreError):
            await bot.reconcile("slack")
        assert await bot.context.audience.resolve_scope(roof) == ResolvedScope(OPEN)
        await bot.event_queue.wait_until_idle()


async def test_a_change_that_is_told_again_before_it_is_learnt_is_doubted_still(
    home: BotFixture, roof: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    learnt = asyncio.Event()
    move = ChannelMembership.update_space

    async def late(presence: ChannelMembership, place: Location, *listed: Any) -> None:
        await learnt.wait()
        await move(presence, place, *listed)

    monkeypatch.setattr(ChannelMembership, "update_space", late)
    hall = home.platform.add_channel("HALL", "bob")
    async with running(home) as bot:
        home.platform.change_channel("ROOF", kind="closed")
        assert await bot.receive(VisibilityChanged(roof), "changed:1")
        assert not await bot.receive(VisibilityChanged(roof), "changed:1")
        monkeypatch.setattr("bot.permissions.resolver.SUSPENSION_WAIT", 0.01)
        assert (await bot.context.audience.resolve_scope(hall)).gap == "checking"
        learnt.set()
        await bot.event_queue.wait_until_idle()
        assert await bot.context.audience.resolve_scope(hall) == ResolvedScope(OPEN)


async def test_a_change_that_is_told_twice_leaves_no_doubt(home: BotFixture, roof: Location) -> None:
    async with running(home) as bot:
        await bot.receive(VisibilityChanged(roof), "changed:1")
        await bot.event_queue.wait_until_idle()
        assert not await bot.receive(VisibilityChanged(roof), "changed:1")
        assert await bot.context.audience.resolve_scope(roof) == ResolvedScope(OPEN)
