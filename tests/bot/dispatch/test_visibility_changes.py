"""Changes of who reads what: nothing is believed until rooms were moved, and a failure is made up for."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from bot.bot import Bot
from bot.dispatch import event_queue as inboxes
from bot.ingest.channels import Presence
from bot.permissions.resolver import Reach
from bot.platform.events import Changed
from engine.errors import StoreError
from engine.models import Scope
from tests.support.household import household

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from bot.platform.models import Place
    from tests.support.household import Household

OPEN = Scope(frozenset({"slack:T1:open"}), frozenset())
OWN = Scope(frozenset({"slack:T1:open", "slack:T1:ROOF"}), frozenset())


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed is made up for soon, and questions wait for it as long as it takes."""
    monkeypatch.setattr("bot.bot.REFRESH", 0.01)
    monkeypatch.setattr("bot.permissions.resolver.MOVING", 10.0)
    monkeypatch.setattr(inboxes, "FIRST", 0.01)
    monkeypatch.setattr(inboxes, "LONGEST", 0.01)


@asynccontextmanager
async def running(home: Household) -> AsyncIterator[Bot]:
    """A bot in a house."""
    async with Bot.open(home.house.desk, home.house.store, home.house.settings) as bot:
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
async def home(tmp_path: Path) -> AsyncIterator[Household]:
    async with household(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
async def roof(home: Household) -> Place:
    """An open channel, with something in it."""
    roof = await home.joined("ROOF", "ada")
    await home.say(roof, "ada", "The tiles come on Monday.")
    return roof


async def test_a_change_that_could_not_be_kept_is_learnt_all_the_same(
    home: Household, roof: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(home) as bot:
        broken(monkeypatch, bot.store.inbox, "put", 3)
        home.platform.change("ROOF", kind="closed")
        with pytest.raises(StoreError):
            await bot.hear(Changed(roof), "changed:1")
        assert await bot.house.readers.reach(roof) == Reach(OWN)
    [document] = await home.documents(roof)
    assert document.space == roof.room


async def test_a_change_that_could_not_be_learnt_in_time_is_learnt_later(
    home: Household, roof: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(home) as bot:
        broken(monkeypatch, bot.store.rooms, "known", inboxes.TRIES + 2)
        home.platform.change("ROOF", kind="closed")
        await bot.hear(Changed(roof), "changed:1")
        assert await bot.house.readers.reach(roof) == Reach(OWN)
    assert await bot.store.inbox.depth() == 0


async def test_catching_up_that_failed_is_begun_again(
    home: Household, roof: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(home) as bot:
        broken(monkeypatch, bot.store.rooms, "known", 2)
        bot.doubt("slack")
        with pytest.raises(StoreError):
            await bot.catch_up("slack")
        assert await bot.house.readers.reach(roof) == Reach(OPEN)
        await bot.inbox.idle()


async def test_a_change_that_is_told_again_before_it_is_learnt_is_doubted_still(
    home: Household, roof: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    learnt = asyncio.Event()
    move = Presence.move

    async def late(presence: Presence, place: Place, *listed: Any) -> None:
        await learnt.wait()
        await move(presence, place, *listed)

    monkeypatch.setattr(Presence, "move", late)
    hall = home.platform.open("HALL", "bob")
    async with running(home) as bot:
        home.platform.change("ROOF", kind="closed")
        assert await bot.hear(Changed(roof), "changed:1")
        assert not await bot.hear(Changed(roof), "changed:1")
        monkeypatch.setattr("bot.permissions.resolver.MOVING", 0.01)
        assert (await bot.house.readers.reach(hall)).gap == "checking"
        learnt.set()
        await bot.inbox.idle()
        assert await bot.house.readers.reach(hall) == Reach(OPEN)


async def test_a_change_that_is_told_twice_leaves_no_doubt(home: Household, roof: Place) -> None:
    async with running(home) as bot:
        await bot.hear(Changed(roof), "changed:1")
        await bot.inbox.idle()
        assert not await bot.hear(Changed(roof), "changed:1")
        assert await bot.house.readers.reach(roof) == Reach(OPEN)
