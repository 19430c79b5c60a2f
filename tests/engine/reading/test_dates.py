from __future__ import annotations

from datetime import UTC, datetime

import pytest

from engine.reading.dates import parse_date, stated_date

DAY = datetime(2026, 5, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "name",
    [
        *("council-minutes-2026-05-12.md", "2026_05_12 minutes.txt", "IMG_20260512.txt", "minutes 12.05.2026.pdf"),
        *("minutes-12-may-2026.md", "Minutes, May 12, 2026.docx", "12. Mai 2026.txt", "acta-12-de-mayo-de-2026.md"),
    ],
)
def test_a_name_dates_its_file(name: str) -> None:
    assert stated_date(name, "Tea.") == DAY


@pytest.mark.parametrize(
    "name", ["v1.20260512.3.txt", "20261301.txt", "1234567820260512.txt", "summer-2026.md", "a.md"]
)
def test_other_numbers_in_a_name_are_no_date(name: str) -> None:
    assert stated_date(name, "Tea.") is None


@pytest.mark.parametrize(
    "text",
    [
        "# Harbour Council: minutes of 12 May 2026\n\nTuesday, 19:30.",
        "# The Mending: programme\n\nEdition of 12 May 2026. Please throw earlier editions away.",
        "HARBOUR OFFICE\nRegister of permits in force, as of 12 May 2026\nKept by the harbour master",
        "Report\nLast updated: 2026-05-12",
        "Report\nLast updated on Tuesday, May 12th, 2026",
        "From: Ada\nDate: Tue, 12 May 2026 09:20:00 +0000\n\nHello.",
        "Bericht\nStand: 12.05.2026",
        "Notes\n\nPloverness, 12. Mai 2026\n\nDear all,",
    ],
)
def test_a_head_dates_its_file(text: str) -> None:
    assert stated_date("a.md", text) == DAY


@pytest.mark.parametrize(
    "text",
    [
        "# Summer timetable\n\nValid from 1 May to 30 September 2026.",
        "# Permit\n\nIt holds until 12 May 2026.",
        "Deadline: 12 May 2026",
        "# Notes\n\nThey met on the pier on 12 May 2026 and talked about the price of ropes.",
        "# Notes\n\n" + "Tea.\n\n" * 20 + "Date: 12 May 2026",
        "12 May 2026 and 13 May 2026",
        "31 February 2026",
        "",
    ],
)
def test_a_date_that_a_text_only_mentions_is_not_its_own(text: str) -> None:
    assert stated_date("a.md", text) is None


def test_a_name_counts_before_the_head() -> None:
    assert stated_date("minutes-2026-05-12.md", "# Minutes of 1 April 2026") == DAY


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-05-12", DAY),
        ('"2026-05-12T02:00:00+02:00"', DAY),
        ("Tue, 12 May 2026 00:00:00 +0000", DAY),
        ("yesterday", None),
        ("", None),
    ],
)
def test_metadata_are_read_as_they_are_written(text: str, time: datetime | None) -> None:
    assert parse_date(text) == time
