"""Progress is said in words: what is done, how much of it, and about how long the rest takes."""

from __future__ import annotations

import pytest

from bot.capabilities.ingest.progress_text import RemainingTime, describe_progress, describe_time


@pytest.mark.parametrize(
    ("stage", "done", "total", "width", "shown"),
    [
        ("parsing", 3, 42, 80, "reading 3 of 42 files"),
        ("parsing", 3, 42, 40, "reading 3 of 42"),
        ("indexing", 0, 1, 80, "indexing 0 of 1 document"),
        ("indexing", 1200, 4000, 80, "indexing 1,200 of 4,000 documents"),
        ("backing up", 0, 0, 80, "backing up"),
        ("unheard", 1, 2, 80, "unheard 1 of 2"),
    ],
)
def test_progress_names_what_is_counted(stage: str, done: int, total: int, width: int, shown: str) -> None:
    assert describe_progress(stage, done, total, width=width) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (4, "a few seconds"),
        (34, "about 30 seconds"),
        (115, "about 2 minutes"),
        (3 * 3600, "about 3 hours"),
        (5 * 86400, "about 5 days"),
    ],
)
def test_a_time_is_said_as_exactly_as_it_is_known(seconds: float, shown: str) -> None:
    assert describe_time(seconds) == shown


def test_the_rest_takes_as_long_as_what_was_done() -> None:
    time = RemainingTime()
    assert [time.estimate("indexing", left, now) for left, now in ((100, 0), (99, 1), (80, 10))] == [None, None, 40.0]
    assert time.estimate("indexing", 0, 50) is None
    assert time.estimate("indexing", 200, 60) is None  # more came
    assert time.estimate("indexing", 100, 80) == 20.0
    assert time.estimate("parsing", 10, 90) is None
