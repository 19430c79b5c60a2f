"""What an adapter remembers of what came lately, however long it runs."""

from __future__ import annotations

from typing import TypeVar

REMEMBERED = 10_000

Key = TypeVar("Key")
Value = TypeVar("Value")


class Latest(dict[Key, Value]):
    """A dict in the order in which its keys were last set; beyond so many, the oldest goes."""

    def __init__(self, most: int = REMEMBERED) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: Key, value: Value) -> None:
        self.pop(key, None)
        super().__setitem__(key, value)
        if len(self) > self._most:
            del self[next(iter(self))]
