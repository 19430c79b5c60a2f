from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console

from bot.admin.results import AnswerDelta, AnswerEnd
from bot.cli.render.console import Screen
from bot.cli.render.model_hint import HINT, model_hint
from bot.settings import Settings
from tests.bot.cli.render.test_console import SOURCE, stream

if TYPE_CHECKING:
    from pathlib import Path


def test_a_person_is_told_once(tmp_path: Path) -> None:
    assert model_hint(Settings(data_dir=tmp_path)) == HINT
    assert model_hint(Settings(data_dir=tmp_path)) == ""


def test_nobody_is_told_where_a_model_is_set(tmp_path: Path) -> None:
    assert model_hint(Settings(data_dir=tmp_path, llm_model="openai/some")) == ""
    assert model_hint(Settings(data_dir=tmp_path)) == HINT


async def test_it_stands_below_the_first_answer_with_sources(tmp_path: Path) -> None:
    out, err = (Console(file=io.StringIO(), width=400) for _ in range(2))
    screen = Screen(out, err, lambda: model_hint(Settings(data_dir=tmp_path)))
    said = err.file.getvalue  # type: ignore[attr-defined]
    await screen.show(stream(AnswerDelta("Nothing."), AnswerEnd((), ())))
    assert HINT not in said()
    for _ in range(2):
        await screen.show(stream(AnswerDelta("Nine crowns [1]."), AnswerEnd((SOURCE,), ())))
    assert said().count(HINT) == 1
