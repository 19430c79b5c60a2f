from __future__ import annotations

import pytest

from bot.admin.ingest.progress import RESUME_MESSAGE, STALL_MESSAGE, STALL_SECONDS, OutageDetector, StallDetector
from engine.errors import ModelUnreachable


def test_a_model_that_does_not_answer_is_complained_of_only_after_a_while() -> None:
    patience = StallDetector(0.0)
    assert patience.check_stall(3, 10.0) == ""
    assert patience.check_stall(3, 10.0 + STALL_SECONDS) == STALL_MESSAGE
    assert patience.check_stall(2, 11.0 + STALL_SECONDS) == ""


def test_where_nothing_waits_to_be_read_nobody_waits_for_the_model() -> None:
    patience = StallDetector(0.0)
    assert [patience.check_stall(0, now) for now in (0.0, 100.0)] == ["", ""]


def test_a_model_that_is_away_is_told_of_until_it_was_away_too_long() -> None:
    absence, away = OutageDetector(30.0), ModelUnreachable("Nobody is there.")
    assert absence.check_outage(None, 0.0) == ""
    assert absence.check_outage(away, 1.0) == absence.check_outage(away, 30.9) == f"Nobody is there. {RESUME_MESSAGE}"
    with pytest.raises(ModelUnreachable, match="Nobody"):
        absence.check_outage(away, 31.0)


def test_who_waits_for_a_model_that_is_away_waits_as_long_as_other_work_goes_on() -> None:
    absence, away = OutageDetector(30.0), ModelUnreachable("Nobody is there.")
    assert all(absence.check_outage(away, now, left) for now, left in ((0.0, 9), (29.0, 8), (58.0, 7), (87.0, 7)))
    with pytest.raises(ModelUnreachable):
        absence.check_outage(away, 88.0, 7)


def test_a_model_that_came_back_meanwhile_may_be_away_as_long_again() -> None:
    absence, away = OutageDetector(30.0), ModelUnreachable("Nobody is there.")
    assert [
        bool(absence.check_outage(each, now)) for each, now in ((away, 0.0), (None, 29.0), (away, 40.0), (away, 69.0))
    ] == [
        True,
        False,
        True,
        True,
    ]
