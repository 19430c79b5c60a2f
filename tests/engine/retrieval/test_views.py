from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from engine.models import Document, Filters, Passage, Question, Scope
from engine.storage.ledger.work import work_queue
from tests.support.engine_fixture import HERE, doc, open_memory_engine, sqlite_ledger
from tests.support.scripted_language import ScriptedLanguage

if TYPE_CHECKING:
    from pathlib import Path

    from engine.engine import Engine
    from engine.models import ContextEntity, ContextRelation

BOTH = Scope(frozenset({"here", "there"}), frozenset())
START = datetime(2026, 3, 1, tzinfo=UTC)


async def read_up(engine: Engine) -> None:
    """Return once every chunk has been read."""
    async with asyncio.timeout(20):
        while await sqlite_ledger(engine._ledger).read(work_queue.has_due_extraction):
            await engine._worker.wait_for_progress()


def about(*names: str, scope: Scope = HERE, within: Filters | None = None) -> Question:
    return Question("who?", scope, mode="local", low=names, high=names, filters=within or Filters())


async def entities(engine: Engine, question: Question) -> dict[str, ContextEntity]:
    return {row.name: row for row in (await engine.retrieve(question)).entities}


async def relations(engine: Engine, question: Question) -> dict[tuple[str, str], ContextRelation]:
    return {(row.source, row.target): row for row in (await engine.retrieve(question)).relations}


# What is stale is folded on the spot.


async def test_a_fact_that_came_since_is_seen_at_once_without_a_model(tmp_path: Path) -> None:
    language = ScriptedLanguage()
    async with open_memory_engine(tmp_path, language) as engine:
        await engine.add(doc("one", "Ada met Bob."))
        await engine.wait_until_indexed()
        async with engine._projector.suspend():
            await engine.add(doc("two", "Ada hired Bob."))
            await read_up(engine)
            row = (await relations(engine, about("Ada")))["Ada", "Bob"]
            assert row.weight == 2
            assert row.description.splitlines() in (
                ["Ada met Bob.", "Ada hired Bob."],
                ["Ada hired Bob.", "Ada met Bob."],
            )
            assert "Ada hired Bob." in (await entities(engine, about("Ada")))["Ada"].description
        assert language.calls["summarise"] == 0


async def test_what_was_forgotten_is_gone_at_once(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        await engine.add(doc("one", "Ada met Bob."))
        await engine.add(doc("two", "Ada hired Cyd."))
        await engine.wait_until_indexed()
        async with engine._projector.suspend():
            await engine.forget("one")
            context = await engine.retrieve(about("Ada", "Bob"))
            assert {row.name for row in context.entities} == {"Ada", "Cyd"}
            assert [(row.source, row.target) for row in context.relations] == [("Ada", "Cyd")]
            told = [row.description for row in context.entities] + [row.description for row in context.relations]
            assert "met" not in " ".join(told)


async def test_many_facts_that_came_since_are_joined_within_the_limits(tmp_path: Path) -> None:
    language = ScriptedLanguage()
    async with open_memory_engine(tmp_path, language) as engine:
        await engine.add(doc("first", "Ada met Bob.", time=START))
        await engine.wait_until_indexed()
        async with engine._projector.suspend():
            for number in range(60):
                await engine.add(doc(f"d{number}", f"Ada met Bob in house {number}.", time=START + timedelta(number)))
            await read_up(engine)
            row = (await relations(engine, about("Ada")))["Ada", "Bob"]
            assert len(row.description.splitlines()) == 7
            assert "house 59." in row.description
        assert language.calls["summarise"] == 0


async def test_the_folding_on_the_spot_is_what_the_projector_makes_of_it_later(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        await engine.add(doc("one", "Ada met Bob.", time=START))
        await engine.wait_until_indexed()
        async with engine._projector.suspend():
            await engine.add(doc("two", "Ada hired Bob.", "Bob likes Ada.", time=START + timedelta(1)))
            await read_up(engine)
            early = await engine.retrieve(about("Ada", "Bob"))
        await engine.wait_until_indexed()
        late = await engine.retrieve(about("Ada", "Bob"))
        assert set(early.entities) == set(late.entities)
        assert set(early.relations) == set(late.relations)


# The same name in several spaces.


async def test_the_same_name_in_several_spaces_is_one_row_and_counts_add_up(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        await engine.add(doc("one", "Ada met Bob."))
        await engine.add(doc("two", "Ada hired Bob.", space="there", room="field"))
        await engine.add(doc("three", "Ada paid Bob.", space="there", room="field"))
        await engine.wait_until_indexed()
        context = await engine.retrieve(about("Ada", scope=BOTH))
        assert len({row.name for row in context.entities}) == len(context.entities)
        [row] = context.relations
        assert row.weight == 3
        assert set(row.description.splitlines()) == {"Ada met Bob.", "Ada hired Bob.", "Ada paid Bob."}
        assert (await relations(engine, about("Ada")))["Ada", "Bob"].weight == 1


async def test_of_several_spaces_the_description_most_like_the_question_comes_first(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        await engine.add(doc("one", "Ada bakes bread."))
        await engine.add(doc("two", "Ada tunes violins.", space="there", room="field"))
        await engine.wait_until_indexed()
        for asked, first in (("tunes violins", "Ada tunes violins."), ("bakes bread", "Ada bakes bread.")):
            row = (await entities(engine, about("Ada", asked, scope=BOTH)))["Ada"]
            assert row.description.splitlines()[0] == first
            assert len(row.description.splitlines()) == 2


async def test_the_same_description_of_two_spaces_stands_once(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        for key, space in (("one", "here"), ("two", "there")):
            await engine.add(doc(key, "Ada bakes bread.", space=space, room=space))
        await engine.wait_until_indexed()
        assert (await entities(engine, about("Ada", scope=BOTH)))["Ada"].description == "Ada bakes bread."


async def test_an_alias_counts_only_in_its_own_space(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        await engine.add(doc("one", "Ada bakes bread.", "Peg bakes cake."))
        await engine.add(doc("two", "Ada tunes violins.", "Peg tunes harps.", space="there", room="field"))
        await engine.wait_until_indexed()
        await engine.merge("here", "Peg", "Ada")
        await engine.wait_until_indexed()
        assert "Peg" not in await entities(engine, about("Ada", "Peg"))
        found = await entities(engine, about("Ada", "Peg", scope=BOTH))
        assert found["Peg"].description == "Peg tunes harps."
        there = Scope(frozenset({"there"}), frozenset())
        assert "harps" not in (await entities(engine, about("Ada", "Peg", scope=there)))["Ada"].description


async def test_nothing_of_a_space_out_of_scope_is_told(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        await engine.add(doc("one", "Ada met Bob."))
        await engine.add(doc("two", "Ada hid Xylophone.", space="there", room="field"))
        await engine.wait_until_indexed()
        context = await engine.retrieve(about("Ada", "Hid"))
        assert {row.name for row in context.entities} == {"Ada", "Bob"}
        assert "hid" not in repr((context.entities, context.relations, context.sources))


# A narrowed question.


async def test_a_narrowed_question_is_told_only_what_its_chunks_state(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        await engine.add(doc("one", "Ada met Bob."))
        await engine.add(doc("two", "Ada hired Bob.", "Cyd hired Bob."))
        await engine.wait_until_indexed()
        within = Filters(documents=frozenset({"one"}))
        context = await engine.retrieve(about("Ada", "Bob", "Cyd", within=within))
        assert {row.name: row.description for row in context.entities} == {
            "Ada": "Ada met Bob.",
            "Bob": "Ada met Bob.",
        }
        [row] = context.relations
        assert (row.weight, row.description, row.sources) == (1, "Ada met Bob.", (1,))


async def test_narrowed_to_recent_times_the_graph_is_of_these_times(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, ScriptedLanguage()) as engine:
        for number in range(3):
            line = Passage("1", f"Ada met Bob on day {number}.", time=START + timedelta(days=number))
            await engine.add(Document(f"d{number}", "here", "hall", "Day", (line,), kind="conversation"))
        await engine.wait_until_indexed()
        within = Filters(since=START + timedelta(days=1))
        row = (await relations(engine, about("Ada", within=within)))["Ada", "Bob"]
        assert row.weight == 2
        assert "day 0" not in row.description
