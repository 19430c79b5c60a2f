"""Caches of answering: rewritten questions with their keywords, in memory only, and the key of a stored answer."""

from __future__ import annotations

import json
from collections import OrderedDict
from hashlib import sha256
from typing import TYPE_CHECKING

import structlog

from engine.errors import WRITES_REFUSED

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Sequence

    from engine.models import LLMMessage, Scope, SearchQuery

log = structlog.get_logger(__name__)

MAX_QUERIES = 1000


class QueryCache:
    """Least recently used entries are evicted. Nothing is written to disk."""

    def __init__(self, max_size: int = MAX_QUERIES) -> None:
        self._max_size = max_size
        self._queries: OrderedDict[Hashable, SearchQuery] = OrderedDict()

    async def get_or_create(self, key: Hashable, make: Callable[[], Awaitable[SearchQuery]]) -> SearchQuery:
        """The cached query of this key, or a new one; queries without keywords are not cached."""
        if key in self._queries:
            self._queries.move_to_end(key)
            return self._queries[key]
        query = await make()
        if query.ignored or query.high or (query.low and query.low != (query.question,)):
            self._queries[key] = query
            while len(self._queries) > self._max_size:
                self._queries.popitem(last=False)
        return query


def answer_cache_key(language: str, model: str, messages: Sequence[LLMMessage], scope: Scope | None) -> bytes:
    """SHA-256 of the model, the scope and the final messages, so that a cached answer is never outdated.

    The scope is included because a fast answer would reveal that somebody asked the same question before.
    """
    scope_keys = [sorted(scope.spaces), sorted(scope.rooms)] if scope else None
    content = [language, model, scope_keys, *([message.role, message.content] for message in messages)]
    return sha256(json.dumps(content, ensure_ascii=False).encode()).digest()


async def keep_if_possible(write: Awaitable[object]) -> None:
    """Store what an answer can do without: where nothing can be written, it does not fail."""
    try:
        await write
    except WRITES_REFUSED as error:
        log.warning("answer.not_kept", error=str(error))
