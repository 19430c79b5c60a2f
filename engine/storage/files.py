"""Files of stores that are not open."""

from __future__ import annotations

import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

from engine.errors import CorruptProjection

if TYPE_CHECKING:
    from pathlib import Path


def remove_tree(path: Path, *, ignore_errors: bool = False) -> None:
    """Remove a folder with its content, or a file; of a symbolic link to a folder, only the content of that folder.

    Raises OSError, unless errors are ignored.
    """
    if path.is_dir() and path.is_symlink():
        for inner in list(path.iterdir()):
            _remove(inner, ignore_errors=ignore_errors)
    else:
        _remove(path, ignore_errors=ignore_errors)


def _remove(path: Path, *, ignore_errors: bool) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=ignore_errors)
    else:
        with suppress(OSError if ignore_errors else FileNotFoundError):
            path.unlink()


def ensure_directory(path: Path) -> None:
    """Create the folder of a projection if it does not exist. Raises CorruptProjection if the path is not a folder."""
    if not path.is_dir() and (path.exists() or path.is_symlink()):
        raise CorruptProjection(f"{path} is not a folder.")
    path.mkdir(parents=True, exist_ok=True)
