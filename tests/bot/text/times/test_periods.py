"""The period that the words of an option name: its end counts for "before" and "until", whatever stands before it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from bot.text.format import parse_since
from bot.text.times.periods import MOMENT, parse_period

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)  # a Friday
LAST_WEEK = (date(2026, 11, 9), date(2026, 11, 15))
LAST_MONTH = (date(2026, 10, 1), date(2026, 10, 31))
LAST_YEAR = (date(2025, 1, 1), date(2025, 12, 31))
THREE_DAYS_AGO = (date(2026, 11, 17), date(2026, 11, 17))
A_FEW_DAYS_AGO = (date(2026, 11, 15), date(2026, 11, 18))
TWO_WEEKS_AGO = (date(2026, 11, 2), date(2026, 11, 8))
MAY = (date(2026, 5, 1), date(2026, 5, 31))


@pytest.mark.parametrize(
    ("words", "days"),
    [
        *((words, LAST_WEEK) for words in ["last week", "the last week", "la semana pasada", "la semaine dernière"]),
        *((words, LAST_WEEK) for words in ["in der letzten Woche", "a semana passada", "na semana passada", "先週"]),
        *((words, LAST_MONTH) for words in ["the last month", "el mes pasado", "le mois dernier", "o mês passado"]),
        *((words, LAST_MONTH) for words in ["im letzten Monat", "en el último mes", "no mês passado", "先月"]),
        *((words, LAST_YEAR) for words in ["in the last year", "el año pasado", "l'année dernière", "l’an dernier"]),
        *((words, LAST_YEAR) for words in ["im letzten Jahr", "o ano passado", "去年"]),
        *((words, MAY) for words in ["in May", "im Mai", "en mayo", "en mai", "em maio", "since May", "May 2026"]),
        *((words, THREE_DAYS_AGO) for words in ["3 days ago", "three days ago", "vor 3 Tagen", "vor drei Tagen"]),
        *((words, THREE_DAYS_AGO) for words in ["hace 3 días", "hace tres días", "3 días atrás", "il y a 3 jours"]),
        *((words, THREE_DAYS_AGO) for words in ["il y a trois jours", "há 3 dias", "há três dias", "3 dias atrás"]),
        *((words, THREE_DAYS_AGO) for words in ["três dias atrás", "3日前", "三日前"]),
        *((words, A_FEW_DAYS_AGO) for words in ["a few days ago", "several days ago", "vor ein paar Tagen"]),
        *((words, A_FEW_DAYS_AGO) for words in ["vor einigen Tagen", "hace unos días", "hace algunos días"]),
        *((words, A_FEW_DAYS_AGO) for words in ["il y a quelques jours", "há alguns dias", "uns dias atrás", "数日前"]),
        *((words, TWO_WEEKS_AGO) for words in ["2 weeks ago", "two weeks ago", "vor 2 Wochen", "2週間前"]),
        *(
            (words, (date(2026, 11, 17), date(2026, 11, 18)))
            for words in ["a couple of days ago", "hace un par de días"]
        ),
        ("the day before yesterday", (date(2026, 11, 18), date(2026, 11, 18))),
        ("antes de ayer", (date(2026, 11, 18), date(2026, 11, 18))),
        ("el 3 de mayo", (date(2026, 5, 3), date(2026, 5, 3))),
        ("am Montag", (date(2026, 11, 16), date(2026, 11, 16))),
        ("2025", LAST_YEAR),
        ("2026-05", MAY),
    ],
)
def test_a_period_ends_where_its_words_end(words: str, days: tuple[date, date]) -> None:
    period = parse_period(words, NOW)
    assert period is not None
    assert (period[0].date(), period[1].date()) == days
    assert (period[1] + MOMENT).time() == datetime.min.time()


@pytest.mark.parametrize("words", ["el mes pasado", "l'année dernière", "o mês passado", "im Mai", "the last week"])
def test_a_period_begins_where_a_time_since_begins(words: str) -> None:
    period = parse_period(words, NOW)
    assert period is not None
    assert period[0] == parse_since(words, NOW)


@pytest.mark.parametrize(
    "words", ["", "the", "la", "until Friday", "the harvest", "May to June", "last week and later", "en el mes"]
)
def test_other_words_name_no_period(words: str) -> None:
    assert parse_period(words, NOW) is None


def test_a_period_ends_where_the_person_is() -> None:
    period = parse_period("la semaine dernière", NOW.astimezone(ZoneInfo("Pacific/Auckland")))
    assert period == (
        datetime(2026, 11, 8, 11, tzinfo=UTC),
        datetime(2026, 11, 15, 11, tzinfo=UTC) - MOMENT,
    )
