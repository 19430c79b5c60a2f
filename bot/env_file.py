"""Settings files: `.env` in the data directory, or a named file. A .env in the current directory is never read."""

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
    """The variables of a settings file. Raises BadSetting."""
    try:
        return {name: value for name, value in dotenv_values(file, encoding="utf-8").items() if value}
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise BadSetting(
            f"The settings in {file} cannot be read: {reason}.",
            hint="Check the permissions and the encoding of the file.",
        ) from error


def check_env_file(file: Path) -> Path:
    """Check that a named file exists. Raises BadSetting."""
    if not file.is_file():
        raise BadSetting(f"There is no file {file}.", hint="--env-file expects a file with one setting per line.")
    return file


def find_env_file(data_dir: Path) -> Path | None:
    """The .env file of a data directory, if it exists. Raises BadSetting if other users could have written it."""
    file = data_dir / ENV_FILE_NAME
    if not file.is_file():
        return None
    for path in (data_dir, file):
        stat_result = path.stat()
        if stat_result.st_uid not in {os.getuid(), 0} or stat_result.st_mode & WRITABLE_BY_OTHERS:
            raise BadSetting(
                f"Others can write to {path}, so its settings are not read.",
                hint=f"Remove write access for others (chmod go-w {path}), or pass the file with --env-file.",
            )
    return file
