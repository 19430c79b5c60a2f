from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from engine.errors import CorruptProjection
from engine.models import Question, Scope, SearchQuery
from engine.options import EngineOptions, RankingOptions
from engine.retrieval.search import ProfileCache, QueryVectors, Searcher
from engine.scheduling.stopwatch import Stopwatch
from engine.usage import UsageMeter
from tests.support.engine_fixture import HERE, doc, open_memory_engine, sqlite_ledger
from tests.support.fake_embedder import HashEmbedder
from tests.support.memory_vectors import MemoryVectors
from tests.support.scripted_language import ScriptedLanguage

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from engine.engine import Engine
    from engine.models import RetrievalMode
    from engine.storage.sqlite.connection import Connection
    from engine.storage.vectors.base import VectorFilter, VectorHit, VectorTable

MODES: tuple[RetrievalMode, ...] = ("naive", "local", "global", "hybrid", "mix")
VECTORS_ONLY = EngineOptions(ranking=RankingOptions(fulltext_weight=0.0))


def asking(*low: str, mode: RetrievalMode = "local", **more: int) -> Question:
    return Question(" ".join(low), HERE, mode=mode, low=low, high=low, **more)  # type: ignore[arg-type]


async def names(engine: Engine, question: Question) -> list[str]:
    return [row.name for row in (await engine.retrieve(question)).entities]


async def documents(engine: Engine, question: Question) -> list[str]:
    return list(dict.fromkeys(source.document for source in (await engine.retrieve(question)).sources))


async def test_a_name_that_is_asked_for_comes_before_those_that_are_like_it(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        for number in range(4):
            await engine.add(doc(f"d{number}", "Harbour harbour harbour harbour Bell."))
        await engine.add(doc("long", "Harbour stands in a very long sentence about many other things, says Cyd."))
        await engine.wait_until_indexed()
        assert (await names(engine, asking("Cyd", "harbour bell")))[0] == "Cyd"


async def test_an_alias_leads_to_the_name_first_of_all(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await engine.add(doc("a", "Margaret keeps the Mill.", "Margaret sings.", "Margaret bakes."))
        await engine.add(doc("b", "Peg keeps bees."))
        await engine.wait_until_indexed()
        await engine.merge("here", "Peg", "Margaret")
        await engine.wait_until_indexed()
        found = await names(engine, asking("peg"))
        assert found[0] == "Margaret"
        assert "Peg" not in found


async def test_local_search_brings_the_relations_around_its_entities(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada met Bob.", "Bob met Cyd."))
        await engine.wait_until_indexed()
        context = await engine.retrieve(asking("Ada", top_k=1))
        assert [(row.source, row.target) for row in context.relations] == [("Ada", "Bob")]


async def test_relations_around_are_ordered_by_what_was_asked_not_by_degree_alone(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await engine.add(doc("hub", *(f"Hub met {name}." for name in ("Ada", "Bob", "Cyd", "Dan"))))
        await engine.add(doc("ada", "Ada praised Hub.", "Ada sells candles to Eve."))
        await engine.wait_until_indexed()
        question = Question("sells candles", HERE, mode="local", low=("Ada",), top_k=1)
        first = (await engine.retrieve(question)).relations[0]
        assert (first.source, first.target) == ("Ada", "Eve")


async def test_global_search_finds_relations_and_their_ends(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada sells candles to Bob.", "Cyd buries Dan under stones."))
        await engine.wait_until_indexed()
        question = Question("x", HERE, mode="global", high=("sells candles",), top_k=1)
        context = await engine.retrieve(question)
        assert [(row.source, row.target) for row in context.relations] == [("Ada", "Bob")]
        assert {row.name for row in context.entities} == {"Ada", "Bob"}


async def test_it_is_searched_on_until_enough_names_differ(tmp_path: Path) -> None:
    spaces = [f"s{number}" for number in range(6)]
    async with open_memory_engine(tmp_path) as engine:
        for space in spaces:
            await engine.add(doc(f"ada {space}", "Ada.", space=space))
        await engine.add(doc("more", "Ada met Bob near the old town wall.", space="s0"))
        await engine.add(doc("most", "Ada met Cyd near the old town wall.", space="s0"))
        await engine.wait_until_indexed()
        question = Question("Ada", Scope(frozenset(spaces), frozenset()), mode="local", low=("Ada",), top_k=3)
        assert sorted(await names(engine, question)) == ["Ada", "Bob", "Cyd"]


async def test_no_more_names_than_asked_for_are_taken(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await engine.add(doc("a", *(f"Harbour of {name}." for name in ("Ada", "Bob", "Cyd", "Dan", "Eve"))))
        await engine.wait_until_indexed()
        assert len(await names(engine, asking("harbour", top_k=2))) == 2


@pytest.mark.parametrize(("vectors", "words", "first"), [(1.0, 0.0, "alike"), (0.0, 1.0, "rare")])
async def test_the_weights_say_which_search_leads(tmp_path: Path, vectors: float, words: float, first: str) -> None:
    options = EngineOptions(ranking=RankingOptions(vector_weight=vectors, fulltext_weight=words))
    async with open_memory_engine(tmp_path, options=options) as engine:
        for number in range(4):
            await engine.add(doc(f"filler{number}", f"a boat came in, number {number}"))
        await engine.add(doc("alike", "a boat came in a boat came in"))
        await engine.add(doc("rare", "tomorrow the market opens early with cheese, bread, wine and a zither, they say"))
        await engine.wait_until_indexed()
        found = await documents(engine, Question("a boat came in zither", HERE, mode="naive"))
        assert found[0] == first


async def test_a_long_chunk_is_found_by_its_best_part_and_once(tmp_path: Path) -> None:
    embedder = HashEmbedder(max_tokens=16)
    async with open_memory_engine(tmp_path, embedder=embedder, options=VECTORS_ONLY) as engine:
        await engine.add(
            doc("long", "nothing of note here " * 12 + "zither lessons on Monday " + "and so it goes " * 12)
        )
        await engine.add(doc("short", "On so many a day the boats and gulls are here."))
        await engine.wait_until_indexed()
        found = await documents(engine, Question("zither lessons on Monday", HERE, mode="naive"))
        assert found == ["long"]


async def test_what_is_below_the_threshold_is_not_found_by_vectors(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, options=VECTORS_ONLY) as engine:
        await engine.add(doc("a", "Ada met Bob in town."))
        await engine.wait_until_indexed()
        for threshold, found in ((0.0, 1), (0.2, 1), (0.99, 0)):
            question = Question("met", HERE, mode="global", high=("met",), threshold=threshold)
            assert len((await engine.retrieve(question)).relations) == found


async def test_a_failing_vector_store_is_an_error_and_not_nothing_found(tmp_path: Path) -> None:
    class Failing(MemoryVectors):
        async def search(self, table: VectorTable, vector: np.ndarray, k: int, area: VectorFilter) -> list[VectorHit]:
            raise CorruptProjection(f"{table} cannot be read")

    async with open_memory_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.wait_until_indexed()
        engine._runtime.vectors = Failing(128)
        for mode in MODES:
            with pytest.raises(CorruptProjection, match="cannot be read"):
                await engine.retrieve(asking("Ada", mode=mode))


async def test_names_are_searched_before_anything_else(tmp_path: Path) -> None:
    class Noting(MemoryVectors):
        def __init__(self, former: MemoryVectors) -> None:
            super().__init__(former.dim)
            self.tables, self.noted = former.tables, list[str]()

        async def search(self, table: VectorTable, vector: np.ndarray, k: int, area: VectorFilter) -> list[VectorHit]:
            self.noted.append(f"{table} begin")
            await asyncio.sleep(0.01)
            self.noted.append(f"{table} end")
            return await super().search(table, vector, k, area)

    async with open_memory_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.wait_until_indexed()
        assert isinstance(engine._runtime.vectors, MemoryVectors)
        engine._runtime.vectors = noting = Noting(engine._runtime.vectors)
        await engine.retrieve(asking("Ada", mode="mix"))
        assert noting.noted[:2] == ["entities begin", "entities end"]
        assert {"chunks begin", "relations begin"} == set(noting.noted[2:4])


async def test_the_order_of_relations_does_not_hang_on_which_leg_is_faster(tmp_path: Path) -> None:
    class Slow(MemoryVectors):
        def __init__(self, former: MemoryVectors, slow: str) -> None:
            super().__init__(former.dim)
            self.tables, self.slow = former.tables, slow

        async def search(self, table: VectorTable, vector: np.ndarray, k: int, area: VectorFilter) -> list[VectorHit]:
            await asyncio.sleep(0.02 * (self.slow == "search" and table == "relations"))
            return await super().search(table, vector, k, area)

        async def fetch(self, table: VectorTable, ids: Collection[int]) -> dict[int, np.ndarray]:
            await asyncio.sleep(0.02 * (self.slow == "fetch"))
            return await super().fetch(table, ids)

    async with open_memory_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada met Bob at the old mill.", "Ada owes Carl much money."))
        await engine.wait_until_indexed()
        former = engine._runtime.vectors
        assert isinstance(former, MemoryVectors)
        question = Question("met at the old mill", HERE, low=("Ada",), high=("owes much money",))
        orders = []
        for slow in ("search", "fetch"):
            engine._runtime.vectors = Slow(former, slow)
            orders.append([(row.source, row.target) for row in (await engine.retrieve(question)).relations])
        assert len(orders[0]) > 1
        assert orders[0] == orders[1]


async def test_an_empty_store_is_nothing_found_and_no_error(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage("?")) as engine:
        for mode in MODES:
            assert (await engine.retrieve(asking("Ada", mode=mode))).is_empty


async def test_a_busy_foreign_space_does_not_starve_the_search(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        for number in range(30):
            await engine.add(doc(f"far{number}", f"Ada met Bob, number {number}.", space="far", room="field"))
        await engine.add(doc("near", "Ada once met Bob at the mill, which is long ago."))
        await engine.wait_until_indexed()
        context = await engine.retrieve(Question("Ada met Bob", HERE, low=("Ada met Bob",), top_k=2, chunk_top_k=2))
        assert {source.document for source in context.sources} == {"near"}
        assert {row.name for row in context.entities} == {"Ada", "Bob"}


async def test_what_was_met_is_known_with_its_similarity(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.wait_until_indexed()
        question = asking("Ada", mode="mix")
        searcher = Searcher(engine._runtime, question, await engine._retriever._resolve_scope(question), Stopwatch())
        embedded = await engine._runtime.embedder.embed(["Ada met Bob"] * 3, UsageMeter())
        known = ProfileCache()
        named = await searcher.find_entities(SearchQuery("Ada"), QueryVectors(*embedded), known)
        await searcher.local_leg(named, QueryVectors(*embedded), known)
        await searcher.global_leg(QueryVectors(*embedded), known)
        assert len(known.entities) == 2
        assert all(0.2 < similarity <= 1.001 for similarity in known.similarities.values())
        assert {"vectors entities", "vectors relations", "graph"} <= set(searcher.stopwatch.timings)


async def test_vectors_of_chunks_are_those_of_the_store_also_where_they_are_not_remembered(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada keeps the Mill."))
        await engine.add(doc("b", "Bob keeps bees."))
        await engine.wait_until_indexed()
        searcher = Searcher(
            engine._runtime, asking("Ada"), await engine._retriever._resolve_scope(asking("Ada")), Stopwatch()
        )
        found = await searcher.load_chunk_vectors([1, 2, 77])
        stored = await engine._runtime.vectors.fetch("chunks", [1, 2])
        assert found.keys() == stored.keys() == {1, 2}
        for id_, rows in stored.items():
            np.testing.assert_allclose(found[id_], rows, atol=1e-6)

        async def forget_one(db: Connection) -> None:
            await db.execute("DELETE FROM vector WHERE text_hash = (SELECT text_hash FROM chunk WHERE id = 2)")

        await sqlite_ledger(engine._ledger).write(forget_one)
        again = await searcher.load_chunk_vectors([1, 2])
        np.testing.assert_allclose(again[2], stored[2], atol=1e-6)


async def test_a_chunk_of_many_vectors_does_not_crowd_others_out(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, embedder=HashEmbedder(max_tokens=24)) as engine:
        await engine.add(doc("long", "The ferry sails at noon. " * 160, "The ferry sails at night. " * 160))
        for number in range(30):
            await engine.add(doc(f"short {number}", f"The ferry {number} rests."))
        await engine.wait_until_indexed()
        rows = await engine._runtime.vectors.list_rows("chunks")
        assert max(Counter(row.id for row in rows).values()) > 30
        for wanted in (1, 5, 20):
            question = Question("ferry sails at noon", HERE, mode="naive", chunk_top_k=wanted, threshold=-1.0)
            sources = (await engine.retrieve(question)).sources
            assert len({source.chunk for source in sources}) == wanted
