"""Write a backup when one is due, keep the newest ones, and say so if that fails."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from bot import texts
from bot.capabilities.maintenance import archive
from bot.capabilities.maintenance.archive_key import load_chosen_key
from bot.capabilities.maintenance.rotation import (
    find_backup_dir,
    find_newest,
    find_tag,
    list_backups,
    list_tags,
    name_backup,
    read_time,
    select_expired,
)
from bot.errors import file_write_error
from bot.i18n import gettext
from engine.errors import EngineError
from engine.storage.disk import disk_error

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from bot.ingest.sync.manager_notices import ManagerNotices
    from bot.settings import Settings
    from engine import Engine

log = structlog.get_logger(__name__)

TASK = "scheduled backups"  # the name of the task, and of its lease
POLL_SECONDS = 60.0  # between two looks at what is due
RETRY_SECONDS = 3600.0  # after a failure, at most


class ScheduledBackups:
    """Backups by the settings. `notices`: of the bot, whose managers are told of a failure; None beside no bot."""

    def __init__(self, engine: Engine, settings: Settings, notices: ManagerNotices | None = None) -> None:
        self._engine, self._settings = engine, settings
        self._folder = find_backup_dir(settings)
        self._tag = ""  # of the data, once it is known
        self._interval = settings.backup_seconds
        self._keep = settings.backup_keep
        self._notices = notices
        self._failed_at: float | None = None  # monotonic

    async def run(self) -> None:
        """Write backups until cancelled, while no other process does; returns at once if none are scheduled."""
        if not self._interval:
            return
        async with self._engine.processes.lease(TASK):
            while True:
                await self.run_due(self._engine.clock.now())
                await asyncio.sleep(POLL_SECONDS)

    async def run_due(self, now: datetime) -> None:
        """Write a backup if the newest one is old enough; a failure is recorded, told, and tried again."""
        monotonic = self._engine.clock.monotonic()
        if self._failed_at is not None and monotonic - self._failed_at < min(RETRY_SECONDS, self._interval):
            return
        try:
            if (path := await self._write_due(now)) is None:
                return
        except EngineError as error:
            self._failed_at = monotonic
            self._engine.supervisor.record_failure(TASK, error)
            log.error("backups.failed", folder=str(self._folder), error=str(error), hint=error.hint)  # noqa: TRY400  - a sentence says more
            if self._notices is not None:
                await self._notices.tell_all(f"backup failed in {now:%Y-%m}", _word_failure)
            return
        self._failed_at = None
        self._engine.supervisor.record_success(TASK)
        log.info("backups.written", path=str(path))

    def _is_due(self, now: datetime) -> bool:
        """Whether the newest backup is old enough; one of the future, before the clock was set back, does not count."""
        newest = find_newest(self._list(), now)
        return newest is None or (now - read_time(newest)).total_seconds() >= self._interval

    async def _write_due(self, now: datetime) -> Path | None:
        """Write and verify a backup if it is due, then delete those that are not kept. Raises EngineError."""
        self._tag = self._tag or await asyncio.to_thread(find_tag, self._settings, create=True)
        try:
            if not await asyncio.to_thread(self._is_due, now):
                return None
        except OSError as error:
            raise disk_error("The folder of backups cannot be read", self._folder, error) from error
        key = load_chosen_key(self._settings)
        path = self._folder / name_backup(self._tag, now, is_encrypted=key is not None)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            await archive.create_backup(self._engine, path, key)
            await asyncio.to_thread(self._delete_expired, now)
        except OSError as error:
            raise file_write_error(path, error) from error
        return path

    def _list(self) -> list[Path]:
        return list_backups(self._folder, list_tags(self._settings, self._tag))

    def _delete_expired(self, now: datetime) -> None:
        for path in select_expired(self._list(), self._keep, now):
            path.unlink(missing_ok=True)
            log.info("backups.deleted", path=str(path))


def _word_failure() -> str:
    return gettext(texts.BACKUP_FAILED)
