"""Open files below a folder so that no link leads out of it; by their names, some are left out."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

from bot.errors import ItemNotRead

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
LEAVES = "It is a link that leaves the folder."
PRIVATE_FILES = (
    *("*.env", "*.pem", "*.key", "*.p12", "*.pfx", "*.kdbx", "*.keystore", "*.jks"),
    *("id_rsa", "id_ed25519", "id_ecdsa"),
)
LEFT_OUT = "Its name says that it may hold secrets."
SEPARATE = "It is a repository of its own: add it as a source to have it read."


def find_inner_path(root: Path, path: Path) -> str:
    """The real path of a file, relative to the folder `root`, which does not go through a link.

    Raises ItemNotRead if it is not below the folder or is hidden, and OSError.
    """
    try:
        inside = path.resolve(strict=True).relative_to(root.resolve(strict=True)).as_posix()
    except (ValueError, RuntimeError) as error:
        raise ItemNotRead(LEAVES) from error
    if is_hidden(inside):
        raise ItemNotRead("It is a link to a hidden file.")
    return inside


@contextmanager
def open_inner_file(root: Path, inside: str) -> Iterator[BinaryIO]:
    """Open a regular file by its path as `find_inner_path` says it. Raises ItemNotRead and OSError."""
    *folders, name = inside.split("/")
    current = os.open(root.resolve(strict=True), FOLDER_FLAGS)
    try:
        for folder in folders:
            below = os.open(folder, FOLDER_FLAGS, dir_fd=current)
            os.close(current)
            current = below
        opened = os.open(name, FILE_FLAGS, dir_fd=current)
    finally:
        os.close(current)
    with os.fdopen(opened, "rb") as file:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise ItemNotRead("It is no regular file.")
        yield file


def is_hidden(path: str) -> bool:
    """Whether a file, or a folder above it, is hidden; `path`: relative, with slashes."""
    return any(part.startswith(".") for part in PurePosixPath(path).parts)


def find_withheld_reason(path: str) -> str:
    """Why a file is not read, as a sentence; empty for others."""
    name = PurePosixPath(path).name.lower()
    return LEFT_OUT if any(fnmatchcase(name, file) for file in PRIVATE_FILES) else ""
