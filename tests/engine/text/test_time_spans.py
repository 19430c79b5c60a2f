from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from engine.text.time_spans import parse_only_period, parse_time_span

NOW = datetime(2026, 5, 18, tzinfo=UTC)


@pytest.mark.parametrize("words", ["december 9999", "since december 9999", "31 december 9999", "9999-12-31"])
def test_the_last_days_of_the_calendar_have_an_open_end(words: str) -> None:
    span, rest = parse_time_span(words.split(), NOW)
    assert span.since is not None
    assert (rest, span.until, span.since.year, span.since.month) == ([], None, 9999, 12)


@pytest.mark.parametrize("words", ["0001-01-01", "1 january 0001", "december 9999", "until 9999-12-31"])
@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/Los_Angeles"])
def test_the_ends_of_the_calendar_are_read_in_any_zone(words: str, zone: str) -> None:
    _, rest = parse_time_span(words.split(), NOW.astimezone(ZoneInfo(zone)))
    assert rest == []


def test_an_article_that_is_joined_to_its_noun_belongs_to_the_time() -> None:
    span, rest = parse_time_span(["ce", "qui", "a", "changé", "l'année", "dernière"], NOW)
    assert span.since == datetime(2025, 1, 1, tzinfo=UTC)
    assert rest == ["ce", "qui", "a", "changé"]


@pytest.mark.parametrize(
    ("words", "day"), [("the last month", 1), ("since the 3 april", 3), ("le 3 avril", 3), ("no mês passado", 1)]
)
def test_words_before_the_only_time_are_part_of_it(words: str, day: int) -> None:
    period = parse_only_period(words.split(), NOW)
    assert period is not None
    assert (period[0].month, period[0].day) == (4, day)


@pytest.mark.parametrize(
    "words", ["", "until friday", "monday to friday", "the gate in may", "in the", "29 february 2026"]
)
def test_words_that_name_no_only_time_name_none(words: str) -> None:
    assert parse_only_period(words.split(), NOW) is None


@pytest.mark.parametrize(
    ("words", "days"),
    [
        *(("1500 days ago", 1500), ("2000 hours ago", 84), ("há 3 dias atrás", 3), ("hace 3 días atrás", 3)),
        *(("3 dias atrás", 3), ("vor 3 tagen", 3), ("il y a 3 jours", 3)),
    ],
)
def test_a_time_is_as_long_ago_as_its_words_say(words: str, days: int) -> None:
    period = parse_only_period(words.split(), NOW)
    assert period is not None
    assert (NOW.date() - period[0].date()).days == days


@pytest.mark.parametrize("words", ["99999999 years ago", "5000 years ago", "123456789012 days ago"])
def test_what_was_before_the_calendar_is_no_time(words: str) -> None:
    assert parse_only_period(words.split(), NOW) is None


@pytest.mark.parametrize(
    ("words", "rest", "end"),
    [
        ("what happened before two weeks ago", "what happened", datetime(2026, 5, 4, tzinfo=UTC)),
        ("what happened before 2 weeks ago", "what happened", datetime(2026, 5, 4, tzinfo=UTC)),
        ("was war vor dem 3 mai", "was war", datetime(2026, 5, 3, tzinfo=UTC)),
        ("qué pasó antes del 3 de mayo", "qué pasó", datetime(2026, 5, 3, tzinfo=UTC)),
        ("qué pasó antes de la semana pasada", "qué pasó", datetime(2026, 5, 11, tzinfo=UTC)),
        ("décisions avant la semaine dernière", "décisions", datetime(2026, 5, 11, tzinfo=UTC)),
        ("o que houve antes de 3 dias atrás", "o que houve", datetime(2026, 5, 15, tzinfo=UTC)),
    ],
)
def test_a_time_before_another_ends_where_that_begins(words: str, rest: str, end: datetime) -> None:
    span, remaining = parse_time_span(words.split(), NOW)
    assert (span.since, span.until, " ".join(remaining)) == (None, end - timedelta(microseconds=1), rest)


@pytest.mark.parametrize(
    ("words", "days"),
    [
        *(("a few days ago", (5, 2)), ("vor ein paar tagen", (5, 2)), ("hace un par de días", (3, 2))),
        *(
            ("il y a quelques jours", (5, 2)),
            ("há alguns dias", (5, 2)),
            ("数日前", (5, 2)),
            ("the day before yesterday", (2, 2)),
        ),
    ],
)
def test_vague_words_mean_some_days(words: str, days: tuple[int, int]) -> None:
    period = parse_only_period(words.split(), NOW)
    assert period is not None
    assert tuple((NOW.date() - end.date()).days for end in period) == days


@pytest.mark.parametrize("words", ["a few days", "some weeks", "ein paar tage", "few"])
def test_vague_words_without_a_distance_are_no_time(words: str) -> None:
    assert parse_only_period(words.split(), NOW) is None
