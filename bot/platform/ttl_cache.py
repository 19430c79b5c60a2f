"""Facts that are looked up once, believed for a while, and not any more once they are said to have changed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import structlog

from bot.errors import PlatformError
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

log = structlog.get_logger(__name__)

PATIENCE = 10.0  # seconds for a lookup
TRIES = 5  # for a fact that changes while it is looked up
KEPT = 4096  # facts; beyond that those which are not believed any more go

Key = tuple[str, ...]
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class _Fact(Generic[Value]):
    """A lookup, and when it began."""

    looking: asyncio.Task[Value]
    since: float


class Beliefs(Generic[Value]):
    """Facts by key, each believed for `max_age` seconds since its lookup began; whoever asks meanwhile shares that.

    `patience`: seconds that a lookup may take (PATIENCE). `kept`: facts that are kept before stale ones go (KEPT).
    """

    def __init__(
        self, max_age: float, clock: Callable[[], float], patience: float | None = None, kept: int | None = None
    ) -> None:
        self.max_age = max_age
        self.clock = clock
        self.patience = patience
        self.kept = kept
        self._facts: dict[Key, _Fact[Value]] = {}

    async def get(self, key: Key, look: Callable[[], Awaitable[Value]]) -> Value:
        """The fact; looked up again if it was dropped meanwhile. A lookup that fails is not remembered.

        Raises what the lookup raises, and PlatformError if the fact changes too often to be known.
        """
        for _ in range(TRIES):
            fact = self._current(key) or self._begin(key, look)
            try:
                value = await asyncio.shield(fact.looking)
            except Exception:
                if self._facts.get(key) is fact:
                    del self._facts[key]
                raise
            if self._facts.get(key) is fact:
                return value
        raise PlatformError("This changes faster than it can be looked up.")

    def known(self, key: Key) -> Value | None:
        """The fact, if it is believed and needs no lookup."""
        fact = self._facts.get(key)
        if fact is None or not fact.looking.done() or fact.looking.cancelled() or fact.looking.exception():
            return None
        return fact.looking.result() if self._believed(fact) else None

    def drop(self, begun: Key) -> None:
        """Believe nothing any more whose key begins like this."""
        for key in [key for key in self._facts if key[: len(begun)] == begun]:
            del self._facts[key]

    def _current(self, key: Key) -> _Fact[Value] | None:
        fact = self._facts.get(key)
        return fact if fact and (not fact.looking.done() or self._believed(fact)) else None

    def _believed(self, fact: _Fact[Value]) -> bool:
        return self.clock() - fact.since < self.max_age

    def _begin(self, key: Key, look: Callable[[], Awaitable[Value]]) -> _Fact[Value]:
        if len(self._facts) >= (self.kept or KEPT):
            self._facts = {key: fact for key, fact in self._facts.items() if self._believed(fact)}
        task = asyncio.create_task(_bounded(look, PATIENCE if self.patience is None else self.patience))
        task.add_done_callback(_retrieved)
        fact = self._facts[key] = _Fact(task, self.clock())
        return fact


async def _bounded(look: Callable[[], Awaitable[Value]], patience: float) -> Value:
    try:
        async with asyncio.timeout(patience):
            return await look()
    except EngineError:
        raise
    except Exception as error:
        log.warning("lookup_failed", error=type(error).__name__)
        raise PlatformError("The platform did not answer.") from error


def _retrieved(task: asyncio.Task[Any]) -> None:
    """Whoever waits is told of an error; nobody else is."""
    if not task.cancelled():
        task.exception()
