"""A cache of looked-up facts: each expires after a time, and is invalidated on change."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import structlog

from bot.errors import PlatformError
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from engine import Clock

log = structlog.get_logger(__name__)

LOOKUP_TIMEOUT = 10.0  # seconds
MAX_LOOKUPS = 5  # of one fact that keeps changing during lookups
MAX_ENTRIES = 4096  # entries, beyond which stale ones are removed

CacheKey = tuple[str, ...]
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class _Entry(Generic[Value]):
    """A lookup and its start time."""

    task: asyncio.Task[Value]
    started_at: float


class TTLCache(Generic[Value]):
    """Facts by key, each fresh for `max_age` seconds since its lookup started; concurrent callers share a lookup.

    `patience`: seconds that a lookup may take (LOOKUP_TIMEOUT). `kept`: entries before stale ones are removed
    (MAX_ENTRIES).
    """

    def __init__(self, max_age: float, clock: Clock, patience: float | None = None, kept: int | None = None) -> None:
        self.max_age = max_age
        self._clock = clock
        self.patience = patience
        self.kept = kept
        self._entries: dict[CacheKey, _Entry[Value]] = {}

    async def get_or_fetch(self, key: CacheKey, scan: Callable[[], Awaitable[Value]]) -> Value:
        """The fact, looked up again if it was invalidated in the meantime. Failed lookups are not cached.

        Raises what the lookup raises, and PlatformError if the value keeps changing.
        """
        for _ in range(MAX_LOOKUPS):
            fact = self._usable_entry(key) or self._start_lookup(key, scan)
            try:
                value = await asyncio.shield(fact.task)
            except Exception:
                if self._entries.get(key) is fact:
                    del self._entries[key]
                raise
            if self._entries.get(key) is fact:
                return value
        raise PlatformError("This changes faster than it can be looked up.")

    def get_cached(self, key: CacheKey) -> Value | None:
        """The fact, if it is cached and fresh."""
        fact = self._entries.get(key)
        if fact is None or not fact.task.done() or fact.task.cancelled() or fact.task.exception():
            return None
        return fact.task.result() if self._is_fresh(fact) else None

    def invalidate(self, begun: CacheKey) -> None:
        """Drop all facts whose keys start like this."""
        for key in [key for key in self._entries if key[: len(begun)] == begun]:
            del self._entries[key]

    def _usable_entry(self, key: CacheKey) -> _Entry[Value] | None:
        fact = self._entries.get(key)
        return fact if fact and (not fact.task.done() or self._is_fresh(fact)) else None

    def _is_fresh(self, fact: _Entry[Value]) -> bool:
        return self._clock.monotonic() - fact.started_at < self.max_age

    def _start_lookup(self, key: CacheKey, scan: Callable[[], Awaitable[Value]]) -> _Entry[Value]:
        if len(self._entries) >= (self.kept or MAX_ENTRIES):
            self._entries = {key: fact for key, fact in self._entries.items() if self._is_fresh(fact)}
        task = asyncio.create_task(_with_timeout(scan, LOOKUP_TIMEOUT if self.patience is None else self.patience))
        task.add_done_callback(_consume_exception)
        fact = self._entries[key] = _Entry(task, self._clock.monotonic())
        return fact


async def _with_timeout(scan: Callable[[], Awaitable[Value]], patience: float) -> Value:
    try:
        async with asyncio.timeout(patience):
            return await scan()
    except EngineError:
        raise
    except Exception as error:
        log.warning("platform.lookup_failed", error=type(error).__name__)
        raise PlatformError("The platform did not answer.") from error


def _consume_exception(task: asyncio.Task[Any]) -> None:
    """Mark the error of a lookup as retrieved; only its callers see it."""
    if not task.cancelled():
        task.exception()
