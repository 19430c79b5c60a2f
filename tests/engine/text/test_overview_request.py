"""Which questions want an overview, and of which time span."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from engine.models import Filters, Question, Scope
from engine.text.overview_request import apply_overview_request, parse_overview_request

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
"""
SEARCHES = (
    "What was decided about the roof? | Who decided that? | When was it decided? | Why was this decided?"
    " | What happened to the bell? | Summarise the survey of the lighthouse | Summarise it | What happened?"
    " | What is new about the ferry? | Is this question open? | Are the questions open now? | Is it still open?"
    " | is the point open to everybody? | Summarise #harbour and #hall | Is the museum open on Monday?"
    " | Which question did Ada ask? | Who pays? | What did Ada miss? | and on Sundays"
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
    ],
)
def test_a_span_is_read_from_the_words(words: str, since: datetime, end: datetime | None) -> None:
    request = parse_overview_request(f"What happened {words}?", NOW)
    assert request is not None
    assert (request.time_span.since, request.overview.recent) == (since, False)
    assert request.time_span.until == (end and end - timedelta(microseconds=1))


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
