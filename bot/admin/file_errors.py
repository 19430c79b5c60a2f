"""What is said of a file that cannot be written. Pure."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from engine.errors import DiskError

if TYPE_CHECKING:
    from pathlib import Path


def file_write_error(path: Path, error: OSError) -> DiskError:
    """Why a file could not be written, and what to do about it."""
    if isinstance(error, IsADirectoryError):
        return DiskError(f"{path} is a folder.", hint="Name a file in it.")
    told = f"{path} cannot be written"
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        what = "does not exist" if isinstance(error, FileNotFoundError) else "is no folder"
        return DiskError(f"{told}: {path.parent} {what}.", hint="Make the folder first, or name another.")
    hint = "Name another place, or let yourself write there."
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        hint = "Free some space there, or name another place."
    return DiskError(f"{told}: {(error.strerror or str(error)).lower()}.", hint=hint)
