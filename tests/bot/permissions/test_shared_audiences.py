"""Two processes on one database: neither trusts what it has cached once the other learned of a change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest

from bot.permissions import audience as audiences
from bot.permissions import shared_audiences
from bot.permissions.resolver import AudienceResolver
from bot.permissions.shared_audiences import Comparison, SharedAudiences, VisibilitySuspensions
from bot.platform.models import Location
from bot.store import BotStore
from engine.clock import SYSTEM_CLOCK
from engine.errors import StoreError
from engine.models import Scope
from engine.scheduling.supervisor import Supervisor
from engine.storage.postgres.process_registry import ProcessRegistry
from tests.support.builders import HALL, ROOF
from tests.support.clock import ManualClock
from tests.support.fake_platform import FakePlatform

FOREVER = 1e9  # seconds for which a fact is cached
OPEN = Scope(frozenset({"slack:T1:open"}), frozenset())
EVERYTHING = Location("slack", "", "")


@dataclass
class Process:
    """One of several processes; `stack` ends it."""

    resolver: AudienceResolver
    platform: FakePlatform
    store: BotStore
    stack: AsyncExitStack

    async def spaces(self, person: str = "", place: Location = HALL) -> frozenset[str]:
        return (await self.resolver.resolve_scope(place, person, wait=0.0)).scope.spaces

    async def gap(self) -> str:
        return (await self.resolver.resolve_scope(HALL, wait=0.0)).gap

    async def compare(self, place: Location) -> None:
        shared = self.resolver.shared
        await shared.end_comparison(place, await shared.begin_comparison(self.resolver.clock.monotonic()))


async def start(url: str) -> Process:
    stack, platform = AsyncExitStack(), FakePlatform()
    registry = await stack.enter_async_context(ProcessRegistry.open(url, Supervisor(SYSTEM_CLOCK), SYSTEM_CLOCK))
    store = await stack.enter_async_context(BotStore.open(url, SYSTEM_CLOCK, registry.id))
    resolver = AudienceResolver({"slack": platform}, store, FOREVER, SYSTEM_CLOCK)
    for channel, members in (("ROOF", "ada bob"), ("HALL", "ada bob")):
        place = platform.add_channel(channel, *members.split(), kind="closed" if channel == "ROOF" else "open")
        await store.channels.upsert(place, channel)
    return Process(resolver, platform, store, stack)


@pytest.fixture
async def pair(postgres_url: str) -> AsyncIterator[tuple[Process, Process]]:
    one, other = [await start(postgres_url) for _ in range(2)]
    yield one, other
    await other.stack.aclose()
    await one.stack.aclose()


async def test_a_process_alone_keeps_and_ends_its_own_suspensions() -> None:
    suspended = VisibilitySuspensions(ManualClock())
    shared = SharedAudiences(None, suspended, lambda *_: None)
    at = suspended.suspend(HALL)
    shared.record_saved(HALL, at)
    shared.save_suspension(HALL, at)
    await shared.record_change(HALL, members_only=False)
    await shared.synchronize()
    assert suspended.list_saved() == []
    assert suspended.is_suspended("slack", "T1")
    comparison = await shared.begin_comparison(at)
    assert comparison == Comparison(at, 0)
    await shared.end_comparison(EVERYTHING, comparison)
    assert not suspended.is_suspended("slack", "T1")
    assert await shared.list_abandoned() == []


async def test_who_left_a_channel_loses_it_on_every_process_at_once(pair: tuple[Process, Process]) -> None:
    one, other = pair
    assert ROOF.room in await other.spaces("bob")
    for each in pair:
        each.platform.change_channel("ROOF", members=frozenset({"ada"}))
    assert ROOF.room in await other.spaces("bob")  # it is cached
    await one.resolver.shared.record_change(ROOF, members_only=True)
    assert ROOF.room not in await other.spaces("bob")
    assert f"forget_cached {ROOF.room}" in other.platform.calls


async def test_documents_go_to_the_present_space_of_their_channel_on_every_process(
    pair: tuple[Process, Process],
) -> None:
    one, other = pair
    assert await other.resolver.get_home_space(HALL) == "slack:T1:open"
    for each in pair:
        each.platform.change_channel("HALL", kind="closed")
    await one.resolver.shared.record_change(HALL, members_only=False)
    assert await other.resolver.get_home_space(HALL) == HALL.room
    assert (await other.resolver.get_channel(HALL)).kind == "closed"


async def test_a_suspension_holds_for_all_until_a_comparison_that_began_later(pair: tuple[Process, Process]) -> None:
    one, other = pair
    began = await other.resolver.shared.begin_comparison(other.resolver.clock.monotonic())
    one.resolver.shared.save_suspension(EVERYTHING, one.resolver.suspend(EVERYTHING))
    assert await one.gap() == "checking"
    await one.resolver.shared.begin_comparison(0.0)  # it is saved
    assert await other.gap() == "checking"
    await other.resolver.shared.end_comparison(EVERYTHING, began)
    assert await other.gap() == "checking"
    await other.compare(ROOF)
    assert await other.gap() == "checking"
    await other.compare(EVERYTHING)
    assert [await each.gap() for each in pair] == ["", ""]
    assert await one.spaces() == OPEN.spaces


async def test_whoever_waits_for_a_suspension_goes_on_when_another_process_ends_it(
    pair: tuple[Process, Process],
) -> None:
    one, other = pair
    one.resolver.shared.save_suspension(EVERYTHING, one.resolver.suspend(EVERYTHING))
    await one.resolver.shared.begin_comparison(0.0)
    waiting = asyncio.create_task(other.resolver.resolve_scope(HALL, wait=30.0))
    await asyncio.sleep(0.05)
    await one.compare(EVERYTHING)
    assert (await waiting).scope == OPEN


async def test_the_suspension_of_a_process_that_ended_is_ended_by_another(pair: tuple[Process, Process]) -> None:
    one, other = pair
    one.resolver.shared.save_suspension(EVERYTHING, one.resolver.suspend(EVERYTHING))
    await one.resolver.shared.begin_comparison(0.0)
    assert await other.resolver.shared.list_abandoned() == []
    await one.stack.aclose()
    assert await other.gap() == "checking"
    assert await other.resolver.shared.list_abandoned() == [EVERYTHING]
    await other.compare(EVERYTHING)
    assert await other.resolver.shared.list_abandoned() == []


async def test_without_news_of_the_others_only_the_room_itself_is_used(
    pair: tuple[Process, Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, other = pair
    assert await other.spaces() == OPEN.spaces

    async def fail(_: int) -> object:
        raise StoreError("The database is away.")

    monkeypatch.setattr(other.store.shared_visibility, "read", fail)
    reach = await other.resolver.resolve_scope(HALL)
    assert (reach.scope, reach.gap) == (audiences.scope_for_room(HALL), "unknown")
    assert (await other.resolver.resolve_scope(HALL, "ada")).scope == audiences.EMPTY_SCOPE
    with pytest.raises(StoreError):
        await other.resolver.get_home_space(HALL)


async def test_a_read_that_another_overtook_ends_no_suspension(
    pair: tuple[Process, Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    table, late = other.store.shared_visibility, asyncio.Event()
    assert table is not None
    read = table.read

    async def read_and_wait(since: int) -> object:
        state = await read(since)
        await late.wait()
        return state

    with monkeypatch.context() as patch:
        patch.setattr(table, "read", read_and_wait)
        overtaken = asyncio.create_task(other.resolver.shared.synchronize())
        await asyncio.sleep(0.05)
    one.resolver.shared.save_suspension(EVERYTHING, one.resolver.suspend(EVERYTHING))
    await one.resolver.shared.begin_comparison(0.0)
    assert await other.gap() == "checking"
    late.set()
    await overtaken
    assert other.resolver._suspensions.is_suspended("slack", "T1")


async def test_a_comparison_that_begins_first_of_all_misses_no_change_that_follows(
    pair: tuple[Process, Process],
) -> None:
    one, other = pair
    other.platform.listable_workspaces = {"T1"}
    await other.resolver.shared.begin_comparison(0.0)
    lists = other.resolver.channel_lists
    listed = await lists.get_list("slack", "T1")
    await one.resolver.shared.record_change(HALL, members_only=False)
    await other.resolver.shared.synchronize()
    assert HALL.room in lists.list_stale_channels(listed)


async def test_a_suspension_that_could_not_be_saved_is_saved_before_a_comparison(
    pair: tuple[Process, Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    monkeypatch.setattr(shared_audiences, "RETRY_SECONDS", 0.01)
    table = one.store.shared_visibility
    assert table is not None
    suspend, failures = table.suspend, [StoreError("The database is away."), StoreError("It still is.")]

    async def fail_twice(location: Location) -> None:
        if failures:
            raise failures.pop()
        await suspend(location)

    monkeypatch.setattr(table, "suspend", fail_twice)
    one.resolver.shared.save_suspension(EVERYTHING, one.resolver.suspend(EVERYTHING))
    await asyncio.sleep(0.05)
    await one.resolver.shared.begin_comparison(0.0)
    assert await other.gap() == "checking"


async def test_a_suspension_is_saved_although_whoever_waits_for_it_gives_up(
    pair: tuple[Process, Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    table, is_back = one.store.shared_visibility, asyncio.Event()
    assert table is not None
    suspend = table.suspend

    async def wait_for_database(location: Location) -> None:
        await is_back.wait()
        await suspend(location)

    monkeypatch.setattr(table, "suspend", wait_for_database)
    one.resolver.shared.save_suspension(EVERYTHING, one.resolver.suspend(EVERYTHING))
    waiting = asyncio.ensure_future(one.resolver.shared.wait_until_saved())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait({waiting})
    is_back.set()
    await one.resolver.shared.wait_until_saved()
    assert await other.gap() == "checking"


async def test_a_suspension_that_can_never_be_saved_stops_the_comparison(
    pair: tuple[Process, Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, _ = pair
    table = one.store.shared_visibility
    assert table is not None

    async def fail(_location: Location) -> None:
        raise RuntimeError("defect")

    monkeypatch.setattr(table, "suspend", fail)
    one.resolver.shared.save_suspension(EVERYTHING, one.resolver.suspend(EVERYTHING))
    with pytest.raises(RuntimeError, match="defect"):
        await one.resolver.shared.begin_comparison(0.0)
