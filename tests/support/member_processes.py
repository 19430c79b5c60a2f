"""Several processes that share leases and notifications, within one test."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, nullcontext

from engine.scheduling.processes import LocalProcesses


class MemberProcesses(LocalProcesses):
    """One of several processes; the first one is made without `others`."""

    def __init__(self, others: MemberProcesses | None = None) -> None:
        super().__init__()
        self._ids: Iterator[int] = others._ids if others else itertools.count(1)
        self.holders: dict[str, int] = others.holders if others else {}
        self._leases = others._leases if others else self._leases
        self._subscriptions = others._subscriptions if others else self._subscriptions
        self.id = next(self._ids)

    @asynccontextmanager
    async def lease(self, name: str) -> AsyncIterator[None]:
        async with super().lease(name):
            with self._recorded(name):
                yield

    @asynccontextmanager
    async def try_lease(self, name: str) -> AsyncIterator[bool]:
        async with super().try_lease(name) as is_held:
            with self._recorded(name) if is_held else nullcontext():
                yield is_held

    @contextmanager
    def _recorded(self, name: str) -> Iterator[None]:
        self.holders[name] = self.id
        try:
            yield
        finally:
            del self.holders[name]

    async def list_leases(self, prefix: str) -> Mapping[str, int]:
        return {name: id_ for name, id_ in self.holders.items() if name.startswith(prefix)}
