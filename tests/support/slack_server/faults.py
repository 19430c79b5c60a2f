"""What goes wrong on demand."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from dataclasses import dataclass
from typing import Literal

FaultKind = Literal["error", "ratelimited", "server", "hang", "reset", "lost", "slow", "garbage", "strange"]


@dataclass(frozen=True, slots=True)
class Fault:
    """One failure.

    `error` answers with that error; `ratelimited` with 429 and `seconds`; `server` with a page and `status`; `hang`
    not at all until the fake is closed; `reset` cuts the connection before, and `lost` after the call was done;
    `slow` answers after `seconds`; `garbage` with what is no JSON though it says so, `strange` with JSON of no use.
    """

    kind: FaultKind
    error: str = "internal_error"
    seconds: float = 1
    status: int = 500


class Faults:
    """Faults in order for each method; "*" is any method, "upload" and "download" are those of files."""

    def __init__(self) -> None:
        self._next: defaultdict[str, deque[Fault]] = defaultdict(deque)
        self.closing = asyncio.Event()

    def add(self, method: str, fault: Fault, times: int = 1) -> None:
        self._next[method].extend([fault] * times)

    def pop(self, method: str) -> Fault | None:
        for name in (method, "*"):
            if self._next[name]:
                return self._next[name].popleft()
        return None

    def clear(self) -> None:
        self._next.clear()
