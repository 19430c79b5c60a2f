"""Filters in a question: which words are filters, which stay words, and the spans of time that they name."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.text.search_filters import SearchFilters, parse_search_filters

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)  # a Friday


def parse(text: str) -> SearchFilters:
    return parse_search_filters(text, NOW)


@pytest.mark.parametrize(
    ("text", "rest", "found"),
    [
        ("in:<#C1|roof> who lays tiles?", "who lays tiles?", {"channel_ids": {"C1"}}),
        ("who lays tiles? in:#Roof", "who lays tiles?", {"channel_names": {"roof"}}),
        ('in:#"old roof" tiles', "tiles", {"channel_names": {"old roof"}}),
        ("from:<@U1> tiles", "tiles", {"person_ids": ("U1",)}),
        ("tiles From:@ada, please", "tiles please", {"person_names": ("ada",)}),
        ("has:file has:FILES plan", "plan", {"only_files": True}),
        ("in:#a in:#b", "", {"channel_names": {"a", "b"}}),
        ('in:#"a b", from:@ada; now', "now", {"channel_names": {"a b"}, "person_names": ("ada",)}),
        ("What was decided in:#roof?", "What was decided?", {"channel_names": {"roof"}}),
        ('Who came? in:#"a b". from:@ada!?', "Who came??", {"channel_names": {"a b"}, "person_names": ("ada",)}),
        ("in:#roof?", "", {"channel_names": {"roof"}}),
        ("Is there a plan has:file?", "Is there a plan?", {"only_files": True}),
        ("What came after:2026-05?", "What came?", {"since": datetime(2026, 5, 1, tzinfo=UTC)}),
        ("who came? filter:none", "who came?", {"only_these": True}),
        ("why xin:#a, in:#a", "why xin:#a,", {"channel_names": {"a"}}),
    ],
)
def test_filters_are_split_from_the_question(text: str, rest: str, found: dict[str, object]) -> None:
    sought = parse(text)
    assert sought.is_active
    assert sought.text == rest
    assert {name: getattr(sought, name) for name in found} == found


@pytest.mark.parametrize(
    "text",
    [
        "in:progress",
        "from:scratch",
        "has:beens",
        "filter:all",
        "after:all  this",
        "xin:#roof",
        "before:99",
        'until:"the harvest"',
        "http://x/in:#a",
        "in: #roof",
        "in:#" + "a" * 81,
    ],
)
def test_words_that_only_look_like_filters_stay(text: str) -> None:
    sought = parse(text)
    assert not sought.is_active
    assert sought.text == text


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("after:2026-05", "2026-05-01 00:00", None),
        ("before:2026-05", None, "2026-04-30 23:59"),
        ("until:2026-12", None, "2026-12-31 23:59"),
        ("since:2025 until:2025", "2025-01-01 00:00", "2025-12-31 23:59"),
        (
            "after:2026-05-03 since:2026 after:2026-05-04 until:2026-07 before:2026-06",
            "2026-05-04 00:00",
            "2026-05-31 23:59",
        ),
        ("after:2026-05-03 before:2026-05-05", "2026-05-03 00:00", "2026-05-04 23:59"),
        ("after:monday", "2026-11-16 00:00", None),
        ("after:2h", "2026-11-20 08:00", None),
        ('since:"el mes pasado" until:"la semaine dernière"', "2026-10-01 00:00", "2026-11-15 23:59"),
        ('before:"im Mai"', None, "2026-04-30 23:59"),
        ("after:0001 before:0001", "1-01-01 00:00", "1969-12-31 23:59"),
        ("before:0001-01-01", None, "1969-12-31 23:59"),
    ],
)
def test_times_are_spans(text: str, since: str | None, until: str | None) -> None:
    sought = parse(text)
    assert [each and f"{each:%Y-%m-%d %H:%M}" for each in (sought.since, sought.until)] == [since, until]
