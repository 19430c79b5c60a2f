"""Scheduled backups: when they are due, which are kept, and what becomes of a failure."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bot.capabilities.maintenance import archive, rotation, scheduled
from bot.capabilities.maintenance.archive_key import BackupKey, create_key_file, is_encrypted, load_chosen_key
from bot.capabilities.maintenance.rehearsal import rehearse_restore
from bot.capabilities.maintenance.scheduled import ScheduledBackups
from bot.ingest.sync.manager_notices import ManagerNotices
from bot.platform.models import Person
from bot.settings import Settings
from engine import Engine
from engine.errors import CorruptFile, DiskFull
from tests.support.bot_fixture import BotFixture
from tests.support.clock import MONDAY_NOON, ManualClock
from tests.support.engine_fixture import open_memory_engine
from tests.support.fake_platform import START
from tests.support.steps import run_steps, say

DAY = timedelta(days=1)


async def write_small(engine: Engine, path: Path, _: BackupKey | None = None) -> int:
    """A backup of no data."""
    await asyncio.to_thread(path.touch)
    return len(engine.data_dir.path.parts)


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with open_memory_engine(tmp_path / "home", clock=ManualClock(MONDAY_NOON)) as opened:
        yield opened


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "create_backup", write_small)


def list_all(folder: Path) -> list[Path]:
    """The backups of the data directory that the settings name by themselves."""
    return rotation.list_backups(folder, [rotation.find_tag(Settings())])


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_names_sort_by_time_and_other_files_are_not_backups(tmp_path: Path) -> None:
    owner, other = "0a1b2c3d", "ffffffff"
    start = f"threadlore-{owner}"
    for name in ("notes.tar.gz", f"{start}-20260101T000000Z.tar.gz.part", f"{start}-20261399T000000Z.tar.gz"):
        (tmp_path / name).touch()
    (tmp_path / rotation.name_backup(other, MONDAY_NOON)).touch()
    made = [tmp_path / rotation.name_backup(owner, MONDAY_NOON + number * DAY) for number in range(3)]
    for path in reversed(made):
        path.touch()
    assert rotation.list_backups(tmp_path, [owner]) == made
    now = MONDAY_NOON + 2 * DAY
    assert rotation.select_expired(made, 2, now) == made[:1]
    assert not rotation.select_expired(made, 5, now)
    assert rotation.list_backups(tmp_path / "absent", [owner]) == []


def test_after_the_clock_was_set_back_backups_of_the_future_are_the_oldest(tmp_path: Path) -> None:
    made = [tmp_path / rotation.name_backup("0a1b2c3d", MONDAY_NOON + number * DAY) for number in (-1, 0, 5, 6)]
    assert rotation.select_expired(made, 2, MONDAY_NOON) == made[2:]
    assert rotation.select_expired(made, 3, MONDAY_NOON) == made[2:3]
    assert rotation.find_newest(made, MONDAY_NOON) == made[1]
    assert rotation.find_newest(made[2:], MONDAY_NOON) is None


@pytest.mark.usefixtures("small")
async def test_two_bots_in_one_folder_keep_their_own_backups(tmp_path: Path, engine: Engine) -> None:
    folder = tmp_path / "shared"
    homes = [tmp_path / "one", tmp_path / "two"]
    every = [Settings(data_dir=home, backup_every="day", backup_dir=str(folder), backup_keep=1) for home in homes]
    for number in range(2):
        for settings in every:
            await ScheduledBackups(engine, settings).run_due(MONDAY_NOON + number * DAY)
    found = [rotation.list_backups(folder, [rotation.find_tag(setting)]) for setting in every]
    assert [[rotation.read_time(path) for path in some] for some in found] == [[MONDAY_NOON + DAY]] * 2


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("is_shared", [True, False])
async def test_backups_of_an_earlier_version_are_deleted_where_no_other_bot_has_any(
    tmp_path: Path, engine: Engine, *, is_shared: bool
) -> None:
    folder = tmp_path / "home" / "backups"
    chosen = str(folder) if is_shared else ""
    settings = Settings(data_dir=tmp_path / "home", backup_every="day", backup_dir=chosen, backup_keep=1)
    former = folder / rotation.name_backup(rotation.find_former_tag(settings), MONDAY_NOON - DAY)
    folder.mkdir(parents=True)
    former.touch()
    await ScheduledBackups(engine, settings).run_due(MONDAY_NOON)
    assert (former.exists(), len(names(folder))) == ((True, 2) if is_shared else (False, 1))


@pytest.mark.usefixtures("small")
async def test_after_the_clock_was_set_back_new_backups_stay_and_are_written_once(
    tmp_path: Path, engine: Engine
) -> None:
    settings = Settings(backup_every="day", backup_dir=str(tmp_path / "b"), backup_keep=2)
    backups = ScheduledBackups(engine, settings)
    for day in (40, 41, 0, 0, 1):
        await backups.run_due(MONDAY_NOON + day * DAY)
    found = list_all(tmp_path / "b")
    assert [rotation.read_time(each) for each in found] == [MONDAY_NOON, MONDAY_NOON + DAY]


@pytest.mark.usefixtures("small")
async def test_a_backup_is_written_when_it_is_due_and_the_newest_are_kept(tmp_path: Path, engine: Engine) -> None:
    folder = tmp_path / "elsewhere" / "backups"
    settings = Settings(backup_every="day", backup_dir=str(folder), backup_keep=2)
    backups = ScheduledBackups(engine, settings)
    clock = engine.clock
    assert isinstance(clock, ManualClock)
    for _ in range(3):
        await backups.run_due(clock.now())
        await backups.run_due(clock.now() + DAY / 2)
        clock.advance(DAY.total_seconds())
    found = list_all(folder)
    assert len(found) == 2
    assert found[-1].name == rotation.name_backup(rotation.find_tag(settings), clock.now() - DAY)
    assert folder.stat().st_mode & 0o777 == 0o700


async def test_a_failure_leaves_nothing_is_reported_and_tried_again_after_an_hour(
    tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = list[Path]()

    async def fail(_: Engine, path: Path, __: object = None) -> int:
        tries.append(path)
        raise DiskFull("The disk is full.")

    monkeypatch.setattr(archive, "create_backup", fail)
    backups = ScheduledBackups(engine, Settings(backup_every="day", backup_dir=str(tmp_path / "b")))
    clock = engine.clock
    assert isinstance(clock, ManualClock)
    with capture_logs() as logged:
        await backups.run_due(clock.now())
        await backups.run_due(clock.now())
    assert (len(tries), [log["event"] for log in logged].count("backups.failed")) == (1, 1)
    reports = {report.name: report for report in engine.supervisor.list_reports()}
    assert reports[scheduled.TASK].is_failing
    clock.advance(scheduled.RETRY_SECONDS)
    monkeypatch.setattr(archive, "create_backup", write_small)
    await backups.run_due(clock.now())
    reports = {report.name: report for report in engine.supervisor.list_reports()}
    assert not reports[scheduled.TASK].is_failing
    assert len(list_all(tmp_path / "b")) == 1


async def test_nothing_runs_without_the_setting(engine: Engine) -> None:
    await ScheduledBackups(engine, Settings()).run()


async def test_a_scheduled_backup_can_be_rehearsed_and_the_rehearsal_leaves_nothing(
    tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    await ScheduledBackups(engine, Settings(backup_every="hour", backup_dir=str(tmp_path / "b"))).run_due(
        engine.clock.now()
    )
    [path] = list_all(tmp_path / "b")
    assert names(tmp_path / "b") == [path.name]
    found = await rehearse_restore(path, engine.clock)
    assert (found.documents, found.has_bot, names(temporary)) == (0, False, [])
    path.write_bytes(path.read_bytes()[:-400])
    with pytest.raises(CorruptFile):
        await rehearse_restore(path, engine.clock)
    assert names(temporary) == []


async def test_a_rehearsal_on_a_small_disk_says_how_to_choose_another(
    tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise DiskFull("The disk is full.", hint="Free some space.")

    monkeypatch.setattr(archive, "restore_backup", fail)
    with pytest.raises(DiskFull, match="The disk is full") as error:
        await rehearse_restore(tmp_path / "any", engine.clock)
    assert error.value.hint.startswith("Set TMPDIR to a folder with more space")


async def test_with_a_key_file_a_scheduled_backup_is_encrypted(tmp_path: Path, engine: Engine) -> None:
    create_key_file(tmp_path / "key")
    settings = Settings(backup_every="day", backup_dir=str(tmp_path / "b"), backup_key_file=str(tmp_path / "key"))
    await ScheduledBackups(engine, settings).run_due(engine.clock.now())
    [path] = list_all(tmp_path / "b")
    assert (path.suffix, is_encrypted(path)) == (".age", True)
    assert (await rehearse_restore(path, engine.clock, load_chosen_key(settings))).documents == 0
    (tmp_path / "key").unlink()
    backups = ScheduledBackups(engine, settings)
    await backups.run_due(engine.clock.now() + DAY)
    assert {report.name: report.is_failing for report in engine.supervisor.list_reports()}[scheduled.TASK]


@pytest.mark.usefixtures("roof")
async def test_managers_are_told_once_that_a_backup_failed(
    bot: BotFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> int:
        raise DiskFull("The disk is full.")

    monkeypatch.setattr(archive, "create_backup", fail)
    bot.platform.people["ada"] = Person("ada", "Ada", is_manager=True)
    await run_steps(bot, [say("ada", "The mill is open.")])
    settings = Settings(backup_every="hour", backup_dir=str(tmp_path / "b"))
    for _ in range(2):
        await ScheduledBackups(bot.engine, settings, ManagerNotices(bot.context)).run_due(START)
    told = [card.text for place, card in bot.platform.posts if place.channel == "Dada"]
    assert [text[:42] for text in told] == ["The scheduled backup of my data failed. Wh"]
    assert str(tmp_path) not in told[0]
