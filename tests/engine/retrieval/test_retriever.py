from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from engine.engine import Engine
from engine.llm.checked_embedder import OTHER_UNRELATED_TEXTS, UNRELATED_TEXTS
from engine.models import ChatTurn, Document, Filters, Passage, Question, RetrievalMode, Scope, SearchQuery
from engine.retrieval.name_walk import NamedNodes, NameWalk
from engine.scheduling.supervisor import child_task
from engine.storage.ledger.queries import filters
from engine.storage.search_gate import TURNS
from engine.storage.vectors.base import VectorFilter, VectorHit, VectorTable
from tests.support.engine_fixture import HERE, doc
from tests.support.fake_embedder import TwoWayEmbedder
from tests.support.indexed_engine import OpenIndexed, index
from tests.support.memory_vectors import MemoryVectors
from tests.support.patience import PATIENCE
from tests.support.scripted_language import ScriptedLanguage

TOWN = (doc("ferry", "Ada rows the Ferry to Brook."), doc("inn", "Bob keeps the Inn at Brook.", room="cellar"))
WHO = Question("Who rows the Ferry?", HERE)


def day(number: int) -> datetime:
    return datetime(2026, 3, number, 12, tzinfo=UTC)


async def documents(engine: Engine, question: Question) -> set[str]:
    return {source.document for source in (await engine.retrieve(question)).sources}


@pytest.mark.parametrize(
    ("mode", "searched"),
    [
        ("naive", {"chunks"}),
        ("local", {"entities"}),
        ("global", {"relations"}),
        ("hybrid", {"entities", "relations"}),
        ("mix", {"chunks", "entities", "relations"}),
    ],
)
async def test_the_mode_decides_what_is_searched(indexed: OpenIndexed, mode: RetrievalMode, searched: set[str]) -> None:
    engine = await indexed(*TOWN)
    context = await engine.retrieve(replace(WHO, mode=mode))
    assert {stage.removeprefix("vectors ") for stage in context.timings if stage.startswith("vectors ")} == searched
    assert ("words" in context.timings) == ("chunks" in searched)
    assert (bool(context.entities), bool(context.sources), context.mode) == (mode != "naive", True, mode)
    keywords = replace(WHO, mode=mode, low=("Ferry",), high=("rows the Ferry",))
    assert "ferry" in await documents(engine, keywords)


async def test_questions_are_embedded_as_questions_and_documents_as_documents(indexed: OpenIndexed) -> None:
    embedder = TwoWayEmbedder()
    engine = await indexed(*TOWN, embedder=embedder)
    assert not set(embedder.asked) - {*UNRELATED_TEXTS, *OTHER_UNRELATED_TEXTS}  # by which it is measured once
    embedder.texts.clear()
    await engine.retrieve(WHO)
    assert any(WHO.text in text for text in embedder.asked)
    assert not any(WHO.text in text for text in embedder.texts)


async def test_a_slow_rewrite_does_not_delay_the_vector_search(indexed: OpenIndexed) -> None:
    searched = asyncio.Event()

    class Observed(MemoryVectors):
        async def search(self, table: VectorTable, vector: np.ndarray, k: int, area: VectorFilter) -> list[VectorHit]:
            if table == "chunks":
                searched.set()
            return await super().search(table, vector, k, area)

    language = ScriptedLanguage()
    engine = await indexed(language=language)
    engine._runtime.vectors = Observed(128)
    await index(engine, *TOWN)
    language.condense_gate.clear()
    retrieval = asyncio.create_task(engine.retrieve(WHO))
    await asyncio.wait_for(searched.wait(), PATIENCE)
    assert not retrieval.done()
    language.condense_gate.set()
    context = await retrieval
    assert context.sources[0].document == "ferry"
    assert "Ferry" in {row.name for row in context.entities}


async def test_the_walk_and_the_global_leg_search_for_relations_together(
    indexed: OpenIndexed, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, others, named, turn = list[int](), asyncio.Event(), asyncio.Event(), 0

    class Observed(MemoryVectors):
        async def search(self, table: VectorTable, vector: np.ndarray, k: int, area: VectorFilter) -> list[VectorHit]:
            if table == "relations":
                begun.append(turn)
            elif table == "entities":
                others.set()
            return await super().search(table, vector, k, area)

    async def count_turns() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    async def find_slowly(walk: NameWalk) -> NamedNodes:
        await named.wait()
        return await find(walk)

    find = NameWalk.find_named_nodes
    monkeypatch.setattr(NameWalk, "find_named_nodes", find_slowly)
    engine = await indexed()
    engine._runtime.vectors = Observed(128)
    await index(engine, *TOWN)
    async with child_task(engine.retrieve(replace(WHO, mode="mix"))) as retrieval:
        await asyncio.wait_for(others.wait(), PATIENCE)
        for _ in range(100):
            await asyncio.sleep(0)
        assert not begun
        async with child_task(count_turns()):
            named.set()
            await retrieval
    first, second = begun
    assert abs(first - second) < TURNS


async def test_a_question_with_history_waits_for_its_rewrite(indexed: OpenIndexed) -> None:
    language = ScriptedLanguage(keywords=SearchQuery("Who keeps the Inn?", (), ("Inn",)))
    language.condense_gate.clear()
    engine = await indexed(*TOWN, language=language)
    question = Question("And there?", HERE, mode="naive", history=(ChatTurn("user", "Tell me of the Inn."),))
    retrieval = asyncio.create_task(engine.retrieve(question))
    await language.wait_for_calls("condense", 1)
    language.condense_gate.set()
    assert (await retrieval).sources[0].document == "inn"


async def test_a_cancelled_retrieval_cancels_the_rewrite(indexed: OpenIndexed) -> None:
    language = ScriptedLanguage()
    language.condense_gate.clear()
    engine = await indexed(*TOWN, language=language)
    retrieval = asyncio.create_task(engine.retrieve(WHO))
    await language.wait_for_calls("condense", 1)
    retrieval.cancel()
    with pytest.raises(asyncio.CancelledError):
        await retrieval
    await asyncio.sleep(0)
    assert not [task for task in asyncio.all_tasks() if "timed" in repr(task)]


def chat(number: int, author: str, room: str) -> Document:
    """A line of the author and one of Cyd, on that day."""
    lines = (
        Passage(f"{number}.0", f"Ferry news of day {number} by {author}", author=author, time=day(number)),
        Passage(f"{number}.1", f"Ferry remark of Cyd on day {number}", author="Cyd", time=day(number), position=1),
    )
    return Document(f"day{number}", "here", room, f"Day {number}", lines, day(number), kind="conversation")


CHATS = (chat(1, "Ada", "hall"), chat(2, "Bob", "hall"), chat(3, "Ada", "cellar"))
ALL = {"1.0", "1.1", "2.0", "2.1", "3.0", "3.1"}


async def test_filters_narrow_a_question_and_never_widen_its_scope(indexed: OpenIndexed) -> None:
    engine = await indexed(*CHATS)
    cases: list[tuple[dict[str, Any], set[str]]] = [
        ({}, ALL),
        ({"documents": frozenset({"day2"})}, {"2.0", "2.1"}),
        ({"rooms": frozenset({"cellar"})}, {"3.0", "3.1"}),
        ({"authors": frozenset({"Ada"})}, {"1.0", "3.0"}),
        ({"since": day(2)}, ALL - {"1.0", "1.1"}),
        ({"until": day(1)}, {"1.0", "1.1"}),
        ({"since": day(2), "until": day(2), "authors": frozenset({"Bob"})}, {"2.0"}),
        ({"authors": frozenset({"Nobody"})}, set()),
        ({"documents": frozenset({"day1"}), "rooms": frozenset({"cellar"})}, set()),
    ]
    for narrow, passages in cases:
        for mode in ("naive", "mix"):
            question = Question("What is the Ferry news?", HERE, mode=mode, filters=Filters(**narrow))
            context = await engine.retrieve(question)
            assert {source.passage for source in context.sources} == passages, (narrow, mode)
            facts = repr((context.entities, context.relations))
            shown = {passage[0] for passage in passages}
            assert not [number for number in "123" if f"day {number}" in facts and number not in shown], (narrow, mode)
    elsewhere = Question("Ferry", Scope(frozenset({"far"}), frozenset()), filters=Filters(rooms=frozenset({"hall"})))
    assert (await engine.retrieve(elsewhere)).is_empty


async def test_an_entity_is_found_by_its_name_in_any_case_and_by_an_alias(indexed: OpenIndexed) -> None:
    engine = await indexed(*TOWN)
    await engine.corrections.merge("here", "Boat", "Ferry", allow_unknown=True)
    await engine.wait_until_indexed()
    found = [await engine.graph.get_entity(name, HERE) for name in ("Ferry", "FERRY", "“ferry”", "boat", "Zebra")]
    assert [row.name if row else None for row in found] == ["Ferry"] * 4 + [None]
    assert await engine.graph.get_entity("Ferry", Scope(frozenset({"far"}), frozenset())) is None


async def test_a_neighborhood_holds_relations_and_their_other_ends(indexed: OpenIndexed) -> None:
    engine = await indexed(*TOWN)
    around = await engine.graph.get_neighborhood("Brook", HERE)
    assert around.entity is not None
    assert around.entity.name == "Brook"
    assert {(row.source, row.target) for row in around.relations} == {("Brook", "Ferry"), ("Brook", "Inn")}
    assert {row.name for row in around.neighbors} == {"Ferry", "Inn"}
    assert len((await engine.graph.get_neighborhood("Brook", HERE, limit=1)).relations) == 1


async def test_a_chunk_partly_outside_the_filters_gives_passages_but_no_facts(indexed: OpenIndexed) -> None:
    lines = [("1", "Ada keeps the Lighthouse.", "Ada"), ("2", "Bram paints the Lighthouse.", "Bram")]
    passages = tuple(Passage(key, text, author=author) for key, text, author in lines)
    engine = await indexed(Document("talk", "here", "hall", "Talk", passages))
    question = Question("Who is at the Lighthouse?", HERE)
    context = await engine.retrieve(replace(question, filters=Filters(authors=frozenset({"Bram"}))))
    assert [source.author for source in context.sources] == ["Bram"]
    assert (context.entities, context.relations) == ((), ())
    assert (await engine.retrieve(question)).entities


async def test_filters_over_too_many_chunks_to_list_find_the_same(
    indexed: OpenIndexed, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [Passage("1", f"Ada met Bob at the Ferry on day {n}.", time=day(n + 1)) for n in range(9)]
    engine = await indexed(*(replace(doc(f"d{n}"), passages=(line,)) for n, line in enumerate(lines)))
    for narrow, is_empty in (
        (Filters(since=day(7)), False),
        (Filters(until=day(3)), False),
        (Filters(documents=frozenset({"d3", "d4"})), False),
        (Filters(since=day(31)), True),
    ):
        question = replace(WHO, filters=narrow, low=("Ada",), high=("Ferry",), threshold=-1.0)
        listed = await engine.retrieve(question)
        with monkeypatch.context() as patched:
            patched.setattr(filters, "MAX_LISTED", 0)
            joined = await engine.retrieve(question)
        assert (joined.sources, joined.entities, joined.relations) == (
            listed.sources,
            listed.entities,
            listed.relations,
        )
        assert listed.is_empty == is_empty
