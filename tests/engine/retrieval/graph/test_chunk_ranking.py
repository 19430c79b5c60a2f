from __future__ import annotations

from dataclasses import replace

import pytest

from engine.engine import Engine
from engine.models import Filters, Question, RetrievalMode
from engine.options import EngineOptions, RankingOptions
from tests.support.engine_fixture import HERE, doc
from tests.support.indexed_engine import OpenIndexed
from tests.support.toy_language import ToyLanguage

CHARTER = doc("charter", "Its charter was signed by Ottoline for Brook.")
WEDDING = doc("wedding", "Ottoline wed Percival in spring.")
HARVEST = doc("harvest", "Percival paid for the harvest of Westmere.")
PAPERS = [doc(f"paper{number}", f"Quentin told Thorne that mill {number} was closed.") for number in range(12)]
TEXT = "Who says that mill 7 was closed, and what did Ottoline do?"
QUESTION = Question(TEXT, HERE, chunk_top_k=8, low=("Quentin", "Ottoline"), high=("told that a mill was closed",))
GRAPH_MODES: tuple[RetrievalMode, ...] = ("local", "global", "hybrid")


async def order(engine: Engine, question: Question) -> list[str]:
    return [source.document for source in (await engine.retrieve(question)).sources]


async def test_the_graph_modes_follow_the_names_of_the_question(indexed: OpenIndexed) -> None:
    engine = await indexed(CHARTER, WEDDING, *PAPERS, language=ToyLanguage())
    for mode in GRAPH_MODES:
        first, *others = await order(engine, replace(QUESTION, mode=mode))
        assert first == "paper7"
        assert set(others[:2]) == {"charter", "wedding"}


async def test_only_chunks_that_state_what_was_found_are_ranked(indexed: OpenIndexed) -> None:
    engine = await indexed(CHARTER, WEDDING, HARVEST, *PAPERS, language=ToyLanguage())
    question = replace(QUESTION, mode="local", low=("Ottoline",), top_k=1)
    assert set(await order(engine, question)) == {"charter", "wedding"}
    assert "harvest" in await order(engine, replace(question, mode="mix"))


async def test_the_graph_modes_keep_to_the_filters(indexed: OpenIndexed) -> None:
    engine = await indexed(CHARTER, WEDDING, *PAPERS, language=ToyLanguage())
    narrow = Filters(documents=frozenset({"wedding", "paper1"}))
    for mode in GRAPH_MODES:
        found = set(await order(engine, replace(QUESTION, mode=mode, filters=narrow)))
        assert found
        assert found <= {"wedding", "paper1"}


@pytest.mark.parametrize("selection", ["vector", "weight"])
async def test_a_setting_keeps_the_order_of_lightrag(indexed: OpenIndexed, selection: str) -> None:
    options = EngineOptions(ranking=RankingOptions(chunk_selection=selection))  # type: ignore[arg-type]
    engine = await indexed(CHARTER, WEDDING, *PAPERS[:3], language=ToyLanguage(), options=options)
    for mode in GRAPH_MODES:
        assert "walk" not in (await engine.retrieve(replace(QUESTION, mode=mode))).timings
