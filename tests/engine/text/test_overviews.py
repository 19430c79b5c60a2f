"""Which questions want an overview, and of which time span."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from engine.models import Filters, Question, Scope
from engine.text.overviews import apply_overview_request, parse_overview_request

NOW = datetime(2026, 6, 17, 15, 0, tzinfo=UTC)  # a Wednesday
# kind and place, then questions
OVERVIEWS = """
decisions: What was decided lately? | Which decisions were made lately, and by whom? | Any decisions this week?
decisions: what did we decide last week | Was wurde zuletzt beschlossen? | ¿Qué se decidió últimamente?
questions: Which questions are open? | Which questions were asked lately and not answered yet?
questions: What is still open? | Welche Fragen sind noch offen? | Was ist noch offen?
questions channel: Are there any unanswered questions in this channel?
summary: TL;DR | What did I miss? | what happened since Monday | What was discussed last week? | What's new?
summary: Bring me up to speed / recap please | Was habe ich verpasst? | recap pls
summary channel: Summarise this channel | What happened here yesterday? | Fasse diesen Kanal zusammen
summary channel: Summarise #harbour | what's new in #harbour? | summarize the #general channel please
summary thread: Summarize this thread, please. | Can you summarize the discussion? | tldr of this thread | Résume ce fil
summary everywhere: What is new in all channels?
summary: What did we talk about yesterday? | What did people speak about last week? | What came up this week?
summary: What did the team get done last week? | Give me the highlights of last week | What's the latest?
summary: What was said last night? | what happened over the weekend? | anything important today?
summary: Worüber wurde gestern gesprochen? | ¿De qué hablamos ayer? | De quoi a-t-on parlé hier ? | ¿Qué me perdí?
summary: O que falamos ontem? | O que perdi? | 昨日何を話しましたか？ | 今週の要約をお願いします | 見逃したことを教えて
summary thread: key points of this thread
summary channel: What did everyone talk about in #harbour on Monday? | このチャンネルの要約
questions: Welche Punkte sind noch ungeklärt? | ¿Qué preguntas están abiertas? | Quelles questions sont ouvertes ?
questions: Quais perguntas estão abertas? | 未解決の質問は何ですか？ | What remains undecided? | open points?
questions channel: Was ist hier noch offen? | Which questions are open in #harbour?
decisions: what did we conclude yesterday | ¿Qué decidimos la semana pasada? | 先週何が決まりましたか？
decisions: what did we decide 3 days ago? | Was wurde vor drei Tagen beschlossen? | 3日前に何が決まりましたか？
decisions: ¿Qué se decidió hace dos días? | O que decidimos há três dias?
summary: De quoi a-t-on parlé il y a deux semaines ? | O que falamos duas semanas atrás? | 二日前に何を話しましたか？
decisions: Qu'est-ce qui a été décidé la semaine dernière ? | Quais decisões tomamos esta semana?
"""
SEARCHES = (
    "What was decided about the roof? | Who decided that? | When was it decided? | Why was this decided?"
    " | What happened to the bell? | Summarise the survey of the lighthouse | Summarise it | What happened?"
    " | What is new about the ferry? | Is this question open? | Are the questions open now? | Is it still open?"
    " | is the point open to everybody? | Summarise #harbour and #hall | Is the museum open on Monday?"
    " | Which question did Ada ask? | Who pays? | What did Ada miss?"
    " | What happened on 29 February 2026? | What does the museum do on Monday? | What do we need today?"
    " | Who was here yesterday? | What time did we talk about? | Where are people going today?"
    " | 屋根は昨日直しましたか？ | 橋の料金はいくらですか？ | What did we say about the roof yesterday?"
    " | and on Sundays | What happened long ago? | Was geschah vor dem Fest? | What was decided two days after Monday?"
)


@pytest.mark.parametrize("line", OVERVIEWS.strip().splitlines())
def test_a_question_about_everything_wants_an_overview(line: str) -> None:
    wanted, _, questions = line.partition(": ")
    for question in questions.split(" | "):
        request = parse_overview_request(question, NOW)
        assert request is not None, question
        assert f"{request.overview.kind} {request.place}".strip() == wanted, question


@pytest.mark.parametrize("text", [*SEARCHES.split(" | "), "", "What was decided lately? " * 20])
def test_a_question_with_a_subject_is_searched_for(text: str) -> None:
    assert parse_overview_request(text, NOW) is None


def day(month: int, number: int, year: int = 2026) -> datetime:
    return datetime(year, month, number, tzinfo=UTC)


@pytest.mark.parametrize(
    ("words", "since", "end"),
    [
        ("since Monday", day(6, 15), None),
        ("on Monday", day(6, 15), day(6, 16)),
        ("since yesterday", day(6, 16), None),
        ("yesterday", day(6, 16), day(6, 17)),
        ("today", day(6, 17), None),
        ("this week", day(6, 15), None),
        ("last week", day(6, 8), day(6, 15)),
        ("last month", day(5, 1), day(6, 1)),
        ("in May", day(5, 1), day(6, 1)),
        ("in December", day(12, 1, 2025), day(1, 1)),
        ("in May 2025", day(5, 1, 2025), day(6, 1, 2025)),
        ("on 12 May", day(5, 12), day(5, 13)),
        ("since May 12", day(5, 12), None),
        ("since 2026-05-12", day(5, 12), None),
        ("from 1 May to 3 May", day(5, 1), day(5, 4)),
        ("in the last 2 days", datetime(2026, 6, 15, 15, tzinfo=UTC), None),
        ("seit Montag", day(6, 15), None),
        ("letzte Woche", day(6, 8), day(6, 15)),
        ("desde ayer", day(6, 16), None),
        ("on 29 February", day(2, 29, 2024), day(3, 1, 2024)),
        ("on February 29", day(2, 29, 2024), day(3, 1, 2024)),
        ("on 29 February 2024", day(2, 29, 2024), day(3, 1, 2024)),
        ("on 31 December", day(12, 31, 2025), day(1, 1)),
        ("el 12 de mayo de 2025", day(5, 12, 2025), day(5, 13, 2025)),
        ("last Wednesday", day(6, 10), day(6, 11)),
        ("this morning", day(6, 17), None),
        ("over the weekend", day(6, 13), day(6, 15)),
        ("last year", day(1, 1, 2025), day(1, 1)),
        ("3 days ago", day(6, 14), day(6, 15)),
        ("since 3 days ago", day(6, 14), None),
        ("two weeks ago", day(6, 1), day(6, 8)),
        ("a month ago", day(5, 1), day(6, 1)),
        ("18 months ago", day(12, 1, 2024), day(1, 1, 2025)),
        ("two years ago", day(1, 1, 2024), day(1, 1, 2025)),
        ("an hour ago", datetime(2026, 6, 17, 14, tzinfo=UTC), datetime(2026, 6, 17, 15, tzinfo=UTC)),
        ("99999 days ago", day(9, 2, 1752), day(9, 3, 1752)),
        ("vor drei Tagen", day(6, 14), day(6, 15)),
        ("vor einer Woche", day(6, 8), day(6, 15)),
        ("seit drei Tagen", day(6, 14), None),
        ("hace dos días", day(6, 15), day(6, 16)),
        ("desde hace 2 semanas", day(6, 1), None),
        ("il y a deux semaines", day(6, 1), day(6, 8)),
        ("depuis 3 jours", day(6, 14), None),
        ("há três dias", day(6, 14), day(6, 15)),
        ("dois meses atrás", day(4, 1), day(5, 1)),
        ("3日前", day(6, 14), day(6, 15)),
        ("二週間前", day(6, 1), day(6, 8)),
        ("2か月前から", day(4, 1), None),
    ],
)
def test_a_span_is_read_from_the_words(words: str, since: datetime, end: datetime | None) -> None:
    request = parse_overview_request(f"What happened {words}?", NOW)
    assert request is not None
    assert (request.time_span.since, request.overview.recent) == (since, False)
    assert request.time_span.until == (end and end - timedelta(microseconds=1))


@pytest.mark.parametrize(
    ("zone", "now", "words", "since", "end"),
    [
        # In Auckland it is 09:00 on Sunday, 29 November, while it is still Saturday in UTC.
        ("Pacific/Auckland", "2026-11-28T20:00", "today", "2026-11-28T11:00", None),
        ("Pacific/Auckland", "2026-11-28T20:00", "yesterday", "2026-11-27T11:00", "2026-11-28T11:00"),
        ("Pacific/Auckland", "2026-11-28T20:00", "since Monday", "2026-11-22T11:00", None),
        ("Pacific/Auckland", "2026-11-28T20:00", "on 2026-11-29", "2026-11-28T11:00", None),
        # In Los Angeles it is 17:30 on Friday, 27 November, while it is Saturday in UTC.
        ("America/Los_Angeles", "2026-11-28T01:30", "today", "2026-11-27T08:00", None),
        ("America/Los_Angeles", "2026-11-28T01:30", "last week", "2026-11-16T08:00", "2026-11-23T08:00"),
        ("America/Los_Angeles", "2026-11-28T01:30", "in October", "2026-10-01T07:00", "2026-11-01T07:00"),
        # A day on which clocks are put back has 25 hours.
        ("America/Los_Angeles", "2026-11-03T01:30", "1 day ago", "2026-11-01T07:00", "2026-11-02T08:00"),
        ("America/Los_Angeles", "2026-11-01T18:00", "10 hours ago", "2026-11-01T08:00", "2026-11-01T09:00"),
        ("America/Los_Angeles", "2026-11-01T18:30", "9 hours ago", "2026-11-01T09:00", "2026-11-01T10:00"),
        ("America/Los_Angeles", "2026-11-03T01:30", "on Sunday", "2026-11-01T07:00", "2026-11-02T08:00"),
        ("America/Los_Angeles", "2026-11-01T18:00", "in the last 24 hours", "2026-10-31T18:00", None),
    ],
)
def test_days_are_those_of_the_person_who_asks(zone: str, now: str, words: str, since: str, end: str | None) -> None:
    local = datetime.fromisoformat(f"{now}+00:00").astimezone(ZoneInfo(zone))
    request = parse_overview_request(f"What happened {words}?", local)
    assert request is not None
    assert request.time_span.since == datetime.fromisoformat(f"{since}+00:00")
    until = end and datetime.fromisoformat(f"{end}+00:00") - timedelta(microseconds=1)
    assert request.time_span.until == until


@pytest.mark.parametrize(("text", "recent"), [("What was decided lately?", True), ("Summarise this channel", False)])
def test_without_a_span_or_a_place_the_newest_two_weeks_are_meant(text: str, *, recent: bool) -> None:
    request = parse_overview_request(text, NOW)
    assert request is not None
    assert request.overview.recent == recent


def test_times_given_as_filters_are_kept() -> None:
    request = parse_overview_request("What was decided lately?", NOW)
    assert request is not None
    question = Question("", Scope(frozenset(), frozenset()), filters=Filters(since=day(1, 1)))
    applied = apply_overview_request(question, request)
    assert applied.overview is not None
    assert (applied.filters.since, applied.overview.recent) == (day(1, 1), False)
