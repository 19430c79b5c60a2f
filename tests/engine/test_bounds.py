from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from engine.bounds import OPTION_BOUNDS, QUESTION_BOUNDS, RANKING_BOUNDS, check_numbers, check_options
from engine.errors import InvalidDocument, InvalidQuestion
from engine.models import Question
from engine.options import EngineOptions, RankingOptions
from tests.support.engine_fixture import HERE, open_engine, open_memory_engine

WRONG: list[Any] = [float("nan"), float("inf"), -float("inf"), -1e10, 10**12, 1e300, "7", None, True]
QUESTION = Question("Ada", HERE)
COUNTS = ("top_k", "chunk_top_k", "max_total_tokens")


def test_every_number_of_the_ranking_has_bounds_and_the_defaults_keep_them() -> None:
    assert RANKING_BOUNDS.keys() == {field.name for field in fields(RankingOptions)} - {"chunk_selection"}
    check_options(EngineOptions())
    check_numbers(QUESTION, QUESTION_BOUNDS)


@pytest.mark.parametrize("wrong", WRONG)
def test_a_number_out_of_bounds_is_refused_by_name(wrong: Any) -> None:
    for name in QUESTION_BOUNDS:
        with pytest.raises(InvalidDocument, match=f"{name} must be") as caught:
            check_numbers(replace(QUESTION, **{name: wrong}), QUESTION_BOUNDS)
        assert isinstance(caught.value, InvalidQuestion)
    for name in OPTION_BOUNDS:
        with pytest.raises(InvalidDocument, match=f"{name} must be"):
            check_options(replace(EngineOptions(), **{name: wrong}))
    for name in RANKING_BOUNDS:
        with pytest.raises(InvalidDocument, match=f"{name} must be"):
            check_options(EngineOptions(ranking=replace(RankingOptions(), **{name: wrong})))


@pytest.mark.parametrize(("name", "wrong"), [*((name, 0) for name in COUNTS), ("top_k", 2.5)])
def test_counts_are_whole_and_at_least_one(name: str, wrong: Any) -> None:
    with pytest.raises(InvalidDocument):
        check_numbers(replace(QUESTION, **{name: wrong}), QUESTION_BOUNDS)


async def test_an_engine_refuses_numbers_out_of_bounds(tmp_path: Path) -> None:
    with pytest.raises(InvalidDocument, match="max_attempts must be"):
        async with open_engine(tmp_path / "never", options=EngineOptions(max_attempts=0)):
            pass
    async with open_memory_engine(tmp_path) as engine:
        for ask in (engine.ask, engine.retrieve, engine.build_messages):
            with pytest.raises(InvalidDocument, match="top_k must be"):
                await ask(replace(QUESTION, top_k=-5))
        for wrong in [*WRONG, 0]:
            with pytest.raises(InvalidDocument, match="limit"):
                await engine.find_names("a", HERE, wrong)
            with pytest.raises(InvalidDocument, match="limit"):
                await engine.get_neighborhood("Ada", HERE, wrong)
