from __future__ import annotations

from dataclasses import replace

from engine.engine import Engine
from engine.models import Filters, Question
from engine.options import EngineOptions, RankingOptions
from tests.support.engine_fixture import HERE, doc
from tests.support.indexed_engine import OpenIndexed
from tests.support.toy_language import ToyLanguage

CHARTER = doc("charter", "Its charter was signed by Ottoline for Brook.")
WEDDING = doc("wedding", "Ottoline wed Percival in spring.")
HARVEST = doc("harvest", "Percival paid for the harvest of Westmere.")
NOISE = [doc(f"noise{number}", f"The mill was closed, says paper {number}.") for number in range(30)]
QUESTION = Question("Who paid for the harvest after the wedding of Ottoline?", HERE, mode="mix", chunk_top_k=5)


async def order(engine: Engine, question: Question) -> list[str]:
    return [source.document for source in (await engine.retrieve(question)).sources]


async def test_mix_follows_the_names_of_the_question(indexed: OpenIndexed) -> None:
    engine = await indexed(CHARTER, WEDDING, *NOISE, language=ToyLanguage())
    question = replace(QUESTION, text="The mill was closed, says paper 7: what did Ottoline do?")
    first = (await order(engine, replace(question, mode="naive")))[0]
    assert first.startswith("noise")
    assert await order(engine, question) == [first, *(await order(engine, question))[1:]]
    assert set((await order(engine, question))[1:3]) == {"charter", "wedding"}


async def test_a_named_file_is_where_the_walk_starts(indexed: OpenIndexed) -> None:
    rules = replace(doc("rules", "Nets dry on the wall."), title="Harbor-Rules.pdf")
    engine = await indexed(rules, *NOISE, language=ToyLanguage())
    question = replace(QUESTION, text="Which paper says the mill was closed, and what do the Harbor Rules say?")
    assert (await order(engine, question))[1] == "rules"


async def test_without_a_name_mix_is_naive(indexed: OpenIndexed) -> None:
    engine = await indexed(CHARTER, WEDDING, HARVEST, *NOISE, language=ToyLanguage())
    question = replace(QUESTION, text="which paper says that the mill was closed?")
    assert await order(engine, question) == await order(engine, replace(question, mode="naive"))


async def test_a_name_that_everything_mentions_is_no_start(indexed: OpenIndexed) -> None:
    common = [doc(f"n{number}", f"Ottoline wrote letter {number}.") for number in range(12)]
    engine = await indexed(*common, *NOISE, language=ToyLanguage())
    question = replace(QUESTION, text="Which paper about the closed mill did Ottoline read?")
    assert await order(engine, question) == await order(engine, replace(question, mode="naive"))


async def test_the_walk_keeps_to_the_filters(indexed: OpenIndexed) -> None:
    engine = await indexed(CHARTER, WEDDING, *NOISE, language=ToyLanguage())
    question = replace(QUESTION, filters=Filters(documents=frozenset({"wedding", "noise1"})))
    assert set(await order(engine, question)) <= {"wedding", "noise1"}


async def test_the_walk_can_be_switched_off(indexed: OpenIndexed) -> None:
    options = EngineOptions(ranking=RankingOptions(chunk_selection="vector"))
    engine = await indexed(CHARTER, WEDDING, *NOISE, language=ToyLanguage(), options=options)
    assert "walk" not in (await engine.retrieve(QUESTION)).timings
