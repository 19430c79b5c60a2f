"""The day as of which a question is asked: in six languages, in the zone of who asks, and never one to come."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from bot.text.search_filters import asked_at, limit_as_of, narrow_question, parse_search_filters
from bot.text.times.as_of import find_as_of, parse_as_of
from engine import Filters, Question, Scope
from engine.errors import InvalidQuestion

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)  # a Friday
WHO = "Who runs the ferry?"


@pytest.mark.parametrize(
    ("text", "rest", "day"),
    [
        ("Who runs the ferry as of 3 May?", WHO, date(2026, 5, 3)),
        ("As of May 3rd, who runs the ferry?", "who runs the ferry?", date(2026, 5, 3)),
        ("as of the 3rd of May 2025: who runs the ferry?", "who runs the ferry?", date(2025, 5, 3)),
        ("Who runs the ferry as of 2026-05-03?", WHO, date(2026, 5, 3)),
        ("Who runs the ferry (as of 2026/5/3)?", WHO, date(2026, 5, 3)),
        ("Who runs the ferry as at 31 December?", WHO, date(2025, 12, 31)),
        ("Who runs the ferry as of yesterday?", WHO, date(2026, 11, 19)),
        ("Who runs the ferry as of last Monday?", WHO, date(2026, 11, 16)),
        ("Who runs the ferry as of last week?", WHO, date(2026, 11, 15)),
        ("Who runs the ferry as of 3 days ago?", WHO, date(2026, 11, 17)),
        ("Who runs the ferry as of a month ago?", WHO, date(2026, 10, 20)),
        ("Who runs the ferry as of two weeks ago?", WHO, date(2026, 11, 6)),
        ("Stand vor drei Tagen: wer leitet die Fähre?", "wer leitet die Fähre?", date(2026, 11, 17)),
        ("Who runs the ferry as of the end of May?", WHO, date(2026, 5, 31)),
        ("Who runs the ferry as of 2025?", WHO, date(2025, 12, 31)),
        ("Who runs the ferry as of November?", WHO, date(2026, 11, 20)),
        ("Who runs the ferry as of 25/04/2026?", WHO, date(2026, 4, 25)),
        ("Wer leitet die Fähre, Stand 3. Mai?", "Wer leitet die Fähre,?", date(2026, 5, 3)),
        ("Wer leitet die Fähre mit Stand vom 3.5.2026?", "Wer leitet die Fähre?", date(2026, 5, 3)),
        ("Stand gestern: wer leitet die Fähre?", "wer leitet die Fähre?", date(2026, 11, 19)),
        ("Stand Ende Mai: wer leitet die Fähre?", "wer leitet die Fähre?", date(2026, 5, 31)),
        ("Wer leitet die Fähre per 31. März 2026?", "Wer leitet die Fähre?", date(2026, 3, 31)),
        ("Qui dirige le bac à la date du 3 mai 2026 ?", "Qui dirige le bac?", date(2026, 5, 3)),
        ("Qui dirige le bac, situation au 1er juin ?", "Qui dirige le bac,?", date(2026, 6, 1)),
        ("Qui dirige le bac à la date de l’an dernier ?", "Qui dirige le bac?", date(2025, 12, 31)),
        ("Qui dirige le bac à la date d'hier ?", "Qui dirige le bac?", date(2026, 11, 19)),
        ("¿Quién lleva el ferry a fecha de 3 de mayo de 2026?", "¿Quién lleva el ferry?", date(2026, 5, 3)),
        ("¿Quién lleva el ferry a fecha del 03/05/2026?", "¿Quién lleva el ferry?", date(2026, 5, 3)),
        ("Quem cuida da balsa na data de 3 de maio?", "Quem cuida da balsa?", date(2026, 5, 3)),
        ("Quem cuida da balsa, situação em 3 de maio de 2026?", "Quem cuida da balsa,?", date(2026, 5, 3)),
        ("5月3日時点でフェリーの担当は誰ですか？", "フェリーの担当は誰ですか？", date(2026, 5, 3)),
        ("2025年12月末現在の担当は誰ですか？", "担当は誰ですか？", date(2025, 12, 31)),
        ("昨日の時点では、担当は誰ですか？", "担当は誰ですか？", date(2026, 11, 19)),
        ("who runs the ferry? as-of:2026-05-03", "who runs the ferry?", date(2026, 5, 3)),
    ],
)
def test_a_question_names_the_day_it_is_asked_as_of(text: str, rest: str, day: date) -> None:
    sought = parse_search_filters(text, NOW)
    assert (sought.as_of, sought.text) == (day, rest)
    assert sought.until == datetime(day.year, day.month, day.day, 23, 59, 59, 999999, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "Is it ready as of now?",
        "What is late as of yet?",
        "As of version 3.2, what changed?",
        "Who is as of late the busiest?",
        "as of day one we had a plan",
        "Wer ist am Stand am Samstag?",
        "Was stand gestern im Protokoll?",
        "Wie ist der Stand heute?",
        "Was ist der aktuelle Stand heute?",
        "Quelle est la situation du 3 mai ?",
        "Quel est l'état du 3 mai ?",
        "qual a situação em março?",
        "Who pays as of 5000 tons?",
        "La date de la fête ?",
        "時点とは何ですか？",
    ],
)
def test_words_that_name_no_day_stay_words(text: str) -> None:
    assert find_as_of(text, NOW) == (None, text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Who runs it as of 3 May 2027?", "3 May 2027"),
        ("Who runs it as of 2026-11-21?", "2026-11-21"),
        ("Who runs it as of 2027?", "2027"),
        ("Who runs it as of tomorrow?", "tomorrow"),
        ("As of next Monday, who runs it?", "next Monday"),
        ("Stand morgen: wer leitet sie?", "morgen"),
        ("Qui le dirige à la date du 3 mai 2031 ?", "3 mai 2031"),
        ("¿Quién lo lleva a fecha de mañana?", "mañana"),
        ("Quem cuida na data de amanhã?", "amanhã"),
        ("2027年5月3日時点の担当は？", "2027年5月3日"),
        ("明日の時点の担当は？", "明日"),
    ],
)
def test_a_day_to_come_is_refused(text: str, words: str) -> None:
    with pytest.raises(InvalidQuestion, match="still to come") as refused:
        find_as_of(text, NOW)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    "text", ["as of 31 June?", "as of 3/5/2026", "as of 2026-02-30", "Stand 31.6.2026", "13月1日時点"]
)
def test_a_day_that_there_is_not_is_refused(text: str) -> None:
    with pytest.raises(InvalidQuestion, match="don't know the day"):
        find_as_of(f"Who runs it {text}", NOW)


def test_a_day_ends_where_the_person_is() -> None:
    auckland = NOW.astimezone(ZoneInfo("Pacific/Auckland"))
    found, _ = find_as_of("who runs it as of today", auckland)
    assert found is not None
    assert found.day == date(2026, 11, 20)
    assert found.until == datetime(2026, 11, 20, 10, 59, 59, 999999, tzinfo=UTC)


@pytest.mark.parametrize("words", ["2026-05-03", "3 May", " 3. Mai ", "May 3rd, 2026", "2026年5月3日", "3.5.2026"])
def test_an_option_gives_a_day_in_any_words(words: str) -> None:
    assert parse_as_of(words, NOW).day == date(2026, 5, 3)


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("last week", date(2026, 11, 15)),
        ("last month", date(2026, 10, 31)),
        ("last year", date(2025, 12, 31)),
        ("this week", date(2026, 11, 20)),
        ("last Monday", date(2026, 11, 16)),
        ("yesterday", date(2026, 11, 19)),
        ("May", date(2026, 5, 31)),
        ("May 2025", date(2025, 5, 31)),
        ("letzte Woche", date(2026, 11, 15)),
        ("the last week", date(2026, 11, 15)),
        ("el mes pasado", date(2026, 10, 31)),
        ("o mês passado", date(2026, 10, 31)),
        ("l'année dernière", date(2025, 12, 31)),
    ],
)
def test_an_option_means_what_the_same_words_mean_in_a_question(words: str, day: date) -> None:
    asked, _ = find_as_of(f"Who runs the ferry as of {words}?", NOW)
    assert parse_as_of(words, NOW) == asked
    assert asked is not None
    assert asked.day == day


@pytest.mark.parametrize("words", ["the harvest", "3 May and later", "last week and later", "?"])
def test_an_option_that_gives_no_day_is_refused(words: str) -> None:
    with pytest.raises(InvalidQuestion, match="don't know the day"):
        parse_as_of(words, NOW)


def test_the_earlier_of_two_days_counts_and_other_filters_hold() -> None:
    sought = parse_search_filters("ferry as of 3 May before:2026-02 in:#pier", NOW)
    question = narrow_question(Question("ferry", Scope.of("s")), limit_as_of("2026-06-01", NOW), frozenset())
    narrowed = narrow_question(question, sought, frozenset({"r"})).filters
    assert narrowed == Filters(rooms=frozenset({"r"}), until=sought.until, as_of=date(2026, 5, 3))
    assert sought.until is not None
    assert sought.until.date() == date(2026, 1, 31)


def test_last_week_counts_from_the_day() -> None:
    assert asked_at(parse_search_filters("as of 3 May", NOW), NOW).date() == date(2026, 5, 3)
    assert asked_at(parse_search_filters("as of today", NOW), NOW) == NOW
