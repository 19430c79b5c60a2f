from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from engine.engine import Engine
from engine.models import Context, ContextEntity, ContextRelation, Document, Filters, Passage, Question, Scope
from engine.storage.ledger.content.facts import Facts
from tests.support.engine_fixture import HERE, doc
from tests.support.indexed_engine import OpenIndexed
from tests.support.patience import PATIENCE
from tests.support.scripted_language import ScriptedLanguage

THERE, BOTH = Scope(frozenset({"there"}), frozenset()), Scope(frozenset({"here", "there"}), frozenset())
START = datetime(2026, 3, 1, tzinfo=UTC)
ADA_BOB = doc("one", "Ada met Bob.", time=START)


def elsewhere(key: str, *texts: str) -> Document:
    return doc(key, *texts, space="there", room="field")


async def wait_until_extracted(engine: Engine) -> None:
    async with asyncio.timeout(PATIENCE):
        while await engine._ledger.read(Facts.has_due_extraction, engine.clock.time()):
            await engine._worker.wait_for_progress()


def about(*names: str, scope: Scope = HERE, narrow: Filters | None = None) -> Question:
    return Question("who?", scope, mode="local", low=names, high=names, filters=narrow or Filters())


async def entities(engine: Engine, question: Question) -> dict[str, ContextEntity]:
    return {row.name: row for row in (await engine.retrieve(question)).entities}


async def relations(engine: Engine, question: Question) -> dict[tuple[str, str], ContextRelation]:
    return {(row.source, row.target): row for row in (await engine.retrieve(question)).relations}


def descriptions(context: Context) -> str:
    return " ".join([row.description for row in context.entities] + [row.description for row in context.relations])


async def lines(engine: Engine, name: str, question: Question) -> list[str]:
    return (await entities(engine, question))[name].description.splitlines()


async def test_new_facts_are_seen_at_once_without_a_model(indexed: OpenIndexed) -> None:
    engine = await indexed(ADA_BOB, language=(language := ScriptedLanguage()))
    async with engine._projector.suspend():
        await engine.documents.add(doc("two", "Ada hired Bob."))
        await wait_until_extracted(engine)
        row = (await relations(engine, about("Ada")))["Ada", "Bob"]
        assert row.weight == 2
        assert sorted(row.description.splitlines()) == ["Ada hired Bob.", "Ada met Bob."]
        assert "Ada hired Bob." in await lines(engine, "Ada", about("Ada"))
    assert language.calls["summarize"] == 0


async def test_forgotten_facts_are_gone_at_once(indexed: OpenIndexed) -> None:
    engine = await indexed(ADA_BOB, doc("two", "Ada hired Cyd."))
    async with engine._projector.suspend():
        await engine.documents.forget("one")
        context = await engine.retrieve(about("Ada", "Bob"))
        assert {row.name for row in context.entities} == {"Ada", "Cyd"}
        assert [(row.source, row.target) for row in context.relations] == [("Ada", "Cyd")]
        assert "met" not in descriptions(context)


@pytest.mark.long
async def test_many_new_facts_are_joined_within_the_limits(indexed: OpenIndexed) -> None:
    engine = await indexed(ADA_BOB, language=(language := ScriptedLanguage()))
    async with engine._projector.suspend():
        for number in range(60):
            await engine.documents.add(
                doc(f"d{number}", f"Ada met Bob at place {number}.", time=START + timedelta(number))
            )
        await wait_until_extracted(engine)
        row = (await relations(engine, about("Ada")))["Ada", "Bob"]
        assert len(row.description.splitlines()) == 7
        assert "place 59." in row.description
    assert language.calls["summarize"] == 0


async def test_merging_on_the_spot_equals_the_later_projection(indexed: OpenIndexed) -> None:
    engine = await indexed(ADA_BOB)
    async with engine._projector.suspend():
        await engine.documents.add(doc("two", "Ada hired Bob.", "Bob likes Ada.", time=START + timedelta(1)))
        await wait_until_extracted(engine)
        early = await engine.retrieve(about("Ada", "Bob"))
    await engine.wait_until_indexed()
    late = await engine.retrieve(about("Ada", "Bob"))
    assert (set(early.entities), set(early.relations)) == (set(late.entities), set(late.relations))


async def test_a_name_of_several_spaces_is_one_row_with_the_sum_of_the_weights(indexed: OpenIndexed) -> None:
    engine = await indexed(ADA_BOB, elsewhere("two", "Ada hired Bob."), elsewhere("three", "Ada paid Bob."))
    context = await engine.retrieve(about("Ada", scope=BOTH))
    assert len({row.name for row in context.entities}) == len(context.entities)
    (row,) = context.relations
    assert (row.weight, sorted(row.description.splitlines())) == (
        3,
        ["Ada hired Bob.", "Ada met Bob.", "Ada paid Bob."],
    )
    assert (await relations(engine, about("Ada")))["Ada", "Bob"].weight == 1


@pytest.mark.parametrize("words", ["tunes violins", "bakes bread"])
async def test_of_several_spaces_the_description_most_like_the_question_is_first(
    indexed: OpenIndexed, words: str
) -> None:
    engine = await indexed(doc("one", "Ada bakes bread."), elsewhere("two", "Ada tunes violins."))
    first, *others = await lines(engine, "Ada", about("Ada", words, scope=BOTH))
    assert (first, len(others)) == (f"Ada {words}.", 1)


async def test_equal_descriptions_of_two_spaces_are_given_once(indexed: OpenIndexed) -> None:
    engine = await indexed(doc("one", "Ada bakes bread."), elsewhere("two", "Ada bakes bread."))
    assert await lines(engine, "Ada", about("Ada", scope=BOTH)) == ["Ada bakes bread."]


async def test_an_alias_counts_only_in_its_own_space(indexed: OpenIndexed) -> None:
    here = doc("one", "Ada bakes bread.", "Peg bakes cake.")
    engine = await indexed(here, elsewhere("two", "Ada tunes violins.", "Peg tunes harps."))
    await engine.corrections.merge("here", "Peg", "Ada")
    await engine.wait_until_indexed()
    assert "Peg" not in await entities(engine, about("Ada", "Peg"))
    assert await lines(engine, "Peg", about("Ada", "Peg", scope=BOTH)) == ["Peg tunes harps."]
    assert "Peg tunes harps." not in await lines(engine, "Ada", about("Ada", "Peg", scope=THERE))


async def test_a_merge_displays_the_name_that_was_asked_for(indexed: OpenIndexed) -> None:
    engine = await indexed(ADA_BOB, doc("two", "Peg bakes bread.", "Peg sells bread."))
    change = await engine.corrections.merge("here", "peg", "ada")
    for narrow in (Filters(), Filters(documents=frozenset({"one", "two"}))):
        context = await engine.retrieve(about("Ada", narrow=narrow))
        assert "Ada" in {row.name for row in context.entities}
        assert "Peg" not in {row.name for row in context.entities}
    await engine.wait_until_indexed()
    assert "Ada" in await entities(engine, about("Ada"))
    await engine.corrections.undo("here", change)
    await engine.wait_until_indexed()
    assert {"Ada", "Peg"} <= set(await entities(engine, about("Ada", "Peg")))


async def test_a_narrowed_question_gets_only_facts_of_its_chunks(indexed: OpenIndexed) -> None:
    engine = await indexed(ADA_BOB, doc("two", "Ada hired Bob.", "Cyd hired Bob."))
    context = await engine.retrieve(about("Ada", "Bob", "Cyd", narrow=Filters(documents=frozenset({"one"}))))
    assert {row.name: row.description for row in context.entities} == {"Ada": "Ada met Bob.", "Bob": "Ada met Bob."}
    (row,) = context.relations
    assert (row.weight, row.description, row.sources) == (1, "Ada met Bob.", (1,))


async def test_a_question_about_recent_times_gets_the_facts_of_these_times(indexed: OpenIndexed) -> None:
    days = [Passage("1", f"Ada met Bob on day {n}.", time=START + timedelta(days=n)) for n in range(3)]
    chats = (Document(f"d{n}", "here", "hall", "Day", (line,), kind="conversation") for n, line in enumerate(days))
    engine = await indexed(*chats)
    row = (await relations(engine, about("Ada", narrow=Filters(since=START + timedelta(days=1)))))["Ada", "Bob"]
    assert row.weight == 2
    assert "day 0" not in row.description
