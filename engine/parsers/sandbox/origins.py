"""Share workers among the origins of files, such as channels, so that none of them can occupy all."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@dataclass(slots=True)
class _Share:
    free: asyncio.Semaphore
    users: int = 0  # that work or wait


@dataclass(slots=True)
class OriginLimit:
    """At most `most` of one origin at a time, in the order of their arrival; an empty origin has no limit."""

    most: int
    _shares: dict[str, _Share] = field(default_factory=dict)

    @asynccontextmanager
    async def enter(self, origin: str) -> AsyncIterator[None]:
        """Wait until the origin may do one thing more."""
        if not origin:
            yield
            return
        share = self._shares.setdefault(origin, _Share(asyncio.Semaphore(self.most)))
        share.users += 1
        try:
            async with share.free:
                yield
        finally:
            share.users -= 1
            if not share.users:
                del self._shares[origin]
