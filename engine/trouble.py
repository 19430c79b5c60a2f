"""Says in the words of the error family what a projection's library complained about."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.errors import BrokenProjection, DiskTrouble, EngineError, FolderInUse, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOCKED = ("could not set lock", "resource temporarily unavailable")
DISK = (
    "no space left",
    "os error 28",
    "disk quota exceeded",
    "input/output error",
    "os error 5)",
    "read-only file system",
    "file too large",
    "permission denied",
    "cannot write",
    "error writing",
)
POOL = ("buffer pool is full", "buffer manager exception")


def in_words(error: Exception, path: Path, *, opening: bool) -> EngineError:
    """The error of the family for an exception of a library that works on the files at `path`.

    What cannot be recognised is a broken projection while it is opened, and a plain StoreError later.
    """
    told = str(error).lower()
    if any(words in told for words in LOCKED):
        return FolderInUse(f"Another process uses {path}.")
    if isinstance(error, OSError) or any(words in told for words in DISK):
        return DiskTrouble(f"The disk failed under {path}: {_first_line(error)}")
    if any(words in told for words in POOL):
        return StoreError(
            f"The memory set aside for {path} is too small.",
            hint="Give the command again; if it stays so, make the graph anew with `threadlore rebuild`.",
        )
    if opening:
        return BrokenProjection(f"{path} cannot be read: {_first_line(error)}")
    return StoreError(f"{path}: {_first_line(error)}", hint=BrokenProjection.hint)


@contextmanager
def told_in_words(path: Path, *, opening: bool = False) -> Iterator[None]:
    """Turns whatever a library raises inside into the error family; errors of the family pass unchanged."""
    try:
        yield
    except EngineError:
        raise
    except (RuntimeError, ValueError, OSError, TypeError) as error:
        raise in_words(error, path, opening=opening) from error


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
