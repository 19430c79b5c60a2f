from __future__ import annotations

import pytest

from bot.admin.ingest.progress import AGAIN, LONG, SILENT, Absence, Patience
from engine.errors import Unreachable


def test_a_model_that_does_not_answer_is_complained_of_only_after_a_while() -> None:
    patience = Patience(0.0)
    assert patience.complaint(3, 10.0) == ""
    assert patience.complaint(3, 10.0 + LONG) == SILENT
    assert patience.complaint(2, 11.0 + LONG) == ""


def test_where_nothing_waits_to_be_read_nobody_waits_for_the_model() -> None:
    patience = Patience(0.0)
    assert [patience.complaint(0, now) for now in (0.0, 100.0)] == ["", ""]


def test_a_model_that_is_away_is_told_of_until_it_was_away_too_long() -> None:
    absence, away = Absence(30.0), Unreachable("Nobody is there.")
    assert absence.told(None, 0.0) == ""
    assert absence.told(away, 1.0) == absence.told(away, 30.9) == f"Nobody is there. {AGAIN}"
    with pytest.raises(Unreachable, match="Nobody"):
        absence.told(away, 31.0)


def test_who_waits_for_a_model_that_is_away_waits_as_long_as_other_work_goes_on() -> None:
    absence, away = Absence(30.0), Unreachable("Nobody is there.")
    assert all(absence.told(away, now, left) for now, left in ((0.0, 9), (29.0, 8), (58.0, 7), (87.0, 7)))
    with pytest.raises(Unreachable):
        absence.told(away, 88.0, 7)


def test_a_model_that_came_back_meanwhile_may_be_away_as_long_again() -> None:
    absence, away = Absence(30.0), Unreachable("Nobody is there.")
    assert [bool(absence.told(each, now)) for each, now in ((away, 0.0), (None, 29.0), (away, 40.0), (away, 69.0))] == [
        True,
        False,
        True,
        True,
    ]
