"""Looks that are owed: soon at first, later each time that they come to no end, and never forgotten meanwhile."""

from __future__ import annotations

from bot.ingest.sync.pending import AGAIN, LONGEST, Owed
from bot.platform.models import Place

ROOF, HALL, YARD = (Place("slack", team, name) for team, name in (("T1", "ROOF"), ("T1", "HALL"), ("T2", "YARD")))


def test_what_comes_to_no_end_is_tried_later_each_time() -> None:
    owed, now, waits = Owed(), 0.0, []
    owed.owe([ROOF])
    for _ in range(9):
        [debt] = owed.due(now)
        owed.delay(debt, now)
        waits.append(min(wait for wait in range(int(LONGEST) + 1) if owed.due(now + wait)))
        now += waits[-1]
    assert waits == [AGAIN, 2 * AGAIN, 4 * AGAIN, 8 * AGAIN, 16 * AGAIN, 32 * AGAIN, LONGEST, LONGEST, LONGEST]


def test_what_is_owed_anew_is_due_at_once_and_stays_so_when_the_look_before_ends() -> None:
    owed = Owed()
    owed.owe([ROOF, HALL])
    roof, hall = owed.due(0.0)
    owed.delay(roof, 0.0)
    owed.owe([ROOF, HALL])
    for late in (owed.settle, lambda debt: owed.delay(debt, 0.0)):
        late(roof)
        late(hall)
    assert {each.place for each in owed.due(0.0)} == {ROOF, HALL}


def test_what_is_done_and_what_was_left_is_owed_no_more() -> None:
    owed = Owed()
    owed.owe([ROOF, HALL, YARD])
    roof, hall, yard = owed.due(0.0)
    owed.settle(roof)
    owed.drop("slack", "T1")
    assert [owed.stands(each) for each in (roof, hall, yard)] == [False, False, True]
    assert owed.places == {YARD}
