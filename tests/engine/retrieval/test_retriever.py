from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from engine.models import ChatTurn, Document, Filters, Passage, Question, Scope, SearchQuery
from engine.storage.ledger.queries import filters
from tests.support.engine_fixture import HERE, doc, open_memory_engine
from tests.support.memory_vectors import MemoryVectors
from tests.support.scripted_language import ScriptedLanguage

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    from engine.engine import Engine
    from engine.models import ContextEntity, ContextRelation, RetrievalMode
    from engine.storage.vectors.base import VectorFilter, VectorHit, VectorTable

ROOM_ONLY = Scope(frozenset(), frozenset({"hall"}))


def day(number: int) -> datetime:
    return datetime(2026, 3, number, 12, tzinfo=UTC)


async def town(engine: Engine) -> None:
    await engine.add(doc("ferry", "Ada rows the Ferry to Brook."))
    await engine.add(doc("inn", "Bob keeps the Inn at Brook.", room="cellar"))
    await engine.wait_until_indexed()


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
async def test_a_mode_says_what_is_searched(tmp_path: Path, mode: RetrievalMode, searched: set[str]) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        await town(engine)
        context = await engine.retrieve(Question("Who rows the Ferry?", HERE, mode=mode))
        assert {stage.removeprefix("vectors ") for stage in context.timings if stage.startswith("vectors ")} == searched
        assert ("words" in context.timings) == ("chunks" in searched)
        assert bool(context.entities) == (mode != "naive")
        assert context.sources
        assert context.mode == mode


async def test_the_graph_alone_leads_to_passages_too(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        await town(engine)
        for mode in ("local", "global", "hybrid"):
            question = Question("Who rows the Ferry?", HERE, mode=mode, low=("Ferry",), high=("rows the Ferry",))
            assert "ferry" in await documents(engine, question)


@pytest.mark.parametrize("mode", ["naive", "local", "global", "hybrid", "mix"])
async def test_a_scope_of_rooms_only_knows_chunks_and_no_graph(tmp_path: Path, mode: RetrievalMode) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        await town(engine)
        context = await engine.retrieve(Question("Who keeps the Inn or rows the Ferry?", ROOM_ONLY, mode=mode))
        assert not context.entities
        assert not context.relations
        assert {source.document for source in context.sources} <= {"ferry"}
        assert (await engine.get_neighbourhood("Ada", ROOM_ONLY)).entity is None


async def test_rooms_and_spaces_of_a_scope_add_up(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        await town(engine)
        await engine.add(doc("far", "Ada rows the Ferry abroad.", space="far", room="beach"))
        await engine.add(doc("farther", "Ada rows the Ferry home.", space="far", room="dune"))
        await engine.wait_until_indexed()
        question = Question("rows the Ferry", Scope(frozenset({"here"}), frozenset({"beach"})))
        assert await documents(engine, question) >= {"ferry", "far"}
        assert "farther" not in await documents(engine, question)


async def test_a_slow_rewrite_does_not_keep_the_vector_search_waiting(tmp_path: Path) -> None:
    searched = asyncio.Event()

    class Watched(MemoryVectors):
        async def search(self, table: VectorTable, vector: np.ndarray, k: int, area: VectorFilter) -> list[VectorHit]:
            if table == "chunks":
                searched.set()
            return await super().search(table, vector, k, area)

    language = ScriptedLanguage()
    language.condense_gate.clear()
    async with open_memory_engine(tmp_path, language) as engine:
        vectors = Watched(128)
        vectors.tables = engine._runtime.vectors.tables  # type: ignore[attr-defined]
        engine._runtime.vectors = vectors
        await town(engine)
        recalling = asyncio.create_task(engine.retrieve(Question("Who rows the Ferry?", HERE)))
        await asyncio.wait_for(searched.wait(), 10)
        assert not recalling.done()
        language.condense_gate.set()
        context = await recalling
        assert context.sources[0].document == "ferry"
        assert "Ferry" in {row.name for row in context.entities}


async def test_a_question_that_hangs_on_its_history_waits_for_the_rewrite(tmp_path: Path) -> None:
    language = ScriptedLanguage(keywords=SearchQuery("Who keeps the Inn?", (), ("Inn",)))
    language.condense_gate.clear()
    async with open_memory_engine(tmp_path, language) as engine:
        await town(engine)
        question = Question("And there?", HERE, mode="naive", history=(ChatTurn("user", "Tell me of the Inn."),))
        recalling = asyncio.create_task(engine.retrieve(question))
        await language.wait_for_calls("condense", 1)
        language.condense_gate.set()
        context = await recalling
        assert context.sources[0].document == "inn"


async def test_a_recall_that_is_cancelled_stops_the_rewrite(tmp_path: Path) -> None:
    language = ScriptedLanguage()
    language.condense_gate.clear()
    async with open_memory_engine(tmp_path, language) as engine:
        await town(engine)
        recalling = asyncio.create_task(engine.retrieve(Question("Who rows the Ferry?", HERE)))
        await language.wait_for_calls("condense", 1)
        recalling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await recalling
        await asyncio.sleep(0)
        assert not [task for task in asyncio.all_tasks() if "timed" in repr(task)]


async def chats(engine: Engine) -> None:
    for number, author in ((1, "Ada"), (2, "Bob"), (3, "Ada")):
        lines = (
            Passage(f"{number}.0", f"Ferry news of day {number} by {author}", author=author, time=day(number)),
            Passage(f"{number}.1", f"Ferry remark of Cyd on day {number}", author="Cyd", time=day(number), position=1),
        )
        room = "hall" if number < 3 else "cellar"
        await engine.add(
            Document(f"day{number}", "here", room, f"Day {number}", lines, day(number), kind="conversation")
        )
    await engine.wait_until_indexed()


@pytest.mark.parametrize(
    ("within", "found"),
    [
        (Filters(), {"1.0", "1.1", "2.0", "2.1", "3.0", "3.1"}),
        (Filters(documents=frozenset({"day2"})), {"2.0", "2.1"}),
        (Filters(rooms=frozenset({"cellar"})), {"3.0", "3.1"}),
        (Filters(authors=frozenset({"Ada"})), {"1.0", "3.0"}),
        (Filters(since=day(2)), {"2.0", "2.1", "3.0", "3.1"}),
        (Filters(until=day(1)), {"1.0", "1.1"}),
        (Filters(since=day(2), until=day(2), authors=frozenset({"Bob"})), {"2.0"}),
        (Filters(authors=frozenset({"Nobody"})), set()),
        (Filters(documents=frozenset({"day1"}), rooms=frozenset({"cellar"})), set()),
    ],
)
async def test_a_narrowed_question_sees_only_what_it_asks_for(tmp_path: Path, within: Filters, found: set[str]) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        await chats(engine)
        for mode in ("naive", "mix"):
            context = await engine.retrieve(Question("What is the Ferry news?", HERE, mode=mode, filters=within))
            assert {source.passage for source in context.sources} == found
            rows: list[ContextEntity | ContextRelation] = [*context.entities, *context.relations]
            told = " ".join(row.description for row in rows)
            assert all(
                f"day {number}" not in told for number in (1, 2, 3) if not {f"{number}.0", f"{number}.1"} & found
            )


async def test_narrowing_never_widens_the_scope(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        await chats(engine)
        question = Question("Ferry", Scope(frozenset({"far"}), frozenset()), filters=Filters(rooms=frozenset({"hall"})))
        assert (await engine.retrieve(question)).is_empty


async def test_an_entity_is_found_by_its_name_in_any_case_and_by_an_alias(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await town(engine)
        await engine.merge("here", "Boat", "Ferry")
        await engine.wait_until_indexed()
        for name in ("Ferry", "FERRY", "“ferry”", "boat"):
            row = await engine.get_entity(name, HERE)
            assert row is not None
            assert row.name == "Ferry"
        assert await engine.get_entity("Zebra", HERE) is None
        assert await engine.get_entity("Ferry", Scope(frozenset({"far"}), frozenset())) is None


async def test_a_neighbourhood_is_an_entity_with_its_relations_and_their_other_ends(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await town(engine)
        around = await engine.get_neighbourhood("Brook", HERE)
        assert around.entity is not None
        assert around.entity.name == "Brook"
        assert {(row.source, row.target) for row in around.relations} == {("Brook", "Ferry"), ("Brook", "Inn")}
        assert {row.name for row in around.neighbours} == {"Ferry", "Inn"}
        assert len((await engine.get_neighbourhood("Brook", HERE, limit=1)).relations) == 1


async def test_a_chunk_that_holds_more_than_what_is_meant_gives_its_passages_but_not_its_facts(tmp_path: Path) -> None:
    both = Document(
        "talk",
        "here",
        "hall",
        "Talk",
        (
            Passage("1", "Ada keeps the Lighthouse.", author="Ada"),
            Passage("2", "Bram paints the Lighthouse.", author="Bram"),
        ),
    )
    async with open_memory_engine(tmp_path) as engine:
        await engine.add(both)
        await engine.wait_until_indexed()
        asked = Question("Who is at the Lighthouse?", HERE, filters=Filters(authors=frozenset({"Bram"})))
        context = await engine.retrieve(asked)
        assert [source.author for source in context.sources] == ["Bram"]
        assert not context.entities
        assert not context.relations
        everybody = await engine.retrieve(Question("Who is at the Lighthouse?", HERE))
        assert everybody.entities


@pytest.mark.parametrize(
    "within",
    [
        Filters(since=day(7)),
        Filters(until=day(3)),
        Filters(documents=frozenset({"d3", "d4"})),
        Filters(since=day(31)),
    ],
)
async def test_what_is_narrowed_to_too_much_to_be_listed_is_found_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, within: Filters
) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        for n in range(9):
            line = Passage("1", f"Ada met Bob at the Ferry on day {n}.", time=day(n + 1))
            await engine.add(replace(doc(f"d{n}"), passages=(line,)))
        await engine.wait_until_indexed()
        question = Question(
            "Who met at the Ferry?", HERE, filters=within, low=("Ada",), high=("Ferry",), threshold=-1.0
        )
        few = await engine.retrieve(question)
        monkeypatch.setattr(filters, "MAX_LISTED", 0)
        many = await engine.retrieve(question)
        assert (many.sources, many.entities, many.relations) == (few.sources, few.entities, few.relations)
        assert bool(few.sources) == (within.since != day(31))
