from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.models import Filters, Question
from engine.options import EngineOptions, RankingOptions
from tests.support.engine_fixture import HERE, doc, open_memory_engine
from tests.support.indexed_engine import OpenIndexed, index
from tests.support.toy_language import ToyLanguage

CHARTER = doc("charter", "Its charter was signed by Ottoline for Brook.")
WEDDING = doc("wedding", "Ottoline wed Percival in spring.")
HARVEST = doc("harvest", "Percival paid for the harvest of Westmere.")
NOISE = [doc(f"noise{number}", f"The mill was closed, says paper {number}.") for number in range(30)]
QUESTION = Question("Who paid for the harvest after the wedding of Ottoline?", HERE, mode="mix", chunk_top_k=5)


async def order(engine: Engine, question: Question) -> list[str]:
    return [source.document for source in (await engine.retrieve(question)).sources]


@pytest.mark.long
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


@pytest.mark.long
@pytest.mark.parametrize("is_bounded", [True, False])
async def test_behind_a_name_that_everything_mentions_mix_is_naive(indexed: OpenIndexed, *, is_bounded: bool) -> None:
    said = [
        doc(f"said{number}", f"Percival closed mill {number}, {'really ' * (number % 5)}now.") for number in range(130)
    ]
    ranking = RankingOptions(graph_token_share=0.0)  # no place is kept for what supports rows of the graph
    options = EngineOptions(ranking=ranking if is_bounded else replace(ranking, max_flatness=1.0))
    engine = await indexed(doc("dog", "Percival met Quentin."), *said, language=ToyLanguage(), options=options)
    question = replace(QUESTION, text="Which mill did Percival really close now, after Quentin?", chunk_top_k=20)
    by_search = await order(engine, replace(question, mode="naive"))
    expected = list(dict.fromkeys([by_search[0], "dog", *by_search]))[:20]
    assert (await order(engine, question) == expected) is is_bounded


async def test_the_walk_keeps_to_the_filters(indexed: OpenIndexed) -> None:
    engine = await indexed(CHARTER, WEDDING, *NOISE, language=ToyLanguage())
    question = replace(QUESTION, filters=Filters(documents=frozenset({"wedding", "noise1"})))
    assert set(await order(engine, question)) <= {"wedding", "noise1"}


async def test_the_walk_can_be_switched_off(indexed: OpenIndexed) -> None:
    options = EngineOptions(ranking=RankingOptions(chunk_selection="vector"))
    engine = await indexed(CHARTER, WEDDING, *NOISE, language=ToyLanguage(), options=options)
    assert "walk" not in (await engine.retrieve(QUESTION)).timings


@pytest.mark.long
async def test_ties_do_not_depend_on_the_order_of_ingestion(tmp_path: Path) -> None:
    letters = [doc(f"{name}{n}", f"{name} wrote letter {n}.") for name in ("Percival", "Quentin") for n in range(60)]
    options = EngineOptions(ranking=RankingOptions(max_seed_mentions=60, max_walk_chunks=20, walk_batch=10))
    question = replace(QUESTION, text="Did Percival meet Quentin?", chunk_top_k=20)
    orders = []
    for place, documents in (("one", letters), ("two", letters[::-1])):
        async with open_memory_engine(tmp_path / place, ToyLanguage(), options=options) as engine:
            await index(engine, *documents)
            orders.append(await order(engine, question))
    assert orders[0] == orders[1]
