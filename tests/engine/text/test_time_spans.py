from __future__ import annotations

from datetime import UTC, datetime

import pytest

from engine.text.time_spans import parse_time_span

NOW = datetime(2026, 5, 18, tzinfo=UTC)


@pytest.mark.parametrize("words", ["december 9999", "since december 9999", "31 december 9999", "9999-12-31"])
def test_the_last_days_of_all_have_an_end(words: str) -> None:
    span, rest = parse_time_span(words.split(), NOW)
    assert rest == []
    assert span.until is None
    assert span.since is not None
    assert (span.since.year, span.since.month) == (9999, 12)


def test_a_month_ends_before_the_next_one() -> None:
    span, _ = parse_time_span(["december", "2025"], NOW)
    assert span.since == datetime(2025, 12, 1, tzinfo=UTC)
    assert span.until == datetime(2025, 12, 31, 23, 59, 59, 999999, UTC)
