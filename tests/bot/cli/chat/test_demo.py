from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.capabilities.requests import Ask, AtSpace, Ingest, OperationRequest
from bot.capabilities.results import AnswerDelta, AnswerEnd, IngestResult, OperationResult
from bot.cli.chat import demo
from bot.cli.chat.demo import QUESTIONS
from bot.settings import Settings, load_settings
from engine import Clock
from engine.clock import SYSTEM_CLOCK


class RecordingService:
    """Gives the same answer to every question."""

    def __init__(self) -> None:
        self.requests: list[OperationRequest] = []
        self.folders: list[Path] = []

    async def perform(self, request: OperationRequest) -> AsyncGenerator[OperationResult]:
        self.requests.append(request)
        if isinstance(request, Ingest):
            yield IngestResult(16, 162, 162, 1.0)
        else:
            yield AnswerDelta("So it is.")
            yield AnswerEnd((), ())

    @asynccontextmanager
    async def connect(self, settings: Settings, _: Clock) -> AsyncIterator[RecordingService]:
        assert settings.data_path.is_dir()
        self.folders.append(settings.data_path)
        yield self


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> RecordingService:
    service = RecordingService()
    monkeypatch.setattr(demo, "connect_or_open", service.connect)
    return service


async def test_the_town_is_ingested_and_four_questions_asked_in_a_folder_that_goes_with_the_demo(
    service: RecordingService, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = load_settings()
    await demo.run_demo(settings, SYSTEM_CLOCK, keep=False)
    first, *questions = service.requests
    assert isinstance(first, Ingest)
    asked = [
        question.request
        for question in questions
        if isinstance(question, AtSpace) and isinstance(question.request, Ask)
    ]
    assert [request.text for request in asked] == [question.text for question in QUESTIONS]
    assert [len(request.history) for request in asked] == [0, 2, 4, 6]
    shown = capsys.readouterr().out
    assert shown.count("So it is.") == 4
    assert "no API key, no network" in shown
    assert not service.folders[0].exists()
    assert not settings.data_path.exists()


async def test_with_keep_the_folder_stays_and_a_model_that_is_set_is_named(
    service: RecordingService, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = load_settings(llm_model="openai/gpt-4o-mini")
    (settings.data_path / "demo").mkdir(parents=True)
    await demo.run_demo(settings, SYSTEM_CLOCK, keep=True)
    assert service.folders == [settings.data_path / "demo"]
    assert service.folders[0].exists()
    assert "answers written by openai/gpt-4o-mini" in " ".join(capsys.readouterr().out.split())
