from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
import typer

from bot.cli import ask


def test_a_date_means_its_begin_or_its_end() -> None:
    assert ask.parse_start_time("2026-05-12") == datetime(2026, 5, 12, tzinfo=UTC)
    assert ask.parse_end_time("2026-05-12") == datetime(2026, 5, 12, 23, 59, 59, 999999, tzinfo=UTC)


def test_a_time_means_that_instant() -> None:
    assert ask.parse_end_time("2026-05-12T09:30") == datetime(2026, 5, 12, 9, 30, tzinfo=UTC)
    assert ask.parse_start_time("2026-05-12 09:30+02:00") == datetime(
        2026, 5, 12, 9, 30, tzinfo=timezone(timedelta(hours=2))
    )


def test_nothing_is_no_time() -> None:
    assert ask.parse_start_time("") is None
    assert ask.parse_end_time("") is None


@pytest.mark.parametrize("text", ["yesterday", "2026-13-01", "12.5.2026", "9999-12-31T23:59:59-14:00"])
def test_another_word_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="2026-05-12"):
        ask.parse_start_time(text)
