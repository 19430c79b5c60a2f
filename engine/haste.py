"""Haste: work is done in batches that let more come together, unless somebody waits for the end of it."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager, suppress
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Load(IntEnum):
    """How much there was to do for a batch."""

    NONE = 0
    SOME = 1
    FULL = 2

    @classmethod
    def of(cls, taken: int, limit: int) -> Load:
        """What it means that so many were taken where at most `limit` are."""
        return cls.NONE if not taken else cls.FULL if taken >= limit else cls.SOME


class Haste:
    """Counts those who wait until everything is done."""

    def __init__(self) -> None:
        self._waiting = 0
        self._wanted = asyncio.Event()

    @property
    def hurried(self) -> bool:
        """Whether somebody waits."""
        return self._waiting > 0

    @contextmanager
    def wanted(self) -> Iterator[None]:
        """Somebody waits, for as long as this is held."""
        self._waiting += 1
        self._wanted.set()
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._wanted.clear()

    async def let_gather(self, load: Load, until: float) -> None:
        """Wait before the next batch, but not beyond `until` (monotonic). A full one has more behind it."""
        left = until - time.monotonic()
        if load is Load.SOME and left > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._wanted.wait()
