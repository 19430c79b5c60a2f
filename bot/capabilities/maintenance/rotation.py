"""The folder of scheduled backups: their names, whose they are, and which of them are kept."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from bot.capabilities.maintenance.data_tag import find_former_tag

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from bot.settings import Settings

FOLDER = "backups"
TIME_FORMAT = "%Y%m%dT%H%M%SZ"  # UTC
NAME = re.compile(r"threadlore-([0-9a-f]{8})-(\d{8}T\d{6}Z)\.tar\.gz(?:\.age)?")  # encrypted ones, too
MAX_AHEAD = timedelta(minutes=1)  # by which the clock of another process may differ


def find_backup_dir(settings: Settings) -> Path:
    """The folder of scheduled backups."""
    return Path(settings.backup_dir).expanduser().absolute() if settings.backup_dir else settings.data_path / FOLDER


def list_tags(settings: Settings, tag: str) -> tuple[str, ...]:
    """The tags of the backups that are those of the data with this tag: in a folder of its own, earlier ones, too."""
    return (tag,) if settings.backup_dir else (tag, find_former_tag(settings))


def name_backup(tag: str, now: datetime, *, is_encrypted: bool = False) -> str:
    """The name of a backup; those of a tag sort by time."""
    return f"threadlore-{tag}-{now.strftime(TIME_FORMAT)}.tar.gz{'.age' if is_encrypted else ''}"


def list_backups(folder: Path, tags: Collection[str]) -> list[Path]:
    """The scheduled backups with one of these tags in a folder, the oldest first; other files are not looked at.

    Raises OSError for a folder that cannot be read.
    """
    try:
        found = [path for path in folder.iterdir() if _is_of(path, tags) and path.is_file()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(found, key=lambda each: (read_time(each), each.name))


def _is_of(path: Path, tags: Collection[str]) -> bool:
    if (match := NAME.fullmatch(path.name)) and match[1] in tags:
        with suppress(ValueError):  # a day that does not exist
            return bool(read_time(path))
    return False


def read_time(backup: Path) -> datetime:
    """The time at which a backup was begun, by its name: a copy keeps it."""
    return datetime.strptime(backup.name.split("-")[2].split(".")[0], TIME_FORMAT).replace(tzinfo=UTC)


def is_future(backup: Path, now: datetime) -> bool:
    """Whether a backup is of the future: it was written before the clock was set back. Pure."""
    return read_time(backup) > now + MAX_AHEAD


def find_newest(backups: Sequence[Path], now: datetime) -> Path | None:
    """The newest backup that is not of the future; None without one. Pure."""
    return max((backup for backup in backups if not is_future(backup, now)), key=read_time, default=None)


def select_expired(backups: Sequence[Path], keep: int, now: datetime) -> Sequence[Path]:
    """The backups that are not kept: the oldest ones, before which those of the future go. Pure."""
    ordered = sorted(backups, key=lambda each: (not is_future(each, now), read_time(each)))
    return ordered[: max(0, len(ordered) - keep)]
