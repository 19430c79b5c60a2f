from __future__ import annotations

from engine.answers.query_cache import QueryCache
from engine.models import Condensed


async def test_the_longest_unused_make_room() -> None:
    cache, made = QueryCache(2), list[str]()

    async def ask(question: str) -> None:
        async def make() -> Condensed:
            made.append(question)
            return Condensed(question, ("theme",))

        assert (await cache.get(question, make)).question == question

    for question in ("a", "b", "a", "c", "a", "b"):
        await ask(question)
    assert made == ["a", "b", "c", "b"]
