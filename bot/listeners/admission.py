"""How many are let in at once, in total and by key, and who gives way to a newcomer. Pure; of one event loop."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

Holder = TypeVar("Holder")


@dataclass(frozen=True, slots=True)
class Budget:
    """How many there are at once: in `total`, and of one key, such as an address (its `share`)."""

    total: int
    share: int


class Admission(Generic[Holder]):
    """The holders of a budget: connections, or requests.

    A holder waits for its client (for a head or a body), or works. A newcomer is never refused for the sake of somebody
    who keeps the server waiting: the one gives way that has waited longest of the key with the most holders. Who works
    never gives way. The key "" stands for many people, such as those behind a proxy, and has no share.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._keys: dict[Holder, str] = {}
        self._counts: dict[str, int] = {}
        self._waiting: dict[str, OrderedDict[Holder, None]] = {}  # by key, those first that have waited longest

    def __len__(self) -> int:
        return len(self._keys)

    def enter(self, holder: Holder, key: str) -> Holder | None:
        """Let a newcomer in, which waits for its client at first.

        Returns who is not in any more: the holder that gave way, or the newcomer itself if nobody does.
        """
        count = self._counts.get(key, 0)
        if key and count >= self._budget.share:
            leaving = self._find_longest_waiting([key])
        elif len(self._keys) >= self._budget.total:
            heavier = (each for each, held in self._counts.items() if held > count or each == key)
            leaving = self._find_longest_waiting(sorted(heavier, key=self._counts.__getitem__, reverse=True))
        else:
            self._add(holder, key)
            return None
        if leaving is None:
            return holder
        self.leave(leaving)
        self._add(holder, key)
        return leaving

    def wait(self, holder: Holder) -> None:
        """A holder waits for its client from now on."""
        if (key := self._keys.get(holder)) is not None:
            self._waiting.setdefault(key, OrderedDict()).setdefault(holder)

    def work(self, holder: Holder) -> None:
        """A holder has all that it needs from its client."""
        if (key := self._keys.get(holder)) is not None:
            self._stop_waiting(holder, key)

    def leave(self, holder: Holder) -> None:
        """A holder is done; one that is not in is ignored."""
        if (key := self._keys.pop(holder, None)) is None:
            return
        self._stop_waiting(holder, key)
        self._counts[key] -= 1
        if not self._counts[key]:
            del self._counts[key]

    def _add(self, holder: Holder, key: str) -> None:
        self._keys[holder] = key
        self._counts[key] = self._counts.get(key, 0) + 1
        self.wait(holder)

    def _stop_waiting(self, holder: Holder, key: str) -> None:
        if (waiting := self._waiting.get(key)) is None:
            return
        waiting.pop(holder, None)
        if not waiting:
            del self._waiting[key]

    def _find_longest_waiting(self, keys: Iterable[str]) -> Holder | None:
        return next((next(iter(self._waiting[key])) for key in keys if key in self._waiting), None)
