"""A dictionary of bounded size that drops its oldest entries."""

from __future__ import annotations

from typing import TypeVar

MAX_ENTRIES = 10_000

Key = TypeVar("Key")
Value = TypeVar("Value")


class BoundedDict(dict[Key, Value]):
    """Dict of at most `max_entries`; setting one more drops the key that was set longest ago."""

    def __init__(self, max_entries: int = MAX_ENTRIES) -> None:
        super().__init__()
        self._max_entries = max_entries

    def __setitem__(self, key: Key, value: Value) -> None:
        self.pop(key, None)
        super().__setitem__(key, value)
        if len(self) > self._max_entries:
            del self[next(iter(self))]
