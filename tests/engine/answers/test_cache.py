from __future__ import annotations

from engine.answers.query_rewriter import QueryCache
from engine.models import SearchQuery


async def test_the_least_recently_used_entry_is_dropped() -> None:
    cache, created = QueryCache(2), list[str]()

    async def ask(question: str) -> None:
        async def make() -> SearchQuery:
            created.append(question)
            return SearchQuery(question, ("theme",))

        assert (await cache.get_or_create(question, make)).question == question

    for question in ("a", "b", "a", "c", "a", "b"):
        await ask(question)
    assert created == ["a", "b", "c", "b"]
