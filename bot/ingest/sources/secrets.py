"""Secrets of sources: named in the configuration, kept in a file of the operator or in the environment."""

from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from bot.errors import BadSetting
from bot.platform.document_source import SECRET_FILE, SECRET_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE_PREFIX = "THREADLORE_SOURCE_"  # of variables with secrets; others are not looked at
MAX_SECRET_SIZE = 64 * 2**10  # bytes
_VARIABLE = re.compile(r"THREADLORE_SOURCE_([A-Z0-9_]{1,60})")


def read_secret(options: Mapping[str, str], variables: Mapping[str, SecretStr]) -> SecretStr:
    """The secret of a source; an empty one if it has none. `variables`: as `Settings.adapter_settings`.

    Raises BadSetting.
    """
    if name := options.get(SECRET_VARIABLE, ""):
        match = _VARIABLE.fullmatch(name)
        if match is None:
            raise BadSetting(f"The variable of a secret is named {VARIABLE_PREFIX}…, not “{name}”.")
        found = variables.get(f"source_{match[1].lower()}")
        if found is None:
            raise BadSetting(f"{name} is not set.", hint="Set it in the environment or in .env, and start again.")
        return found
    return _read_file(Path(options[SECRET_FILE])) if options.get(SECRET_FILE) else SecretStr("")


def _read_file(path: Path) -> SecretStr:
    """The first line of a file that nobody else can read. Raises BadSetting."""
    try:
        if path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
            raise BadSetting(f"Others can read {path}.", hint=f"Keep it to yourself: chmod 600 {path}")
        if path.stat().st_size > MAX_SECRET_SIZE:
            raise BadSetting(f"{path} is too large for a secret.")
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise BadSetting(f"The secret in {path} cannot be read: {reason}.", hint="Check the path.") from error
    if not lines or not lines[0].strip():
        raise BadSetting(f"{path} is empty.", hint="Write the secret into its first line.")
    return SecretStr(lines[0].strip())
