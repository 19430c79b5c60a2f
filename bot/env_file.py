"""The file of settings: `.env` in the data folder, or one that is named; never one that happens to lie around."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from dotenv import dotenv_values

from bot.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ENV_FILE_NAME = ".env"
WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def read_variables(file: Path) -> Mapping[str, str]:
    """What stands in a file of settings. Raises BadSetting."""
    try:
        return {name: value for name, value in dotenv_values(file, encoding="utf-8").items() if value}
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        raise BadSetting(f"The settings in {file} cannot be read: {reason}.", hint="Check the file.") from error


def check_env_file(file: Path) -> Path:
    """A file that was named. Raises BadSetting if there is none."""
    if not file.is_file():
        raise BadSetting(f"There is no file {file}.", hint="--env-file names a file with settings, one in a line.")
    return file


def find_env_file(home: Path) -> Path | None:
    """The file of a data folder, if there is one. Raises BadSetting if somebody else could have written it."""
    file = home / ENV_FILE_NAME
    if not file.is_file():
        return None
    for path in (home, file):
        seen = path.stat()
        if seen.st_uid not in {os.getuid(), 0} or seen.st_mode & WRITABLE_BY_OTHERS:
            raise BadSetting(
                f"Others can write to {path}, so its settings are not read.",
                hint=f"Let only yourself write there (chmod go-w {path}), or name the file with --env-file.",
            )
    return file
