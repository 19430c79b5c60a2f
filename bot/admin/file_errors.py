"""Errors for files that cannot be written."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from engine.errors import DiskError

if TYPE_CHECKING:
    from pathlib import Path


def file_write_error(path: Path, error: OSError) -> DiskError:
    """Describe why a file cannot be written, with a hint."""
    if isinstance(error, IsADirectoryError):
        return DiskError(f"{path} is a folder.", hint="Name a file in this folder.")
    problem = f"{path} cannot be written"
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        what = "does not exist" if isinstance(error, FileNotFoundError) else "is not a folder"
        return DiskError(f"{problem}: {path.parent} {what}.", hint="Create the folder first, or choose another one.")
    hint = "Choose another location, or check its permissions."
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        hint = "Free some disk space, or choose another location."
    return DiskError(f"{problem}: {(error.strerror or str(error)).lower()}.", hint=hint)
