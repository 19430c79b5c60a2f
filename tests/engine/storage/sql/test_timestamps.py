"""Times in the database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from engine.storage.sql.fragments import EARLIEST, LATEST, from_micros, to_micros


@pytest.mark.parametrize("time", [datetime(1, 1, 1, tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
def test_every_time_of_the_calendar_comes_back(time: datetime) -> None:
    assert from_micros(to_micros(time)) == time


@pytest.mark.parametrize(("micros", "time"), [(2**63 - 1, LATEST), (-(2**63), EARLIEST)])
def test_a_number_beyond_the_calendar_is_a_time_to_calculate_with(micros: int, time: datetime) -> None:
    assert from_micros(micros) == time
    assert time - timedelta(days=400) < time < time + timedelta(days=400)
