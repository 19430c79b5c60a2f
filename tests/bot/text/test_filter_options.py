"""Filters as options of a command become part of the question, and refuse what they do not understand."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.text.search_filters import add_filters, format_filter, match_typed, parse_search_filters, suggest_times
from engine.errors import InvalidQuestion

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "Who?"),
        ({"in": "", "after": " "}, "Who?"),
        ({"in": "<#C1>", "from": "Ada"}, "in:<#C1> from:@Ada Who?"),
        ({"in": "roof", "from": "@Ada Lovelace"}, 'in:#roof from:@"Ada Lovelace" Who?'),
        ({"in": '#the "old" roof', "has": "file"}, 'in:#"the old roof" has:file Who?'),
        ({"after": "2026-05", "before": "yesterday"}, "after:2026-05 before:yesterday Who?"),
        ({"since": "el mes pasado", "until": "im Mai"}, 'since:"el mes pasado" until:"im Mai" Who?'),
    ],
)
def test_options_stand_before_the_question(options: dict[str, str], text: str) -> None:
    assert add_filters("Who?", options, NOW) == text
    assert parse_search_filters(text, NOW).text == "Who?"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("after", "soon"),
        ("before", "2026-11-20 has:file"),
        ("has", "money"),
        ("in", "#"),
        ("from", "x" * 90),
        ("from", "<@1> in:#secret"),
    ],
)
def test_a_value_that_is_none_is_refused(name: str, value: str) -> None:
    with pytest.raises(InvalidQuestion, match=f"not a value of “{name}”"):
        add_filters("Who?", {name: value}, NOW)


def test_names_match_what_was_typed_wherever_it_stands() -> None:
    names = ["Roof", "attic-roof", "hall", "roofers"]
    assert match_typed(names, "#ROOF", 3) == ["Roof", "roofers", "attic-roof"]
    assert format_filter("from", "Ada Lovelace") == 'from:@"Ada Lovelace"'
    assert format_filter("in", "old-roof_2") == "in:#old-roof_2"


def test_times_are_days_months_and_what_was_typed_itself() -> None:
    assert suggest_times("", NOW)[:6] == ["today", "yesterday", "7d", "30d", "2026-11", "2026-10"]
    assert suggest_times("2026-0", NOW) == [f"2026-0{month}" for month in range(9, 0, -1)]
    assert suggest_times("2026-05-1", NOW) == []
    assert suggest_times("2026-05-12", NOW) == ["2026-05-12"]
    assert suggest_times("la semana pasada", NOW) == ["la semana pasada"]
    assert all(parse_search_filters(f"after:{time}", NOW).since for time in suggest_times("", NOW))
