"""Times as exports of Discord show them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from adapters.discord.exports.times import USUAL, parse_time


@pytest.mark.parametrize(
    "shown",
    [
        "2026/03/02 21:00",
        "2026/3/2 21:00",
        "2026/3/2 下午 9:00",
        "2026/3/2 下午9:00",
        "2026-03-02 오후 9:00",
        "2026-03-02 9:00 p.m.",
        "2026. 03. 02. 21:00",
        "02-03-2026 21:00",
        "02.03.2026 21.00",
        "2.3.2026 21.00",
        "02.03.26 21:00",
        "02.03.2026 21:00:00",
        "02/03/26 21:00",
        "3/2/2026 9:00\u202fPM",
        "3/2/2026 9:00:00 PM",
        "3/2/26 9:00 PM",
    ],
)
def test_times_are_read_as_computers_of_any_country_show_them(shown: str) -> None:
    assert parse_time(shown, USUAL) == datetime(2026, 3, 2, 21, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "shown",
    [
        "2026/13/02 9:00",
        "26-03-02 9:00",
        "yesterday 9:00",
        "2/3 9:00",
        "2026/03/02",
        "2/3/2026 13:00 PM",
        "2/3/2009 9:00",
    ],
)
def test_what_is_no_time_is_not_guessed(shown: str) -> None:
    with pytest.raises(ValueError, match="no time"):
        parse_time(shown, USUAL)
