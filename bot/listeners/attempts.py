"""How often each address tried something lately, so that nobody does it without end."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine import Clock

MAX_ADDRESSES = 1000


class Attempts:
    """The attempts of each address within the last `window` seconds, at most `limit` of them.

    Only the addresses that tried last are kept.
    """

    def __init__(self, clock: Clock, limit: int, window: float = 60.0) -> None:
        self._clock = clock
        self._limit = limit
        self._window = window
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def has_reached_limit(self, address: str) -> bool:
        """Whether an address has tried as often as it may."""
        times = self._times.get(address, deque())
        while times and times[0] <= self._clock.monotonic() - self._window:
            times.popleft()
        return len(times) >= self._limit

    def record(self, address: str) -> None:
        """Count an attempt."""
        self._times.setdefault(address, deque(maxlen=self._limit)).append(self._clock.monotonic())
        self._times.move_to_end(address)
        if len(self._times) > MAX_ADDRESSES:
            self._times.popitem(last=False)
