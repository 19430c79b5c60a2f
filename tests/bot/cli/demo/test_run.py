from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from bot.admin.requests import Ask, Ingest, OperationRequest
from bot.admin.results import AnswerDelta, AnswerEnd, IngestResult
from bot.cli.demo import run
from bot.cli.demo.questions import QUESTIONS
from bot.settings import Settings, load_settings

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator
    from pathlib import Path

    from bot.admin.results import OperationResult


class Desk:
    """Says the same to everything."""

    def __init__(self) -> None:
        self.heard: list[OperationRequest] = []
        self.homes: list[Path] = []

    async def perform(self, request: OperationRequest) -> AsyncGenerator[OperationResult]:
        self.heard.append(request)
        if isinstance(request, Ingest):
            yield IngestResult(16, 162, 162, 1.0)
        else:
            yield AnswerDelta("So it is.")
            yield AnswerEnd((), ())

    @asynccontextmanager
    async def reach(self, settings: Settings) -> AsyncIterator[Desk]:
        assert settings.data_path.is_dir()
        self.homes.append(settings.data_path)
        yield self


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    made = Desk()
    monkeypatch.setattr(run, "connect_or_open", made.reach)
    return made


async def test_the_town_is_read_four_questions_are_asked_and_without_a_terminal_that_is_all(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    await run.run_demo(load_settings(), keep=False)
    first, *questions = desk.heard
    assert isinstance(first, Ingest)
    asked = [each for each in questions if isinstance(each, Ask)]
    assert [each.text for each in asked] == [question.text for question in QUESTIONS]
    assert [len(each.history) for each in asked] == [0, 2, 4, 6]
    shown = capsys.readouterr().out
    assert shown.count("So it is.") == 4
    assert "no API key, no network" in shown


async def test_its_folder_is_its_own_and_goes_with_it(desk: Desk) -> None:
    settings = load_settings()
    await run.run_demo(settings, keep=False)
    assert not desk.homes[0].exists()
    assert not settings.data_path.exists()


async def test_with_keep_the_folder_stays(desk: Desk) -> None:
    settings = load_settings()
    (settings.data_path / "demo").mkdir(parents=True)
    await run.run_demo(settings, keep=True)
    assert desk.homes == [settings.data_path / "demo"]
    assert desk.homes[0].exists()


async def test_a_model_that_is_set_is_named(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    await run.run_demo(load_settings(llm_model="openai/gpt-4o-mini"), keep=False)
    assert "answers written by openai/gpt-4o-mini" in " ".join(capsys.readouterr().out.split())
