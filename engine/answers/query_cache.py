"""Rewritten questions and their keywords, remembered in memory: asked again, they cost no call."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

    from engine.models import Condensed

MOST = 1000


class QueryCache:
    """The longest unused make room. Nothing of it is ever written to the disk."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._known: OrderedDict[Hashable, Condensed] = OrderedDict()

    async def get(self, key: Hashable, make: Callable[[], Awaitable[Condensed]]) -> Condensed:
        """What was made for this key before, or is made now; a question without any keyword is not remembered."""
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        made = await make()
        if made.ignored or made.high or (made.low and made.low != (made.question,)):
            self._known[key] = made
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return made
