from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from bot.text.format import format_ago, format_utc, parse_since
from engine.errors import InvalidQuestion

NOW = datetime(2026, 11, 20, 15, 30, tzinfo=UTC)  # a Friday
EDGES = ("9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00")  # times that UTC has no year for


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("2h", "2026-11-20 13:30"),
        ("90 min", "2026-11-20 14:00"),
        ("last hour", "2026-11-20 14:30"),
        ("3 days ago", "2026-11-17 00:00"),
        ("3 days", "2026-11-17 15:30"),
        ("2 hours ago", "2026-11-20 13:00"),
        ("10 minutes ago", "2026-11-20 15:20"),
        ("three days ago", "2026-11-17 00:00"),
        ("a few days ago", "2026-11-15 00:00"),
        ("3日前", "2026-11-17 00:00"),
        ("vor 2 Wochen", "2026-11-02 00:00"),
        ("il y a un mois", "2026-10-01 00:00"),
        ("week", "2026-11-13 15:30"),
        ("last week", "2026-11-09 00:00"),
        ("since last week", "2026-11-09 00:00"),
        ("la semana pasada", "2026-11-09 00:00"),
        ("semana passada", "2026-11-09 00:00"),
        ("aujourd'hui", "2026-11-20 00:00"),
        ("月曜日", "2026-11-16 00:00"),
        ("on 12 May 2026", "2026-05-12 00:00"),
        ("letzte Woche", "2026-11-09 00:00"),
        ("la semaine dernière", "2026-11-09 00:00"),
        ("先週", "2026-11-09 00:00"),
        ("desde ayer", "2026-11-19 00:00"),
        ("昨日", "2026-11-19 00:00"),
        ("segunda", "2026-11-16 00:00"),
        ("this morning", "2026-11-20 00:00"),
        ("20 octobre", "2026-10-20 00:00"),
        ("29 February", "2024-02-29 00:00"),
        ("today", "2026-11-20 00:00"),
        ("since yesterday", "2026-11-19 00:00"),
        ("Monday", "2026-11-16 00:00"),
        ("friday", "2026-11-20 00:00"),
        ("2026-11-18", "2026-11-18 00:00"),
        ("2026-11-18 09:30", "2026-11-18 09:30"),
        ("2026-11-18T09:30+01:00", "2026-11-18 08:30"),
        ("2026-11-18 09:30 UTC", "2026-11-18 09:30"),
    ],
)
def test_times_are_understood_as_people_write_them(words: str, meant: str) -> None:
    assert format_utc(parse_since(words, NOW)) == f"{meant} UTC"


@pytest.mark.parametrize("words", ["soon", "29 February 2026", "2026-13-01", "2 fortnights", "-3h", *EDGES])
def test_another_word_is_refused_with_examples(words: str) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        parse_since(words, NOW)
    assert "yesterday" in caught.value.hint


@pytest.mark.parametrize(
    "words", ["monday to friday", "friday 2026-05-12", "friday since 2026-05-12", "until friday", "lunes hasta viernes"]
)
def test_words_for_two_times_or_an_end_are_refused(words: str) -> None:
    with pytest.raises(InvalidQuestion, match="not a time that I understand") as caught:
        parse_since(words, NOW)
    assert "last week" in caught.value.hint


def test_the_future_cannot_be_missed() -> None:
    with pytest.raises(InvalidQuestion, match="in the future"):
        parse_since("2026-11-21", NOW)


@pytest.mark.parametrize(
    ("words", "shown"), [("10m", "10 minutes ago"), ("1h", "1 hour ago"), ("50h", "2 days ago"), ("0m", "just now")]
)
def test_a_past_time_is_shown_roughly(words: str, shown: str) -> None:
    assert format_ago(parse_since(words, NOW), NOW) == shown


@pytest.mark.parametrize("words", ["0001-01-01", "0001-01-01 05:00", "1 january 0001"])
def test_the_first_day_of_all_is_refused_east_of_utc_too(words: str) -> None:
    with pytest.raises(InvalidQuestion):
        parse_since(words, datetime(2026, 5, 18, tzinfo=ZoneInfo("Pacific/Auckland")))
