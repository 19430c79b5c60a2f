"""What the operator reads about answers whose sources changed."""

from __future__ import annotations

from bot.capabilities.answers.renewals import describe_renewals


def test_outcomes_are_named_and_others_left_out() -> None:
    told = describe_renewals((("old", 2), ("private", 1), ("renewed", 1200)))
    assert told == (
        "1,200 written anew, 2 replaced by a notice because they are too old, 1 private, which stay as they were shown"
    )
    assert describe_renewals(()) == ""
