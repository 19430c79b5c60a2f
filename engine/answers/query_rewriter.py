"""Find the stand-alone question and the keywords to search with."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import structlog

from engine.answers.cache import QueryCache
from engine.errors import EngineClosed, StoreError
from engine.llm.base import MODEL_LABEL, FilterProposer, RewriteRequest, guard_plugin_call
from engine.llm.cited_history import cite_history
from engine.models import SearchQuery
from engine.scheduling.supervisor import describe_error

if TYPE_CHECKING:
    from datetime import date

    from engine.clock import Clock
    from engine.llm.base import LanguageModel
    from engine.models import Question
    from engine.usage import UsageMeter

log = structlog.get_logger(__name__)


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
