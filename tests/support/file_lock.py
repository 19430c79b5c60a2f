"""A lock of a file that another program could hold."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def hold_lock(file: Path) -> Iterator[None]:
    """Hold the lock of a file, waiting until nobody else does."""
    with file.open("a") as opened:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
