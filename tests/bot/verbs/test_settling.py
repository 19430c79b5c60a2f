from __future__ import annotations

from bot.verbs.settling import LONG, SILENT, Patience


def test_a_model_that_does_not_answer_is_complained_of_only_after_a_while() -> None:
    patience = Patience(0.0)
    assert patience.complaint(3, 10.0) == ""
    assert patience.complaint(3, 10.0 + LONG) == SILENT
    assert patience.complaint(2, 11.0 + LONG) == ""


def test_where_nothing_waits_to_be_read_nobody_waits_for_the_model() -> None:
    patience = Patience(0.0)
    assert [patience.complaint(0, now) for now in (0.0, 100.0)] == ["", ""]
