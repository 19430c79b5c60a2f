"""Translation of errors that the graph and vector libraries raise."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.errors import CorruptProjection, DataDirInUse, EngineError, StoreError
from engine.scheduling.supervisor import EXIT_ERRORS
from engine.storage.disk import disk_error

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOCK_MESSAGES = ("could not set lock", "resource temporarily unavailable")
DISK_MESSAGES = (
    "no space left",
    "too many open files",
    "os error 24",
    "os error 28",
    "disk quota exceeded",
    "input/output error",
    "os error 5)",
    "read-only file system",
    "file too large",
    "permission denied",
    "cannot write",
    "error writing",
    "too many open files",
    "os error 24)",
)
BUFFER_POOL_MESSAGES = ("buffer pool is full", "buffer manager exception")
UNTRANSLATED_ERRORS: tuple[type[BaseException], ...] = (EngineError, MemoryError, *EXIT_ERRORS)
TRANSIENT_MESSAGES = ("timeout waiting", "commit conflict", "too many concurrent")


def map_library_error(error: BaseException, path: Path) -> EngineError:
    """The engine's error for any error of a library that works on the files at `path`.

    An unknown error counts as a corrupt projection.
    """
    message = str(error).lower()
    if any(words in message for words in LOCK_MESSAGES):
        return DataDirInUse(f"Another process uses {path}.")
    if isinstance(error, OSError) or any(words in message for words in DISK_MESSAGES):
        return disk_error(f"{path} could not be read or written", path, error)
    if any(words in message for words in BUFFER_POOL_MESSAGES):
        return StoreError(
            f"The memory reserved for {path} is too small.",
            hint="Run the command again; if it fails again, rebuild the graph with `threadlore reindex`.",
        )
    if any(words in message for words in TRANSIENT_MESSAGES):
        return StoreError(f"{path}: {_first_line(error)}", hint="It will be retried.")
    return CorruptProjection(f"{path} cannot be read: {_first_line(error)}")


@contextmanager
def translate_library_errors(path: Path) -> Iterator[None]:
    """Translate every error raised inside; the engine's own errors pass unchanged."""
    try:
        yield
    except UNTRANSLATED_ERRORS:
        raise
    except BaseException as error:  # a panic of Rust code is no Exception
        raise map_library_error(error, path) from error


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
