from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import pytest

from engine.bounds import OPTION_BOUNDS, QUESTION_BOUNDS, RANKING_BOUNDS, check_numbers, check_options
from engine.errors import InvalidDocument, InvalidQuestion
from engine.models import Question
from engine.options import EngineOptions, RankingOptions
from tests.support.engine_fixture import HERE, open_engine, open_memory_engine

if TYPE_CHECKING:
    from pathlib import Path

WRONG: list[Any] = [float("nan"), float("inf"), -float("inf"), -5, 10**12, 1e300, "7", None, True]


@pytest.mark.parametrize("name", QUESTION_BOUNDS)
async def test_a_question_with_a_number_out_of_bounds_is_refused_by_name(tmp_path: Path, name: str) -> None:
    async with open_memory_engine(tmp_path) as engine:
        for wrong in WRONG:
            for ask in (engine.ask, engine.retrieve, engine.build_messages):
                with pytest.raises(InvalidDocument, match=f"{name} must be") as caught:
                    await ask(replace(Question("Ada", HERE), **{name: wrong}))
                assert isinstance(caught.value, InvalidQuestion)


@pytest.mark.parametrize(("name", "wrong"), [("top_k", 0), ("chunk_top_k", 0), ("top_k", 2.5), ("max_total_tokens", 0)])
def test_counts_are_whole_and_at_least_one(name: str, wrong: Any) -> None:
    with pytest.raises(InvalidDocument):
        check_numbers(replace(Question("Ada", HERE), **{name: wrong}), QUESTION_BOUNDS)


async def test_how_many_names_or_relations_are_given_has_bounds(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        for wrong in [*WRONG, 0]:
            with pytest.raises(InvalidDocument, match="limit"):
                await engine.find_names("a", HERE, wrong)
            with pytest.raises(InvalidDocument, match="limit"):
                await engine.get_neighbourhood("Ada", HERE, wrong)


@pytest.mark.parametrize("name", OPTION_BOUNDS)
async def test_an_engine_with_a_number_out_of_bounds_is_not_opened(tmp_path: Path, name: str) -> None:
    wrong: Any
    for wrong in (float("nan"), float("inf"), -1e10, 10**12):
        with pytest.raises(InvalidDocument, match=f"{name} must be"):
            async with open_engine(tmp_path, options=replace(EngineOptions(), **{name: wrong})):
                pass
    check_options(EngineOptions())


def test_every_number_of_the_ranking_has_bounds() -> None:
    assert RANKING_BOUNDS.keys() == {field.name for field in fields(RankingOptions)} - {"chunk_selection"}


@pytest.mark.parametrize("name", RANKING_BOUNDS)
def test_a_number_of_the_ranking_out_of_bounds_is_refused_by_name(name: str) -> None:
    wrong: Any
    for wrong in (float("nan"), float("inf"), -1e10, 10**12):
        with pytest.raises(InvalidDocument, match=f"{name} must be"):
            check_options(EngineOptions(ranking=replace(RankingOptions(), **{name: wrong})))
