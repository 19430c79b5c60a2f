"""The folder of scheduled backups: their names, which of them are kept, and which are leftovers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bot.settings import Settings

FOLDER = "backups"
NAME = re.compile(r"threadlore-\d{8}T\d{6}Z\.tar\.gz(?:\.age|\.enc)?")  # encrypted ones, too


def find_backup_dir(settings: Settings) -> Path:
    """The folder of scheduled backups."""
    return Path(settings.backup_dir).expanduser().absolute() if settings.backup_dir else settings.data_path / FOLDER


def name_backup(now: datetime) -> str:
    """The name of a backup; names sort by time."""
    return f"threadlore-{now:%Y%m%dT%H%M%SZ}.tar.gz"


def list_backups(folder: Path) -> list[Path]:
    """The scheduled backups of a folder, the oldest first; other files are not looked at."""
    try:
        return sorted(each for each in folder.iterdir() if NAME.fullmatch(each.name) and each.is_file())
    except (FileNotFoundError, NotADirectoryError):
        return []


def select_expired(backups: Sequence[Path], keep: int) -> Sequence[Path]:
    """The backups that are not kept, of a list with the oldest first. Pure."""
    return backups[: max(0, len(backups) - keep)]
