"""Rewritten questions and their keywords, remembered in memory: asked again, they cost no call."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

    from engine.models import SearchQuery

MAX_QUERIES = 1000


class QueryCache:
    """The longest unused make room. Nothing of it is ever written to the disk."""

    def __init__(self, most: int = MAX_QUERIES) -> None:
        self._max_size = most
        self._queries: OrderedDict[Hashable, SearchQuery] = OrderedDict()

    async def get_or_create(self, key: Hashable, make: Callable[[], Awaitable[SearchQuery]]) -> SearchQuery:
        """What was made for this key before, or is made now; a question without any keyword is not remembered."""
        if key in self._queries:
            self._queries.move_to_end(key)
            return self._queries[key]
        made = await make()
        if made.ignored or made.high or (made.low and made.low != (made.question,)):
            self._queries[key] = made
            while len(self._queries) > self._max_size:
                self._queries.popitem(last=False)
        return made
