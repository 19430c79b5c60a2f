from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import typer

from bot.cli import ask
from bot.settings import find_local_zone


def test_a_date_means_its_begin_or_its_end() -> None:
    assert ask.parse_start_time("2026-05-12", UTC) == datetime(2026, 5, 12, tzinfo=UTC)
    assert ask.parse_end_time("2026-05-12", UTC) == datetime(2026, 5, 12, 23, 59, 59, 999999, tzinfo=UTC)


def test_a_time_means_that_instant() -> None:
    assert ask.parse_end_time("2026-05-12T09:30", UTC) == datetime(2026, 5, 12, 9, 30, tzinfo=UTC)
    assert ask.parse_start_time("2026-05-12 09:30+02:00", UTC) == datetime(
        2026, 5, 12, 9, 30, tzinfo=timezone(timedelta(hours=2))
    )


def test_a_date_is_one_of_the_time_zone_of_the_terminal() -> None:
    zone = ZoneInfo("Pacific/Auckland")
    assert ask.parse_start_time("2026-05-12", zone) == datetime(2026, 5, 11, 12, tzinfo=UTC)
    assert ask.parse_end_time("2026-05-12", zone) == datetime(2026, 5, 12, 11, 59, 59, 999999, tzinfo=UTC)


def test_the_time_zone_of_a_terminal_is_that_of_its_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = tmp_path / "localtime"
    link.symlink_to("/usr/share/zoneinfo/Pacific/Auckland")
    monkeypatch.delenv("TZ", raising=False)
    assert find_local_zone(link) == "Pacific/Auckland"
    assert not find_local_zone(tmp_path)
    monkeypatch.setenv("TZ", "America/Lima")
    assert find_local_zone(link) == "America/Lima"


def test_nothing_is_no_time() -> None:
    assert ask.parse_start_time("", UTC) is None
    assert ask.parse_end_time("", UTC) is None


@pytest.mark.parametrize("text", ["yesterday", "2026-13-01", "12.5.2026", "9999-12-31T23:59:59-14:00"])
def test_another_word_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="2026-05-12"):
        ask.parse_start_time(text, UTC)
