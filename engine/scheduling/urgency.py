"""Whether the current task works for a caller who waits for an answer."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_is_foreground: ContextVar[bool] = ContextVar("urgent", default=False)


@contextmanager
def foreground_calls() -> Iterator[None]:
    """Mark all work started inside as foreground work."""
    before = _is_foreground.get()
    _is_foreground.set(True)
    try:
        yield
    finally:
        _is_foreground.set(before)  # no token: a generator may be ended in another context


def is_urgent() -> bool:
    """Whether this runs within `foreground_calls`."""
    return _is_foreground.get()
