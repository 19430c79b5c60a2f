"""Looks that are owed: soon at first, later each time that they come to no end, and never forgotten meanwhile."""

from __future__ import annotations

from bot.ingest.sync.pending import FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS, RetryQueue
from bot.platform.models import Location

ROOF, HALL, YARD = (Location("slack", team, name) for team, name in (("T1", "ROOF"), ("T1", "HALL"), ("T2", "YARD")))


def test_what_comes_to_no_end_is_tried_later_each_time() -> None:
    owed, now, waits = RetryQueue(), 0.0, []
    owed.add([ROOF])
    for _ in range(9):
        [debt] = owed.list_due(now)
        owed.delay(debt, now)
        waits.append(min(wait for wait in range(int(MAX_RETRY_SECONDS) + 1) if owed.list_due(now + wait)))
        now += waits[-1]
    assert waits == [
        FIRST_RETRY_SECONDS,
        2 * FIRST_RETRY_SECONDS,
        4 * FIRST_RETRY_SECONDS,
        8 * FIRST_RETRY_SECONDS,
        16 * FIRST_RETRY_SECONDS,
        32 * FIRST_RETRY_SECONDS,
        MAX_RETRY_SECONDS,
        MAX_RETRY_SECONDS,
        MAX_RETRY_SECONDS,
    ]


def test_what_is_owed_anew_is_due_at_once_and_stays_so_when_the_look_before_ends() -> None:
    owed = RetryQueue()
    owed.add([ROOF, HALL])
    roof, hall = owed.list_due(0.0)
    owed.delay(roof, 0.0)
    owed.add([ROOF, HALL])
    for late in (owed.finish, lambda debt: owed.delay(debt, 0.0)):
        late(roof)
        late(hall)
    assert {each.location for each in owed.list_due(0.0)} == {ROOF, HALL}


def test_what_is_done_and_what_was_left_is_owed_no_more() -> None:
    owed = RetryQueue()
    owed.add([ROOF, HALL, YARD])
    roof, hall, yard = owed.list_due(0.0)
    owed.finish(roof)
    owed.delete_workspace("slack", "T1")
    assert [owed.is_current(each) for each in (roof, hall, yard)] == [False, False, True]
    assert owed.locations == {YARD}
