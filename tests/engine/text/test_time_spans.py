from __future__ import annotations

from datetime import UTC, datetime

import pytest

from engine.text.time_spans import parse_time_span

NOW = datetime(2026, 5, 18, tzinfo=UTC)


@pytest.mark.parametrize("words", ["december 9999", "since december 9999", "31 december 9999", "9999-12-31"])
def test_the_last_days_of_the_calendar_have_an_open_end(words: str) -> None:
    span, rest = parse_time_span(words.split(), NOW)
    assert span.since is not None
    assert (rest, span.until, span.since.year, span.since.month) == ([], None, 9999, 12)
