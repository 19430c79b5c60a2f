"""The days on which `make test-days` runs the suite."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from scripts.other_days import isolate, list_days, parse_day

NOWS = [
    datetime(2026, 12, 31, 23, 59, tzinfo=UTC),
    datetime(2028, 2, 29, 13, tzinfo=UTC),
    datetime(2027, 3, 28, 12, tzinfo=UTC),  # the day on which European clocks change
    datetime(2096, 3, 1, tzinfo=UTC),
]
every_now = pytest.mark.parametrize("now", NOWS, ids=lambda now: f"{now:%Y-%m-%d}")


@every_now
def test_all_days_but_this_new_year_are_ahead(now: datetime) -> None:
    days = list_days(now)
    assert all(each.begins > now for name, each in days.items() if name != "new-year")
    assert (days["leap-day"].begins.month, days["leap-day"].begins.day) == (2, 29)


@every_now
@pytest.mark.parametrize("season", ["spring", "autumn"])
def test_clocks_change_two_minutes_after_a_run_began(now: datetime, season: str) -> None:
    day = list_days(now)[season]
    before, after = (
        datetime.fromtimestamp(day.begins.timestamp() + seconds, ZoneInfo(day.zone)).utcoffset()
        for seconds in (119, 121)
    )
    assert before != after


def test_a_moment_is_a_day_too() -> None:
    day = parse_day("2031-03-30T00:58@Europe/Berlin", {})
    assert (day.begins, day.zone) == (datetime(2031, 3, 30, 0, 58, tzinfo=UTC), "Europe/Berlin")


def test_the_suite_keeps_its_user_without_a_network() -> None:
    command = [*isolate(os.getuid(), os.getgid()), "sh", "-c", "id -u; cat /proc/net/dev"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode:
        pytest.skip(f"no namespaces here: {found.stderr.strip()}")
    user, *devices = found.stdout.split("\n")
    assert int(user) == os.getuid()
    assert [line.partition(":")[0].strip() for line in devices if ":" in line] == ["lo"]
