"""What a process does with what others wrote into the table that they share, and what it writes there itself."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from bot.permissions import shared_audiences
from bot.permissions.shared_audiences import Comparison, SharedAudiences, VisibilitySuspensions, location_key
from bot.platform.models import Location
from bot.store.shared.visibility import SharedVisibility, VisibilityState
from engine.errors import DatabaseLost, EngineClosed, StoreError
from tests.support.builders import HALL, ROOF
from tests.support.clock import ManualClock
from tests.support.patience import PATIENCE

SLACK = Location("slack", "", "")


class TableInMemory(SharedVisibility):
    """The table as of this process; a call fails with the next of `errors`."""

    def __init__(self) -> None:
        self.changes: list[tuple[Location, bool]] = []
        self.suspended: list[Location] = []
        self.errors: list[Exception] = []
        self.reads: list[int] = []

    def _fail(self) -> None:
        if self.errors:
            raise self.errors.pop(0)

    async def read(self, since: int) -> VisibilityState:
        self.reads.append(since)
        self._fail()
        return VisibilityState(max(since, len(self.changes)), self.changes[since:], [*self.suspended])

    async def record_change(self, location: Location, *, members_only: bool) -> None:
        self.changes.append((location, members_only))

    async def suspend(self, location: Location) -> None:
        self._fail()
        self.suspended.append(location)

    async def get_last_suspension(self) -> int:
        return len(self.suspended)

    async def resume(self, location: Location, until: int) -> None:
        self.suspended = [each for number, each in enumerate(self.suspended, 1) if number > until or each != location]

    async def list_abandoned(self) -> list[Location]:
        return [ROOF]


@dataclass
class Shared:
    """What a process knows, beside the table."""

    table: TableInMemory = field(default_factory=TableInMemory)
    suspensions: VisibilitySuspensions = field(default_factory=lambda: VisibilitySuspensions(ManualClock()))
    invalidated: list[tuple[Location, bool]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.audiences = SharedAudiences(
            self.table, self.suspensions, lambda place, members_only: self.invalidated.append((place, members_only))
        )

    @property
    def is_suspended(self) -> bool:
        return self.suspensions.is_suspended("slack", "T1")


@pytest.fixture
def shared() -> Shared:
    return Shared()


async def test_only_changes_since_the_last_look_drop_what_is_cached(shared: Shared) -> None:
    await shared.table.record_change(ROOF, members_only=True)
    await shared.audiences.synchronize()  # nothing is cached from before it
    assert shared.invalidated == []
    await shared.table.record_change(HALL, members_only=False)
    for _ in range(2):
        await shared.audiences.synchronize()
    assert shared.invalidated == [(HALL, False)]
    assert shared.table.reads == [0, 1, 2]


async def test_a_change_is_written_for_the_others(shared: Shared) -> None:
    await shared.audiences.record_change(HALL, members_only=True)
    assert shared.table.changes == [(HALL, True)]


async def test_a_process_that_knows_nothing_of_the_others_says_so(shared: Shared) -> None:
    shared.table.errors.append(StoreError("The database is away."))
    with pytest.raises(StoreError):
        await shared.audiences.synchronize()


async def test_a_suspension_of_another_process_holds_until_the_table_lacks_it(shared: Shared) -> None:
    for suspended in ([SLACK], []):
        shared.table.suspended = suspended
        await shared.audiences.synchronize()
        assert shared.is_suspended is bool(suspended)


@pytest.mark.parametrize("is_saved", [True, False])
async def test_an_own_suspension_goes_with_that_of_the_table_once_it_is_there(
    shared: Shared, *, is_saved: bool
) -> None:
    at = shared.suspensions.suspend(HALL)
    if is_saved:
        shared.audiences.record_saved(HALL, at)
    await shared.audiences.synchronize()
    assert shared.is_suspended is not is_saved


async def test_an_older_look_that_comes_later_changes_no_suspension(shared: Shared) -> None:
    read, seen, go_on = shared.table.read, asyncio.Event(), asyncio.Event()

    async def read_slowly(since: int) -> VisibilityState:
        state = await read(since)
        seen.set()
        await go_on.wait()
        return state

    shared.table.read = read_slowly  # type: ignore[method-assign]
    older = asyncio.create_task(shared.audiences.synchronize())
    await seen.wait()
    shared.table.read = read  # type: ignore[method-assign]
    shared.table.suspended = [SLACK]
    await shared.audiences.synchronize()
    go_on.set()
    await older
    assert shared.is_suspended
    shared.table.suspended = []
    await shared.audiences.synchronize()
    assert not shared.is_suspended


async def test_a_suspension_is_saved_and_tried_again(shared: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_audiences, "RETRY_SECONDS", 0.0)
    shared.table.errors += [StoreError("The database is away."), StoreError("It still is.")]
    at = shared.suspensions.suspend(HALL)
    shared.audiences.save_suspension(HALL, at)
    comparison = await shared.audiences.begin_comparison(at)
    assert (shared.table.suspended, comparison) == ([HALL], Comparison(at, 1))
    assert shared.is_suspended
    assert shared.suspensions.list_saved() == []  # that of the table stands for it
    await shared.audiences.end_comparison(HALL, comparison)
    assert (shared.table.suspended, shared.is_suspended) == ([], False)


@pytest.mark.parametrize("error", [EngineClosed("It is closed."), DatabaseLost("It is gone.")])
async def test_a_process_that_ends_saves_no_suspension(shared: Shared, error: Exception) -> None:
    shared.table.errors.append(error)
    at = shared.suspensions.suspend(HALL)
    shared.audiences.save_suspension(HALL, at)
    await shared.audiences.begin_comparison(at)
    assert shared.table.suspended == []
    assert shared.is_suspended
    assert not shared.audiences._saving


async def test_an_own_suspension_that_is_saved_is_known_to_be(shared: Shared) -> None:
    at = shared.suspensions.suspend(HALL)
    shared.audiences.save_suspension(HALL, at)
    await asyncio.gather(*shared.audiences._saving)
    assert shared.suspensions.list_saved() == [(location_key(HALL), at)]


async def test_a_suspension_that_began_after_a_comparison_stays(shared: Shared) -> None:
    at = shared.suspensions.suspend(HALL)
    comparison = await shared.audiences.begin_comparison(at)
    shared.table.suspended.append(HALL)
    await shared.audiences.end_comparison(HALL, comparison)
    assert shared.is_suspended


async def test_a_comparison_drops_what_was_cached_before_it(shared: Shared) -> None:
    await shared.audiences.synchronize()
    await shared.table.record_change(HALL, members_only=False)
    await shared.audiences.begin_comparison(0.0)
    assert shared.invalidated == [(HALL, False)]


async def test_whoever_waits_is_told_when_another_process_ends_the_suspension(shared: Shared) -> None:
    shared.table.suspended = [SLACK]
    await shared.audiences.synchronize()
    waiting = asyncio.create_task(shared.audiences.wait_until_resumed(HALL, 100 * PATIENCE))
    await asyncio.sleep(0)
    assert shared.audiences.list_wanted("slack") == {"T1"}
    assert shared.audiences.list_wanted("discord") == set()
    shared.table.suspended = []
    await asyncio.wait_for(waiting, PATIENCE)
    assert shared.table.reads == [0, 0]
    assert shared.audiences.list_wanted("slack") == set()


async def test_whoever_waits_goes_on_after_so_many_seconds(shared: Shared) -> None:
    shared.suspensions.suspend(HALL)
    await shared.audiences.wait_until_resumed(HALL, 0.01)
    assert shared.is_suspended
    assert shared.audiences.list_wanted("slack") == {"T1"}


async def test_without_others_one_waits_no_longer_either(shared: Shared) -> None:
    alone = SharedAudiences(None, shared.suspensions, lambda *_: None)
    shared.suspensions.suspend(HALL)
    async with asyncio.timeout(PATIENCE):
        await alone.wait_until_resumed(HALL, 0.01)
    assert alone.list_wanted("slack") == {"T1"}


async def test_nobody_waits_where_nothing_is_suspended(shared: Shared) -> None:
    await shared.audiences.wait_until_resumed(HALL, 20.0)
    assert (shared.table.reads, shared.audiences.list_wanted("slack")) == ([], set())


async def test_what_no_process_ends_is_listed(shared: Shared) -> None:
    assert await shared.audiences.list_abandoned() == [ROOF]
