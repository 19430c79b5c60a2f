from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.parsers.base import ParserLimits
from engine.parsers.dates import find_stated_date, is_default_time, parse_date
from engine.parsers.sandbox.parse import parse_file
from tests.engine.parsers.samples import docx, paragraph, pdf

if TYPE_CHECKING:
    from collections.abc import Callable

TOWN = Path(__file__).parents[3] / "bot" / "cli" / "demo" / "town"
DAY = datetime(2026, 5, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "name",
    [
        *("council-minutes-2026-05-12.md", "2026_05_12 minutes.txt", "IMG_20260512.txt", "minutes 12.05.2026.pdf"),
        *("minutes-12-may-2026.md", "Minutes, May 12, 2026.docx", "12. Mai 2026.txt", "acta-12-de-mayo-de-2026.md"),
    ],
)
def test_a_name_dates_its_file(name: str) -> None:
    assert find_stated_date(name, "Tea.") == DAY


@pytest.mark.parametrize(
    "name", ["v1.20260512.3.txt", "20261301.txt", "1234567820260512.txt", "summer-2026.md", "a.md"]
)
def test_other_numbers_in_a_name_are_no_date(name: str) -> None:
    assert find_stated_date(name, "Tea.") is None


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
    assert find_stated_date("a.md", text) == DAY


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
    assert find_stated_date("a.md", text) is None


def test_a_name_counts_before_the_head() -> None:
    assert find_stated_date("minutes-2026-05-12.md", "# Minutes of 1 April 2026") == DAY


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


def saved_pdf(text: str, time: str) -> bytes:
    return pdf([[text]], saved=f"{time.translate(str.maketrans('', '', '-:TZ'))}Z")


def saved_docx(text: str, time: str) -> bytes:
    return docx(paragraph(text), saved=time)


KINDS = pytest.mark.parametrize(("kind", "made"), [("pdf", saved_pdf), ("docx", saved_docx)])


@KINDS
@pytest.mark.parametrize(
    ("name", "text", "time"),
    [
        ("minutes-2026-05-12", "Tea.", DAY),
        ("minutes", "Minutes of 12 May 2026", DAY),
        ("minutes", "Tea.", datetime(2025, 3, 4, 5, 6, 7, tzinfo=UTC)),
    ],
)
def test_a_date_in_the_name_or_head_counts_before_the_time_of_saving(
    kind: str, made: Callable[[str, str], bytes], name: str, text: str, time: datetime
) -> None:
    assert parse_file(f"{name}.{kind}", made(text, "2025-03-04T05:06:07Z"), ParserLimits()).time == time


@KINDS
@pytest.mark.parametrize(
    "default",
    ["2000-01-01T00:00:00Z", "2013-12-23T23:15:00Z", "1970-01-01T00:00:00Z", "1980-01-01T00:00:00Z"],
)
def test_a_default_of_the_program_that_saved_a_file_dates_nothing(
    kind: str, made: Callable[[str, str], bytes], default: str
) -> None:
    assert parse_file(f"tea.{kind}", made("Tea.", default), ParserLimits()).time is None


def test_other_times_of_those_days_are_no_defaults() -> None:
    assert not is_default_time(datetime(2013, 12, 23, 9, 30, tzinfo=UTC))
    assert not is_default_time(datetime(2000, 1, 1, 9, 30, tzinfo=UTC))


@pytest.mark.parametrize(
    ("name", "data", "time"),
    [
        (
            "2020-01-01.eml",
            b"From: Ada <a@x.org>\r\nDate: Tue, 12 May 2026 00:00:00 +0000\r\nSubject: Tea\r\n\r\nTea.\r\n",
            DAY,
        ),
        ("2020-01-01.md", b"---\ndate: 2026-05-12\n---\n\nTea.\n", DAY),
        (
            "2020-01-01.html",
            b'<html><head><meta name="date" content="2026-05-12"></head><body><p>Tea.</p></body></html>',
            DAY,
        ),
    ],
)
def test_what_a_document_states_in_a_field_of_its_own_counts_first(name: str, data: bytes, time: datetime) -> None:
    assert parse_file(name, data, ParserLimits()).time == time


@pytest.mark.parametrize("name", ["harbour-rules.pdf", "lighthouse-survey.pdf"])
def test_the_pdfs_of_the_demo_are_not_dated_by_the_default_of_their_maker(name: str) -> None:
    assert parse_file(name, (TOWN / name).read_bytes(), ParserLimits()).time is None
