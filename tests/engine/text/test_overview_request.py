"""Which questions want an overview, and of which span."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from engine.models import Filters, Question, Scope
from engine.text.overview_request import apply_overview_request, parse_overview_request

NOW = datetime(2026, 6, 17, 15, 0, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "wanted", "place"),
    [
        ("What was decided lately?", "decisions", ""),
        ("Which decisions were made lately, and by whom?", "decisions", ""),
        ("Any decisions this week?", "decisions", ""),
        ("what did we decide last week", "decisions", ""),
        ("Which questions are open?", "questions", ""),
        ("Which questions were asked lately and not answered yet?", "questions", ""),
        ("Are there any unanswered questions in this channel?", "questions", "channel"),
        ("Summarise this channel", "summary", "channel"),
        ("Summarize this thread, please.", "summary", "thread"),
        ("Can you summarize the discussion?", "summary", "thread"),
        ("TL;DR", "summary", ""),
        ("tldr of this thread", "summary", "thread"),
        ("What did I miss?", "summary", ""),
        ("what happened since Monday", "summary", ""),
        ("What happened here yesterday?", "summary", "channel"),
        ("What is new in all channels?", "summary", "everywhere"),
        ("What was discussed last week?", "summary", ""),
        ("Bring me up to speed / recap please", "summary", ""),
        ("Was wurde zuletzt beschlossen?", "decisions", ""),
        ("Welche Fragen sind noch offen?", "questions", ""),
        ("Fasse diesen Kanal zusammen", "summary", "channel"),
        ("Was habe ich verpasst?", "summary", ""),
        ("¿Qué se decidió últimamente?", "decisions", ""),
        ("Résume ce fil", "summary", "thread"),
        ("recap pls", "summary", ""),
        ("What's new?", "summary", ""),
        ("what's new in #harbour?", "summary", "channel"),
        ("Summarise #harbour", "summary", "channel"),
        ("summarize the #general channel please", "summary", "channel"),
        ("What is still open?", "questions", ""),
        ("Was ist noch offen?", "questions", ""),
    ],
)
def test_a_question_about_everything_wants_an_overview(text: str, wanted: str, place: str) -> None:
    asked = parse_overview_request(text, NOW)
    assert asked is not None
    assert (asked.overview.kind, asked.place) == (wanted, place)


@pytest.mark.parametrize(
    "text",
    [
        "What was decided about the roof?",
        "Who decided that?",
        "When was it decided?",
        "Why was this decided?",
        "What happened to the bell?",
        "Summarise the survey of the lighthouse",
        "Summarise it",
        "What is new about the ferry?",
        "What happened?",
        "Is this question open?",
        "Are the questions open now?",
        "is the point open to everybody?",
        "Is it still open?",
        "Summarise #harbour and #hall",
        "Is the museum open on Monday?",
        "Which question did Ada ask?",
        "Who pays?",
        "What did Ada miss?",
        "and on Sundays",
        "",
        "What was decided lately? " * 20,
    ],
)
def test_a_question_with_a_subject_is_searched_for(text: str) -> None:
    assert parse_overview_request(text, NOW) is None


def day(month: int, number: int, year: int = 2026) -> datetime:
    return datetime(year, month, number, tzinfo=UTC)


@pytest.mark.parametrize(
    ("words", "since", "until"),
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
def test_a_span_is_read_from_the_words(words: str, since: datetime, until: datetime | None) -> None:
    asked = parse_overview_request(f"What happened {words}?", NOW)
    assert asked is not None
    assert asked.time_span.since == since
    ends = asked.time_span.until
    assert (ends is None) if until is None else (ends is not None and 0 < (until - ends).total_seconds() < 1)
    assert not asked.overview.recent


def test_without_a_span_or_a_place_the_newest_two_weeks_are_meant() -> None:
    wanted = {
        text: parse_overview_request(text, NOW) for text in ("What was decided lately?", "Summarise this channel")
    }
    assert [bool(each and each.overview.recent) for each in wanted.values()] == [True, False]


def test_times_that_were_given_apart_stay() -> None:
    asked = parse_overview_request("What was decided lately?", NOW)
    assert asked is not None
    question = apply_overview_request(
        Question("", Scope(frozenset(), frozenset()), filters=Filters(since=day(1, 1))), asked
    )
    assert question.filters.since == day(1, 1)
    assert question.overview is not None
    assert not question.overview.recent
