"""What an adapter remembers of what came lately, however long it runs."""

from __future__ import annotations

from typing import TypeVar

MAX_ENTRIES = 10_000

Key = TypeVar("Key")
Value = TypeVar("Value")


class LRUDict(dict[Key, Value]):
    """A dict in the order in which its keys were last set; beyond so many, the oldest goes."""

    def __init__(self, most: int = MAX_ENTRIES) -> None:
        super().__init__()
        self._max_entries = most

    def __setitem__(self, key: Key, value: Value) -> None:
        self.pop(key, None)
        super().__setitem__(key, value)
        if len(self) > self._max_entries:
            del self[next(iter(self))]
