from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection
from typing import Any

import numpy as np
import pytest

from engine.clock import Stopwatch
from engine.engine import Engine
from engine.errors import CorruptProjection
from engine.models import Question, RetrievalMode, Scope, SearchQuery
from engine.options import EngineOptions, RankingOptions
from engine.retrieval.retriever import Retriever
from engine.retrieval.search import ProfileCache, QueryVectors, Searcher
from engine.storage.vectors.base import VectorFilter, VectorHit, VectorTable
from engine.usage import UsageMeter
from tests.support.engine_fixture import HERE, doc
from tests.support.fake_embedder import HashEmbedder
from tests.support.indexed_engine import OpenIndexed, index
from tests.support.memory_vectors import MemoryVectors
from tests.support.patience import PATIENCE

MODES: tuple[RetrievalMode, ...] = ("naive", "local", "global", "hybrid", "mix")
VECTORS_ONLY = EngineOptions(ranking=RankingOptions(fulltext_weight=0.0))


def query(*words: str, mode: RetrievalMode = "local", **more: Any) -> Question:
    return Question(" ".join(words), HERE, mode=mode, **{"low": words, "high": words, **more})


async def names(engine: Engine, question: Question) -> list[str]:
    return [row.name for row in (await engine.retrieve(question)).entities]


async def ends(engine: Engine, question: Question) -> list[tuple[str, str]]:
    return [(row.source, row.target) for row in (await engine.retrieve(question)).relations]


async def documents(engine: Engine, text: str, **more: Any) -> list[str]:
    question = Question(text, HERE, mode="naive", **more)
    return list(dict.fromkeys(source.document for source in (await engine.retrieve(question)).sources))


async def test_a_name_in_the_question_comes_before_similar_ones(indexed: OpenIndexed) -> None:
    similar = [doc(f"d{number}", "Harbour harbour harbour harbour Bell.") for number in range(4)]
    long = doc("long", "Harbour stands in a very long sentence about many other things, says Cyd.")
    assert (await names(await indexed(*similar, long), query("Cyd", "harbour bell")))[0] == "Cyd"


async def test_an_alias_leads_to_its_name_first_of_all(indexed: OpenIndexed) -> None:
    margaret = doc("a", "Margaret keeps the Mill.", "Margaret sings.", "Margaret bakes.")
    engine = await indexed(margaret, doc("b", "Peg keeps bees."))
    await engine.corrections.merge("here", "Peg", "Margaret")
    await engine.wait_until_indexed()
    found = await names(engine, query("peg"))
    assert (found[0], "Peg" in found) == ("Margaret", False)


async def test_local_search_finds_the_relations_of_its_entities(indexed: OpenIndexed) -> None:
    engine = await indexed(doc("a", "Ada met Bob.", "Bob met Cyd."))
    assert await ends(engine, query("Ada", top_k=1)) == [("Ada", "Bob")]


async def test_relations_are_ordered_by_the_question_not_by_degree_alone(indexed: OpenIndexed) -> None:
    hub = doc("hub", *(f"Hub met {name}." for name in ("Ada", "Bob", "Cyd", "Dan")))
    engine = await indexed(hub, doc("ada", "Ada praised Hub.", "Ada sells candles to Eve."))
    question = Question("sells candles", HERE, mode="local", low=("Ada",), top_k=1)
    assert (await ends(engine, question))[0] == ("Ada", "Eve")


async def test_global_search_finds_relations_and_their_ends(indexed: OpenIndexed) -> None:
    engine = await indexed(doc("a", "Ada sells candles to Bob.", "Cyd buries Dan under stones."))
    question = Question("x", HERE, mode="global", high=("sells candles",), top_k=1)
    assert await ends(engine, question) == [("Ada", "Bob")]
    assert set(await names(engine, question)) == {"Ada", "Bob"}


async def test_the_search_goes_on_until_enough_names_differ(indexed: OpenIndexed) -> None:
    spaces = [f"s{number}" for number in range(6)]
    alone = [doc(f"ada {space}", "Ada.", space=space) for space in spaces]
    met = [doc(name, f"Ada met {name} near the old town wall.", space="s0") for name in ("Bob", "Cyd")]
    question = Question("Ada", Scope(frozenset(spaces), frozenset()), mode="local", low=("Ada",), top_k=3)
    assert sorted(await names(await indexed(*alone, *met), question)) == ["Ada", "Bob", "Cyd"]


async def test_top_k_limits_the_names(indexed: OpenIndexed) -> None:
    engine = await indexed(doc("a", *(f"Harbour of {name}." for name in ("Ada", "Bob", "Cyd", "Dan", "Eve"))))
    assert len(await names(engine, query("harbour", top_k=2))) == 2


async def test_a_long_chunk_is_found_by_its_best_part_and_once(indexed: OpenIndexed) -> None:
    long = "nothing of note here " * 12 + "zither lessons on Monday " + "and so it goes " * 12
    short = doc("short", "On so many a day the boats and gulls are here.")
    engine = await indexed(doc("long", long), short, embedder=HashEmbedder(max_tokens=16), options=VECTORS_ONLY)
    assert await documents(engine, "zither lessons on Monday") == ["long"]


@pytest.mark.parametrize(("threshold", "found"), [(0.0, 1), (0.2, 1), (0.99, 0)])
async def test_vectors_below_the_threshold_are_ignored(indexed: OpenIndexed, threshold: float, found: int) -> None:
    engine = await indexed(doc("a", "Ada met Bob in town."), options=VECTORS_ONLY)
    assert len(await ends(engine, query("met", mode="global", threshold=threshold))) == found


class ObservedVectors(MemoryVectors):
    """The vectors of an engine; each search and fetch waits for `before` and then reports its end."""

    def __init__(self, engine: Engine, before: Callable[[str], Awaitable[None]], log: list[str] | None = None) -> None:
        assert isinstance(engine._runtime.vectors, MemoryVectors)
        super().__init__(engine._runtime.vectors.dim)
        self.tables, self.before, self.log = engine._runtime.vectors.tables, before, log if log is not None else []
        engine._runtime.vectors = self

    async def search(self, table: VectorTable, vector: np.ndarray, k: int, area: VectorFilter) -> list[VectorHit]:
        self.log.append(f"{table} begin")
        await self.before(f"search {table}")
        self.log.append(f"{table} end")
        return await super().search(table, vector, k, area)

    async def fetch(
        self, table: VectorTable, ids: Collection[int], spaces: Collection[int] | None = None
    ) -> dict[int, np.ndarray]:
        await self.before("fetch")
        return await super().fetch(table, ids)


async def test_a_failing_vector_store_is_an_error(indexed: OpenIndexed) -> None:
    async def fail(call: str) -> None:
        raise CorruptProjection(f"{call} cannot be read")

    engine = await indexed(doc("a", "Ada met Bob."))
    ObservedVectors(engine, fail)
    for mode in MODES:
        with pytest.raises(CorruptProjection, match="cannot be read"):
            await engine.retrieve(query("Ada", mode=mode))


async def test_no_search_of_a_leg_waits_for_that_of_another(indexed: OpenIndexed) -> None:
    engine = await indexed(doc("a", "Ada met Bob."), options=EngineOptions(suggest_duplicates=False))
    all_begun = asyncio.Event()

    async def wait_for_all(call: str) -> None:
        if len(observed.log) == 4:
            all_begun.set()
        await asyncio.wait_for(all_begun.wait(), PATIENCE)

    observed = ObservedVectors(engine, wait_for_all)
    await engine.retrieve(query("Ada", mode="mix"))
    assert sorted(observed.log[:4]) == ["chunks begin", "entities begin", "relations begin", "relations begin"]


async def test_the_order_of_relations_does_not_depend_on_the_faster_search(indexed: OpenIndexed) -> None:
    engine = await indexed(doc("a", "Ada met Bob at the old mill.", "Ada owes Carl much money."))
    question = Question("met at the old mill", HERE, low=("Ada",), high=("owes much money",))
    orders = []
    for slow in ("search relations", "fetch"):
        ObservedVectors(engine, lambda call, slow=slow: asyncio.sleep(0.02 * (call == slow)))  # type: ignore[misc]
        orders.append(await ends(engine, question))
    assert len(orders[0]) > 1
    assert orders[0] == orders[1]


async def test_an_empty_store_is_no_error(indexed: OpenIndexed) -> None:
    engine = await indexed()
    for mode in MODES:
        assert (await engine.retrieve(query("Ada", mode=mode))).is_empty


async def test_many_hits_of_another_space_leave_room_for_those_of_the_scope(indexed: OpenIndexed) -> None:
    far = [doc(f"far{number}", f"Ada met Bob, number {number}.", space="far", room="field") for number in range(30)]
    engine = await indexed(*far, doc("near", "Ada once met Bob at the mill, which is long ago."))
    context = await engine.retrieve(Question("Ada met Bob", HERE, low=("Ada met Bob",), top_k=2, chunk_top_k=2))
    assert {source.document for source in context.sources} == {"near"}
    assert {row.name for row in context.entities} == {"Ada", "Bob"}


async def open_searcher(engine: Engine) -> Searcher:
    question = query("Ada", mode="mix")
    return Searcher(
        engine._runtime, question, await Retriever(engine._runtime)._resolve_scope(question), Stopwatch(engine.clock)
    )


async def test_profiles_are_cached_with_their_similarity(indexed: OpenIndexed) -> None:
    engine = await indexed(doc("a", "Ada met Bob."))
    searcher, cache = await open_searcher(engine), ProfileCache()
    vectors = QueryVectors(*await engine._runtime.embedder.embed(["Ada met Bob"] * 3, UsageMeter()))
    await searcher.local_leg(SearchQuery("Ada"), vectors, cache)
    await searcher.global_leg(vectors, cache)
    assert len(cache.entities) == 2
    assert all(0.2 < similarity <= 1.001 for similarity in cache.similarities.values())
    assert {"vectors entities", "vectors relations", "graph"} <= set(searcher.stopwatch.timings)


async def test_a_chunk_of_many_vectors_does_not_crowd_out_others(indexed: OpenIndexed) -> None:
    engine = await indexed(embedder=HashEmbedder(max_tokens=24))
    await index(engine, doc("long", "The ferry sails at noon. " * 160, "The ferry sails at night. " * 160))
    await index(engine, *(doc(f"short {number}", f"The ferry {number} rests.") for number in range(30)))
    rows = await engine._runtime.vectors.list_rows("chunks")
    assert max(Counter(row.id for row in rows).values()) > 30
    for limit in (1, 5, 20):
        question = Question("ferry sails at noon", HERE, mode="naive", chunk_top_k=limit, threshold=-1.0)
        assert len({source.chunk for source in (await engine.retrieve(question)).sources}) == limit


class CrossLingualEmbedder(HashEmbedder):
    """As an embedder of several languages, whose right texts may be hardly similar."""

    least_similarity = -1.0


@pytest.mark.parametrize(
    ("embedder", "found"),
    [
        pytest.param(HashEmbedder(), [], id="one language"),
        pytest.param(CrossLingualEmbedder(), ["a", "b"], id="several"),
    ],
)
async def test_what_is_found_at_least_is_as_the_embedder_needs_it(
    indexed: OpenIndexed, embedder: HashEmbedder, found: list[str]
) -> None:
    texts = doc("a", "The boats leave at noon."), doc("b", "Gulls are over the harbour today.")
    engine = await indexed(*texts, embedder=embedder, options=VECTORS_ONLY)
    assert sorted(await documents(engine, "zither lessons")) == found
    assert await documents(engine, "zither lessons", threshold=0.17) == []
