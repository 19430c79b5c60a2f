"""Haste: a batch lets more come together before the next one, unless somebody waits for it."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from contextlib import contextmanager, suppress
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Then(Enum):
    """What follows a step: rest, for there was nothing to do; letting more come together; or the next one at once."""

    REST = auto()
    GATHER = auto()
    GO_ON = auto()

    @classmethod
    def after(cls, taken: int, most: int) -> Then:
        """What follows a batch of so many where at most `most` are taken: a full one has more behind it."""
        return cls.REST if not taken else cls.GO_ON if taken >= most else cls.GATHER


class Wish(Enum):
    """What somebody waits for: the end of everything, or what is there already."""

    END = auto()
    NOW = auto()


class Haste:
    """Knows for whom a batch must not wait.

    Who waits for the end gains nothing by small batches while more is being read; who waits for what is there already
    does.
    """

    def __init__(self) -> None:
        self._wishes: Counter[Wish] = Counter()
        self._reading = False
        self._now = asyncio.Event()

    def wanted(self, wish: Wish) -> bool:
        """Whether somebody waits for that."""
        return self._wishes[wish] > 0

    @contextmanager
    def waiting(self, wish: Wish) -> Iterator[None]:
        """Somebody waits for that, for as long as this is held."""
        self._wishes[wish] += 1
        self._weigh()
        try:
            yield
        finally:
            self._wishes[wish] -= 1
            self._weigh()

    def reads(self, reading: bool) -> None:  # noqa: FBT001 - the state itself
        """Whether more is being read, from now on."""
        self._reading = reading
        self._weigh()

    async def let_gather(self, until: float) -> None:
        """Wait up to that time (monotonic), or until there is haste."""
        left = until - time.monotonic()
        if left > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._now.wait()

    def _weigh(self) -> None:
        if self.wanted(Wish.NOW) or (self.wanted(Wish.END) and not self._reading):
            self._now.set()
        else:
            self._now.clear()
