"""Find the stand-alone question and the keywords to search with."""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING

import structlog

from engine.errors import WRITES_REFUSED, EngineClosed, StoreError
from engine.llm.base import MODEL_LABEL, FilterProposer, RewriteRequest, guard_plugin_call
from engine.llm.source_lines import cite_history
from engine.models import SearchQuery
from engine.scheduling.supervisor import describe_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Sequence
    from datetime import date

    from engine.clock import Clock
    from engine.llm.base import LanguageModel
    from engine.models import LLMMessage, Question, Scope
    from engine.usage import UsageMeter


MAX_QUERIES = 1000
log = structlog.get_logger(__name__)


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


@dataclass(slots=True)
class QueryRewriter:
    """Lets the model rewrite questions, each once."""

    language: LanguageModel
    clock: Clock
    cache: QueryCache = field(default_factory=QueryCache)

    async def build_query(self, question: Question, meter: UsageMeter) -> SearchQuery:
        """The stand-alone question with its keywords: given, cached, or from the model.

        A naive question without history needs no call. Where the call fails, the question is searched with as it is.
        The scope is part of the cache key, because a fast reply would
        reveal that somebody asked the same question before.
        """
        question = replace(question, history=cite_history(question.history, ()))
        day = question.filters.as_of or self.clock.now().astimezone(question.zone).date()
        filtering = question.filter_lookup is not None
        key = (question.is_unaddressed, question.text, question.history, day, filtering, question.asker, question.scope)
        if question.is_unaddressed:
            return await self.cache.get_or_create(key, lambda: self._rewrite_unaddressed(question, day, meter))
        if question.high or question.low:
            return SearchQuery(question.text, question.high, question.low)
        if question.mode == "naive" and not question.history:
            return SearchQuery(question.text)
        try:
            query = await self.cache.get_or_create(key, lambda: self._rewrite(question, day, meter))
        except (EngineClosed, StoreError):
            raise
        except Exception as error:  # noqa: BLE001 - a failed helper call must not fail the question
            log.warning("answer.question_not_rewritten", error=describe_error(error))
            query = SearchQuery(question.text, unrewritten=True)
        return query if query.high or query.low else replace(query, low=(query.question,))

    async def _rewrite(self, question: Question, day: date, meter: UsageMeter) -> SearchQuery:
        language, asker = self.language, question.asker
        with guard_plugin_call(MODEL_LABEL):
            if question.filter_lookup is not None and isinstance(language, FilterProposer):
                request = RewriteRequest(question.text, question.history, day, asker)
                return await language.rewrite_query_with_filters(request, meter)
            return await language.rewrite_query(question.text, question.history, meter, today=day, asker=asker)

    async def _rewrite_unaddressed(self, question: Question, day: date, meter: UsageMeter) -> SearchQuery:
        rewrite = self.language.rewrite_unaddressed_query
        with guard_plugin_call(MODEL_LABEL):
            query = await rewrite(question.text, question.history, meter, today=day, asker=question.asker)
        return query or SearchQuery(question.text, ignored=True)
