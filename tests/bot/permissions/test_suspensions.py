"""Suspended spaces: until when, which of them other processes know, and who waits for their end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from bot.permissions.shared_audiences import VisibilitySuspensions, location_key
from bot.platform.models import Location
from engine import Scope
from tests.support.builders import HALL, ROOF
from tests.support.clock import ManualClock
from tests.support.patience import PATIENCE

OPEN, ADULT = "slack:T1:open", "slack:T1:adult"


class Suspended(VisibilitySuspensions):
    """Its clock is set by hand."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.clock.move_to(1.0)
        super().__init__(self.clock)

    @property
    def is_hall_suspended(self) -> bool:
        return self.is_suspended(HALL.platform, HALL.workspace)


def test_cancelling_a_suspension_leaves_earlier_ones() -> None:
    suspended = Suspended()
    first = suspended.suspend(HALL)
    suspended.clock.move_to(2.0)
    second = suspended.suspend(HALL)
    suspended.cancel(HALL, second)
    assert suspended.is_hall_suspended
    for _ in range(2):
        suspended.cancel(HALL, first)
        assert not suspended.is_hall_suspended


def test_a_suspension_that_is_saved_is_one_of_the_database_from_the_next_read_on() -> None:
    suspended = Suspended()
    suspended.record_saved(HALL, suspended.suspend(HALL))
    read = suspended.list_saved()
    suspended.record_saved(ROOF, suspended.suspend(ROOF))
    suspended.replace_shared([HALL], read)
    assert suspended.list_saved() == [(location_key(ROOF), 1.0)]
    suspended.replace_shared([], suspended.list_saved())
    assert not suspended.is_hall_suspended


@pytest.mark.parametrize(
    "end",
    [
        lambda suspended: suspended.cancel(HALL, 1.0),
        lambda suspended: suspended.resume(HALL, 1.0),
        lambda suspended: suspended.replace_shared([], [(location_key(HALL), 1.0)]),
    ],
    ids=["cancelled", "resumed", "ended by another process"],
)
async def test_whoever_waits_goes_on_when_a_suspension_ends(end: Callable[[Suspended], None]) -> None:
    suspended = Suspended()
    suspended.suspend(HALL)
    waiting = asyncio.create_task(suspended.wait_for_update(1000 * PATIENCE))
    await asyncio.sleep(0)
    end(suspended)
    async with asyncio.timeout(PATIENCE):
        await waiting
    assert not suspended.is_hall_suspended


@pytest.mark.parametrize(
    ("suspended_place", "left"),
    [
        (HALL, {HALL.room}),
        (Location("slack", "T1", ""), {HALL.room}),
        (Location("slack", "", ""), {HALL.room}),
        (Location("slack", "T2", ""), {OPEN, ADULT, HALL.room}),
        (Location("discord", "T1", ""), {OPEN, ADULT, HALL.room}),
    ],
    ids=["a channel", "its workspace", "its platform", "another workspace", "another platform"],
)
def test_only_shared_spaces_are_suspended_with_all_that_is_in_their_place(
    suspended_place: Location, left: set[str]
) -> None:
    suspended, scope = Suspended(), Scope(frozenset({OPEN, ADULT, HALL.room}), frozenset({ROOF.room}))
    suspended.suspend(suspended_place)
    assert suspended.remove_suspended(scope) == Scope(frozenset(left), scope.rooms)


def test_something_of_a_platform_is_suspended_with_any_of_its_channels() -> None:
    suspended = Suspended()
    suspended.suspend(HALL)
    places = (("slack", "T1"), ("slack", ""), ("slack", "T2"), ("discord", ""))
    assert [suspended.is_suspended(*place) for place in places] == [True, True, False, False]
