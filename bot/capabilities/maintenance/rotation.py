"""The folder of scheduled backups: their names, which of them are kept, and which are leftovers."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.settings import Settings

FOLDER = "backups"
TIME_FORMAT = "%Y%m%dT%H%M%SZ"  # UTC
NAME = re.compile(r"threadlore-\d{8}T\d{6}Z\.tar\.gz(?:\.age)?")  # encrypted ones, too


def find_backup_dir(settings: Settings) -> Path:
    """The folder of scheduled backups."""
    return Path(settings.backup_dir).expanduser().absolute() if settings.backup_dir else settings.data_path / FOLDER


def name_backup(now: datetime, *, is_encrypted: bool = False) -> str:
    """The name of a backup; names sort by time."""
    return f"threadlore-{now.strftime(TIME_FORMAT)}.tar.gz{'.age' if is_encrypted else ''}"


def list_backups(folder: Path) -> list[Path]:
    """The scheduled backups of a folder, the oldest first; other files are not looked at."""
    try:
        return sorted(each for each in folder.iterdir() if _has_time(each) and each.is_file())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _has_time(path: Path) -> bool:
    if NAME.fullmatch(path.name):
        with suppress(ValueError):  # a day that does not exist
            return bool(read_time(path))
    return False


def read_time(backup: Path) -> datetime:
    """The time at which a backup was begun, by its name: a copy keeps it."""
    return datetime.strptime(backup.name.split("-")[1].split(".")[0], TIME_FORMAT).replace(tzinfo=UTC)


def select_expired(backups: Sequence[Path], keep: int) -> Sequence[Path]:
    """The backups that are not kept, of a list with the oldest first. Pure."""
    return backups[: max(0, len(backups) - keep)]
