"""Checks of the data: the database and what was given up, and the age of backups."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from bot.capabilities.maintenance.rotation import find_tag, name_backup
from bot.cli.doctor.data import check_backups, check_database, format_age
from bot.cli.doctor.finding import CheckContext
from bot.rpc.service import connect_or_open
from bot.settings import load_settings
from tests.support.clock import MONDAY_NOON, ManualClock


def look(home: Path, every: str = "") -> CheckContext:
    return CheckContext(load_settings(data_dir=home, backup_every=every), ManualClock(MONDAY_NOON))


def add_backup(home: Path, age: timedelta) -> None:
    (home / "backups").mkdir(exist_ok=True)
    (home / "backups" / name_backup(find_tag(look(home).settings, create=True), MONDAY_NOON - age)).touch()


async def test_a_database_answers_is_damaged_or_is_not_there_yet(tmp_path: Path) -> None:
    context = look(tmp_path / "home")
    assert (await check_database(context)).text == "There are no data yet."
    async with connect_or_open(context.settings, context.clock):
        assert (await check_database(context)).state == "ok"
    assert "0 documents" in (await check_database(context)).text
    (tmp_path / "home" / "ledger.db").write_bytes(b"no database" * 1000)
    finding = await check_database(context)
    assert (finding.state, bool(finding.hint)) == ("failed", True)


@pytest.mark.parametrize(
    ("every", "days", "state"),
    [
        ("", None, "warning"),
        ("", 6, "ok"),
        ("", 8, "warning"),
        ("day", None, "warning"),
        ("day", 1, "ok"),
        ("day", 3, "warning"),
    ],
)
async def test_a_backup_is_late_after_two_intervals_or_a_week(
    tmp_path: Path, every: str, days: int | None, state: str
) -> None:
    if days is not None:
        add_backup(tmp_path, timedelta(days=days))
        (tmp_path / "backups" / "notes.tar.gz").touch()
    finding = await check_backups(look(tmp_path, every))
    assert finding.state == state
    assert days is None or f"The newest of 1 in {tmp_path / 'backups'} is {days} day" in finding.text


async def test_backups_of_the_future_do_not_count(tmp_path: Path) -> None:
    add_backup(tmp_path, timedelta(days=-30))
    finding = await check_backups(look(tmp_path, "day"))
    assert (finding.state, "All 1 in" in finding.text, "of the future" in finding.text) == ("warning", True, True)
    add_backup(tmp_path, timedelta(days=1))
    finding = await check_backups(look(tmp_path, "day"))
    assert (finding.state, "The newest of 2" in finding.text, "1 day old" in finding.text) == ("ok", True, True)


async def test_without_a_schedule_nothing_is_said_to_have_failed(tmp_path: Path) -> None:
    assert "Backups at other places are not seen here." in (await check_backups(look(tmp_path))).text
    add_backup(tmp_path, timedelta(days=30))
    finding = await check_backups(look(tmp_path))
    assert "failed" not in finding.hint
    assert "Backups at other places are not seen here." in finding.text


def test_an_age_has_the_largest_unit_that_fits() -> None:
    ages = [format_age(number) for number in (5, 120, 3700, 180_000)]
    assert ages == ["less than a minute", "2 minutes", "1 hour", "2 days"]
