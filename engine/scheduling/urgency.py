"""Urgency: whether the current task works for somebody who waits for an answer."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_urgent: ContextVar[bool] = ContextVar("urgent", default=False)


@contextmanager
def urgent() -> Iterator[None]:
    """Mark all work that is begun inside as work for somebody who waits for an answer."""
    before = _urgent.get()
    _urgent.set(True)
    try:
        yield
    finally:
        _urgent.set(before)  # no token: a generator may be ended in another context


def is_urgent() -> bool:
    """Whether this runs within `urgent`."""
    return _urgent.get()
