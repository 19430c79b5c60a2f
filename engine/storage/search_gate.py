"""A lock that lets searches in together, and a change alone."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class SearchGate:
    """Changes come from one thread, in which they may be nested; they wait for the searches of all threads.

    A search begins while no change is made.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition(threading.RLock())
        self._searches = 0

    @contextmanager
    def search(self) -> Iterator[None]:
        """While inside, nothing changes."""
        with self._condition:
            self._searches += 1
        try:
            yield
        finally:
            with self._condition:
                self._searches -= 1
                self._condition.notify_all()

    @contextmanager
    def change(self) -> Iterator[None]:
        """While inside, nothing is searched."""
        with self._condition:
            while self._searches:
                self._condition.wait()
            yield
