"""Haste: a batch lets more come together before the next one, unless somebody waits for it."""

from __future__ import annotations

import asyncio
import time
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


class Haste:
    """Knows for whom a batch must not wait.

    Who waits until everything is done gains nothing by small batches while more is being read; who waits for what is
    there already does.
    """

    def __init__(self) -> None:
        self._urgent = self._awaited = 0
        self._reading = False
        self._now = asyncio.Event()

    @property
    def end_wanted(self) -> bool:
        """Whether somebody waits until everything is done."""
        return self._awaited > 0

    @contextmanager
    def until_done(self) -> Iterator[None]:
        """Somebody waits until everything is done, for as long as this is held."""
        self._awaited += 1
        self._weigh()
        try:
            yield
        finally:
            self._awaited -= 1
            self._weigh()

    @contextmanager
    def urgent(self) -> Iterator[None]:
        """Somebody waits for what is there already, for as long as this is held."""
        self._urgent += 1
        self._weigh()
        try:
            yield
        finally:
            self._urgent -= 1
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
        if self._urgent or (self._awaited and not self._reading):
            self._now.set()
        else:
            self._now.clear()
