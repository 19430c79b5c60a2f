from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.parsers.base import ParserLimits
from engine.parsers.dates import (
    find_heading_date,
    find_stated_date,
    find_stated_day,
    is_default_time,
    parse_date,
    plausible_time,
)
from engine.parsers.sandbox.worker import parse_file
from tests.engine.parsers.samples import docx, paragraph, pdf

TOWN = Path(__file__).parents[3] / "bot" / "cli" / "chat" / "town"
DAY = datetime(2026, 5, 12, tzinfo=UTC)
SAVED = datetime(2025, 3, 4, 5, 6, 7, tzinfo=UTC)

DATED_NAMES = (
    *("council-minutes-2026-05-12.md", "2026_05_12 minutes.txt", "IMG_20260512.txt", "minutes 12.05.2026.pdf"),
    *("minutes-12-may-2026.md", "Minutes, May 12, 2026.docx", "12. Mai 2026.txt", "acta-12-de-mayo-de-2026.md"),
)
OTHER_NAMES = ("v1.20260512.3.txt", "20261301.txt", "1234567820260512.txt", "summer-2026.md", "a.md")
DATED_TEXTS = (
    "# Harbour Council: minutes of 12 May 2026\n\nTuesday, 19:30.",
    "# The Mending: programme\n\nEdition of 12 May 2026. Please throw earlier editions away.",
    "HARBOUR OFFICE\nRegister of permits in force, as of 12 May 2026\nKept by the harbour master",
    "Report\nLast updated: 2026-05-12",
    "Report\nLast updated on Tuesday, May 12th, 2026",
    "From: Ada\nDate: Tue, 12 May 2026 09:20:00 +0000\n\nHello.",
    "Bericht\nStand: 12.05.2026",
    "Notes\n\nPloverness, 12. Mai 2026\n\nDear all,",
    "# 2026-05-12 Jour fixe",
    "# 議事録 2026年5月12日",
)
DAYS = (
    *("Minutes, 12 May", "Protokoll vom 12. Mai", "Team meeting May 12th", "Sitzung vom 12.5.", "Acta del 12 de mayo"),
    *("Compte rendu du 12 mai", "Ata de 12 de maio", "議事録 5月12日", "12 May: board meeting"),
)
OTHER_DAYS = (
    *("Open day, 12 May", "Protokoll vom 12. Mai 2026", "Minutes of the meetings before 12 May", "Minutes 3.12"),
    *("Minutes of 12 and 19 May: 12 May, 19 May", "Minutes 31 June", "Minutes", "Protokoll 1.5.2"),
)
OTHER_TEXTS = (
    "# Summer timetable\n\nValid from 1 May to 30 September 2026.",
    "# Permit\n\nIt holds until 12 May 2026.",
    "Deadline: 12 May 2026",
    "# Notes\n\nThey met on the pier on 12 May 2026 and talked about the price of ropes.",
    "# Notes\n\n" + "Tea.\n\n" * 20 + "Date: 12 May 2026",
    "12 May 2026 and 13 May 2026",
    "31 February 2026",
    "",
)


@pytest.mark.parametrize(
    ("name", "text", "date"),
    [
        *((name, "Tea.", DAY) for name in DATED_NAMES),
        *((name, "Tea.", None) for name in OTHER_NAMES),
        *(("a.md", text, DAY) for text in DATED_TEXTS),
        *(("a.md", text, None) for text in OTHER_TEXTS),
        pytest.param("minutes-2026-05-12.md", "# Minutes of 1 April 2026", DAY, id="the name counts before the head"),
    ],
)
def test_a_name_or_a_head_dates_its_file_and_a_mention_does_not(name: str, text: str, date: datetime | None) -> None:
    assert find_stated_date(name, text) == date


@pytest.mark.parametrize(
    ("name", "text", "day"),
    [
        *(("a.md", f"# {title}\n\nTea.", (5, 12)) for title in DAYS),
        *(("a.md", f"# {title}\n\nTea.", None) for title in OTHER_DAYS),
        ("minutes_12_may.md", "Tea.", (5, 12)),
        ("project 12 may 26.md", "Tea.", None),  # a year, not the 26th of May
        ("meeting-notes-v1.2..md", "Tea.", None),
        ("a.md", "Tea.\n\nThe minutes of 12 May were read.", None),
    ],
)
def test_minutes_may_state_a_day_without_a_year(name: str, text: str, day: tuple[int, int] | None) -> None:
    assert find_stated_day(name, text) == day


@pytest.mark.parametrize(
    ("now", "time"),
    [
        pytest.param(datetime(2026, 5, 20, tzinfo=UTC), DAY, id="this year"),
        pytest.param(datetime(2027, 1, 3, tzinfo=UTC), DAY, id="last year"),
        pytest.param(datetime(2026, 5, 2, tzinfo=UTC), None, id="it is still to come"),
    ],
)
def test_a_day_without_a_year_is_the_latest_one(now: datetime, time: datetime | None) -> None:
    assert plausible_time(None, now, (5, 12)) == time


def test_a_day_of_leap_years_is_found_in_one() -> None:
    assert plausible_time(None, datetime(2024, 3, 1, tzinfo=UTC), (2, 29)) == datetime(2024, 2, 29, tzinfo=UTC)
    assert plausible_time(None, datetime(2026, 3, 1, tzinfo=UTC), (2, 29)) is None


@pytest.mark.parametrize(
    ("path", "time"),
    [
        (("Minutes of the board", "12 May 2026"), DAY),
        (("Jour fixe 2026-05-12", "Van"), DAY),
        (("14 April 2026", "12 May 2026"), DAY),
        (("Changes", "[1.2.0] - 2026-05-12"), DAY),
        (("Plan", "The open day on 12 May 2026 at the farm"), None),
        (("Plan", "Until 12 May 2026"), None),
        ((), None),
    ],
)
def test_the_nearest_heading_with_a_date_dates_a_section(path: tuple[str, ...], time: datetime | None) -> None:
    assert find_heading_date(path) == time


def test_a_saved_file_has_its_day_in_the_year_in_which_it_was_saved(tmp_path: Path) -> None:
    parsed = parse_file("Protokoll 2. März.docx", docx(paragraph("Tea."), saved="2025-03-04T05:06:07Z"), ParserLimits())
    assert parsed.time == datetime(2025, 3, 2, tzinfo=UTC)


@pytest.mark.parametrize("text", ["2026-05-12", '"2026-05-12T02:00:00+02:00"', "Tue, 12 May 2026 00:00:00 +0000"])
def test_metadata_are_read_as_they_are_written(text: str) -> None:
    assert parse_date(text) == DAY
    assert parse_date("yesterday") is parse_date("") is None


@pytest.mark.parametrize("kind", ["pdf", "docx"])
@pytest.mark.parametrize(
    ("name", "text", "saved", "time"),
    [
        ("minutes-2026-05-12", "Tea.", "2025-03-04T05:06:07Z", DAY),
        ("minutes", "Minutes of 12 May 2026", "2025-03-04T05:06:07Z", DAY),
        ("minutes", "Tea.", "2025-03-04T05:06:07Z", SAVED),
        ("tea", "Tea.", "2000-01-01T00:00:00Z", None),
        ("tea", "Tea.", "2013-12-23T23:15:00Z", None),
        ("tea", "Tea.", "1970-01-01T00:00:00Z", None),
        ("tea", "Tea.", "1980-01-01T00:00:00Z", None),
    ],
)
def test_the_time_of_saving_counts_last_and_a_programs_default_never(
    kind: str, name: str, text: str, saved: str, time: datetime | None
) -> None:
    pdf_time = f"{saved.translate(str.maketrans('', '', '-:TZ'))}Z"
    data = pdf([[text]], saved=pdf_time) if kind == "pdf" else docx(paragraph(text), saved=saved)
    assert parse_file(f"{name}.{kind}", data, ParserLimits()).time == time


@pytest.mark.parametrize("day", [datetime(2013, 12, 23, 9, 30, tzinfo=UTC), datetime(2000, 1, 1, 9, 30, tzinfo=UTC)])
def test_other_times_of_those_days_are_no_defaults(day: datetime) -> None:
    assert not is_default_time(day)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("2020-01-01.eml", b"From: Ada <a@x.org>\r\nDate: Tue, 12 May 2026 00:00:00 +0000\r\n\r\nTea.\r\n"),
        ("2020-01-01.md", b"---\ndate: 2026-05-12\n---\n\nTea.\n"),
        ("2020-01-01.html", b'<html><head><meta name="date" content="2026-05-12"></head><p>Tea.</p>'),
    ],
)
def test_a_documents_own_field_counts_first(name: str, data: bytes) -> None:
    assert parse_file(name, data, ParserLimits()).time == DAY


@pytest.mark.parametrize("name", ["harbour-rules.pdf", "lighthouse-survey.pdf"])
def test_the_pdfs_of_the_demo_are_not_dated_by_the_default_of_their_maker(name: str) -> None:
    assert parse_file(name, (TOWN / name).read_bytes(), ParserLimits()).time is None
