"""Schedules: what people write, and when it is due next, also across clock changes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.text.times.schedule import parse_schedule
from engine.errors import InvalidQuestion

FRIDAY = datetime(2026, 11, 20, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "read", "due"),
    [
        ("daily", "daily 09:00 UTC", "2026-11-21 09:00"),
        ("daily 10:00", "daily 10:00 UTC", "2026-11-21 10:00"),
        ("daily 10:01", "daily 10:01 UTC", "2026-11-20 10:01"),
        ("Daily 8", "daily 08:00 UTC", "2026-11-21 08:00"),
        ("weekly", "weekly monday 09:00 UTC", "2026-11-23 09:00"),
        ("weekly fri 9.30", "weekly friday 09:30 UTC", "2026-11-27 09:30"),
        ("weekly monday 9:00 europe/berlin", "weekly monday 09:00 Europe/Berlin", "2026-11-23 08:00"),
        ("daily 9am", "daily 09:00 UTC", "2026-11-21 09:00"),
        ("weekly fri 12:15 PM UTC", "weekly friday 12:15 UTC", "2026-11-20 12:15"),
        ("daily 12 am", "daily 00:00 UTC", "2026-11-21 00:00"),
        ("daily 5:30pm Asia/Tokyo", "daily 17:30 Asia/Tokyo", "2026-11-21 08:30"),
        ("daily 8:00 Asia/Tokyo", "daily 08:00 Asia/Tokyo", "2026-11-20 23:00"),
    ],
)
def test_a_schedule_is_read_and_due(text: str, read: str, due: str) -> None:
    schedule = parse_schedule(text)
    assert str(schedule) == read
    assert f"{schedule.next_after(FRIDAY):%Y-%m-%d %H:%M}" == due
    assert parse_schedule(str(schedule)) == schedule


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hourly",
        "weekly someday",
        "daily 25:00",
        "daily 9:99",
        "daily 13pm",
        "daily 0 am",
        "daily 9:00 Atlantis/City",
        "daily 9 UTC now",
    ],
)
def test_what_is_no_schedule_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(InvalidQuestion) as refused:
        parse_schedule(text)
    assert refused.value.hint


def test_clock_changes_keep_the_local_time_and_skip_no_day() -> None:
    schedule = parse_schedule("daily 2:30 Europe/Berlin")
    now, due = datetime(2026, 3, 27, 12, tzinfo=UTC), []
    for _ in range(4):
        now = schedule.next_after(now)
        due.append(f"{now:%d %H:%M}")
    assert due == ["28 01:30", "29 01:30", "30 00:30", "31 00:30"]
